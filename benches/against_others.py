"""Runs the analyzer beside DuckDB and Polars on an enlarged copy of the sample run.

    pip install duckdb polars pyarrow
    cargo build --release
    python benches/against_others.py --tokens 20000000 --binary target/release/stapo-analyze

The log is written in the long layout (a row a token) with pyarrow's defaults. DuckDB and Polars
compute only the S2T count, the step table, the quadrants, the plane, the vocabulary and the flagged
list; the analyzer computes everything it can. Each program runs in a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

SAMPLE = os.path.join(os.path.dirname(__file__), "..", "notebooks-data", "grpo.parquet")
TAU_P, QUANTILE = 0.002, 0.75
SCALARS = ["step", "group_id", "sample_id", "reward", "advantage"]
LISTS = {
    "token_ids": "token_id",
    "logprob": "logprob",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "logprob_after": "logprob_after",
    "entropy_after": "entropy_after",
}


def enlarge(sample, target, tokens):
    """Writes copies of the sample run, one after another, with later steps and other noise."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(sample)
    lengths = np.array([len(ids) for ids in table["token_ids"]])
    columns = {name: np.repeat(table[name].to_numpy(), lengths) for name in SCALARS}
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    columns["position"] = (np.arange(lengths.sum()) - np.repeat(starts, lengths)).astype("int32")
    for raw, name in LISTS.items():
        columns[name] = table[raw].combine_chunks().values.to_numpy()
    last_step = int(columns["step"].max()) + 1
    last_group = int(columns["group_id"].max()) + 1
    rng = np.random.default_rng(7)
    writer, written, copy = None, 0, 0
    while written < tokens:
        part = dict(columns)
        part["step"] = columns["step"] + copy * last_step
        part["group_id"] = columns["group_id"] + copy * last_group
        for name in ["logprob", "entropy", "grad_norm", "logprob_after", "entropy_after"]:
            noise = 1 + 1e-3 * rng.standard_normal(len(columns[name]), dtype="float32")
            part[name] = columns[name] * noise
        rows = min(len(columns["position"]), tokens - written)
        batch = pa.table({name: pa.array(values[:rows]) for name, values in part.items()})
        if writer is None:
            metadata = {key: value for key, value in table.schema.metadata.items() if key != b"tokenizer"}
            writer = pq.ParquetWriter(target, batch.schema.with_metadata(metadata))
        writer.write_table(batch)
        written += rows
        copy += 1
    writer.close()


def with_duckdb(path, threads):
    import duckdb

    db = duckdb.connect()
    db.execute(f"set threads to {threads}")
    log = f"read_parquet('{path}')"
    db.execute(
        f"""create temp table tau as select step, quantile_cont(entropy::double, {QUANTILE}) tau_h
        from {log} where advantage > 0 and exp(logprob::double) < {TAU_P} group by step"""
    )
    steps = db.execute(
        f"""select l.step, count(*), avg(entropy), avg(exp(logprob::double)), sum(grad_norm::double ** 2),
        count(*) filter (advantage > 0 and exp(logprob::double) < {TAU_P}) candidates,
        count(*) filter (advantage > 0 and exp(logprob::double) < {TAU_P} and entropy < tau_h) silenced,
        quantile_cont(entropy, [0.01, 0.05, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.99])
        from {log} l left join tau t on l.step = t.step group by l.step order by 1"""
    ).fetchall()
    db.execute(
        f"""select sign(advantage), exp(logprob::double) < {TAU_P} rare, entropy < tau_h low, count(*),
        sum(grad_norm::double ** 2) from {log} l left join tau t on l.step = t.step group by all"""
    ).fetchall()
    db.execute(
        f"""select floor(logprob / ln(10) * 10) x, floor(entropy * 10) y, sign(advantage), count(*),
        sum(grad_norm::double ** 2) from {log} group by all"""
    ).fetchall()
    db.execute(
        f"""select token_id, sign(advantage), count(*), sum(grad_norm::double ** 2)
        from {log} group by all"""
    ).fetchall()
    flagged = db.execute(
        f"""select l.step, group_id, sample_id, position, token_id, logprob, entropy, advantage, grad_norm, tau_h
        from {log} l join tau t on l.step = t.step
        where advantage > 0 and exp(logprob::double) < {TAU_P}"""
    ).fetchall()
    return sum(row[6] for row in steps), len(flagged)


