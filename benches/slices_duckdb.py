"""DuckDB's GROUP BY beside our slices, on any log of the canonical nested layout.

    pip install duckdb
    python benches/slices_duckdb.py notebooks-data/async.parquet [path of stapo-analyze] [columns to slice by]

Needs the columns of the sample log `async.parquet` (`sum_pi_sq` and `logprob_new` give w and the exact
energy); `clip_low` and `clip_high` are taken from our provenance. Exits with 1 if a number differs by more
than 1e-6.
"""

import json
import subprocess
import sys
import time

import duckdb

TOKENS = """
create view tokens as
with responses as (select row_number() over () as r, * from read_parquet('{log}')),
t as (
  select r, step, step - policy_version as lag, policy_version, finish_reason, reward, truncated, {extra}
    unnest(mask) as mask, unnest(turn) as turn, unnest(logprob)::double as lp, unnest(logprob_new)::double as lpn,
    unnest(logprob_rollout)::double as lpr, unnest(entropy)::double as h, unnest(sum_pi_sq)::double as c, advantage::double as a
  from responses),
w as (select *, exp(lp) as p, exp(lpn - lp) as rho, lp - lpr as d from t where mask)
select *, case when a > 0 and rho > 1 + {high} then 0 when a < 0 and rho < 1 - {low} then 0 else rho * a end as w from w
"""

GROUP = """
select {by} as value, count(*) as tokens, avg(h) as mean_entropy, avg(p) as mean_prob,
  sum(w * w * (1 - 2 * p + c)) / (select sum(w * w * (1 - 2 * p + c)) from tokens) as energy_share,
  avg(exp(d) - 1 - d) as engine_k3
from tokens group by value order by value
"""


def text(value) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def main():
    log = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else "stapo-analyze"
    more = sys.argv[3].split(",") if len(sys.argv) > 3 else []
    start = time.time()
    command = [program, log, "--format", "json", "--full", "--quiet"] + (["--by", ",".join(more)] if more else [])
    ours = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    spent = time.time() - start
    clip = ours["clipping"]
    parts = "".join(f'"{name}", ' for name in more if name.startswith("reward/"))
    start = time.time()
    duckdb.sql(TOKENS.format(log=log, low=clip["clip_low"], high=clip["clip_high"], extra=parts))
    worst = 0.0
    for dimension in ["turn", "lag", "finish_reason", *more]:
        rows = duckdb.sql(GROUP.format(by=f'"{dimension}"')).fetchall()
        found = {row["value"]: row for row in ours["slices"][dimension]}
        if len(found) != len(rows):
            sys.exit(f"{dimension}: {len(found)} values of ours, {len(rows)} of DuckDB's")
        for value, tokens, *numbers in rows:
            row = found[text(value)]
            assert row["tokens"] == tokens, (dimension, value)
            for name, theirs in zip(["mean_entropy", "mean_prob", "energy_share", "engine_k3"], numbers):
                off = abs(row[name] - theirs) / (abs(theirs) or 1.0)
                worst = max(worst, off)
                if off > 1e-6:
                    print(f"{dimension} {value} {name}: ours {row[name]}, DuckDB's {theirs}")
    print(f"largest relative difference {worst:.1e}; ours, the whole analysis, {spent:.2f} s; DuckDB {time.time() - start:.2f} s")
    sys.exit(worst > 1e-6)


if __name__ == "__main__":
    main()