def with_polars(path, threads):
    import polars as pl

    candidate = (pl.col("advantage") > 0) & (pl.col("logprob").cast(pl.Float64).exp() < TAU_P)
    energy = pl.col("grad_norm").cast(pl.Float64).pow(2)
    log = pl.scan_parquet(path)
    tau = (
        log.filter(candidate)
        .group_by("step")
        .agg(pl.col("entropy").cast(pl.Float64).quantile(QUANTILE, "linear").alias("tau_h"))
    )
    joined = log.join(tau, on="step", how="left")
    silenced = candidate & (pl.col("entropy") < pl.col("tau_h"))
    orders = [0.01, 0.05, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.99]
    steps = joined.group_by("step").agg(
        pl.len(),
        pl.col("entropy").mean(),
        pl.col("logprob").exp().mean().alias("p"),
        energy.sum().alias("energy"),
        candidate.sum().alias("candidates"),
        silenced.sum().alias("silenced"),
        *[pl.col("entropy").quantile(q, "linear").alias(f"q{q}") for q in orders],
    )
    sign = pl.col("advantage").sign().alias("sign")
    quadrants = joined.group_by(
        sign, (pl.col("logprob").exp() < TAU_P).alias("rare"), (pl.col("entropy") < pl.col("tau_h")).alias("low")
    ).agg(pl.len(), energy.sum())
    plane = log.group_by(
        (pl.col("logprob") / 2.302585 * 10).floor().alias("x"), (pl.col("entropy") * 10).floor().alias("y"), sign
    ).agg(pl.len(), energy.sum())
    vocabulary = log.group_by("token_id", sign).agg(pl.len(), energy.sum())
    flagged = joined.filter(candidate).select(
        "step", "group_id", "sample_id", "position", "token_id", "logprob", "entropy", "advantage", "grad_norm", "tau_h"
    )
    results = pl.collect_all([steps, quadrants, plane, vocabulary, flagged], engine="streaming")
    return results[0]["silenced"].sum(), len(results[4])


def timed(command, env):
    """Wall time and peak memory of a child process, and what it printed."""
    start = time.monotonic()
    child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit(f"{command[0]} failed")
    return seconds, usage.ru_maxrss / 1024, output


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=20_000_000)
    parser.add_argument("--binary", default="target/release/stapo-analyze")
    default_log = os.path.join(tempfile.gettempdir(), "stapo-enlarged.parquet")
    parser.add_argument("--log", default=default_log, help="where the enlarged log goes")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["duckdb", "polars"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        run = {"duckdb": with_duckdb, "polars": with_polars}[args.only]
        print(json.dumps([int(v) for v in run(args.log, args.threads)]))
        return
    if not os.path.exists(args.log):
        enlarge(SAMPLE, args.log, args.tokens)
    env = dict(os.environ, POLARS_MAX_THREADS=str(args.threads))
    self = [sys.executable, __file__, "--log", args.log, "--threads", str(args.threads), "--only"]
    programs = {
        "stapo-analyze": [args.binary, args.log, "--format", "json", "--threads", str(args.threads)],
        "duckdb": [*self, "duckdb"],
        "polars": [*self, "polars"],
    }
    best, answers = {}, {}
    for _ in range(args.rounds):
        for name, command in programs.items():
            seconds, memory, output = timed(command, env)
            best[name] = min(best.get(name, (seconds, memory)), (seconds, memory))
            answer = json.loads(output)
            if isinstance(answer, dict):
                answer = [answer["s2t"]["silenced"], answer["s2t"]["candidates"]]
            answers[name] = answer
    ours = best["stapo-analyze"][0]
    print(f"| program | seconds | times ours | peak MB | silenced, candidates |\n|---|---|---|---|---|")
    for name, (seconds, memory) in best.items():
        print(f"| {name} | {seconds:.2f} | {seconds / ours:.1f} | {memory:.0f} | {answers[name]} |")
    if len({tuple(answer) for answer in answers.values()}) != 1:
        sys.exit("the programs disagree")


if __name__ == "__main__":
    main()
