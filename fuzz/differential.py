"""What pyarrow reads from a file and what this program reads from it agree, or one refuses.

    python fuzz/differential.py PROGRAM [SECONDS] [SEED]      (needs pyarrow)

Files of the corpus are changed by chance. A finding is a file that pyarrow refuses and the program
reads, or that both read with different log-probabilities; it is kept in fuzz/artifacts.
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
# What the program reads of the corpus: a column whose name was damaged is none of these.
USED = ["step", "group_id", "sample_id", "position", "token_id", "token_ids", "token_text", "mask", "reward", "advantage",
        "prompt_ids", "logprob", "entropy"]


def change(data, chance):
    data = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data))
        how = chance.randrange(4)
        if how == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            data[at] = chance.choice([0, 1, 2, 3, 0x7F, 0x80, 0xFF])
        elif how == 2:
            data[at] = (data[at] + chance.choice([1, 255])) & 255
        else:
            data[at] = chance.randrange(256)
    return bytes(data)


def by_pyarrow(path):
    """The log-probabilities, all of them; None where the file, or a column that is read, is refused."""
    try:
        file = pq.ParquetFile(path)
        used = [name for name in file.schema_arrow.names if name in USED]
        table = file.read(columns=used, use_threads=False)
        table.validate(full=True)
        column = table["logprob"].combine_chunks()
        values = column.flatten() if pa.types.is_list(column.type) else column
        return [None if v is None else float(v) for v in values.to_pylist()]
    except Exception:  # noqa: BLE001: whatever it says, it refuses
        return None


def by_program(program, path, target):
    target.unlink(missing_ok=True)
    done = subprocess.run([program, "convert", path, "-o", target, "-q", "--threads", "1"], capture_output=True, timeout=600)
    if done.returncode not in (0, 2):
        return done.returncode
    return by_pyarrow(target) if done.returncode == 0 else None


def same(ours, theirs):
    """Values that the program calls missing (above zero, infinite) count as equal to whatever they were."""
    if len(ours) != len(theirs):
        return False
    return all(a is None or (b is not None and abs(a - b) <= 1e-6 * max(1, abs(b))) for a, b in zip(ours, theirs))


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    chance = random.Random(seed)
    seeds = [p.read_bytes() for p in sorted((HERE / "corpus" / "parquet").iterdir())]
    tried = read = refused = 0
    findings = []
    started = time.time()
    with tempfile.TemporaryDirectory() as folder:
        path, target = pathlib.Path(folder, "run.parquet"), pathlib.Path(folder, "out.parquet")
        while time.time() - started < seconds:
            data = change(chance.choice(seeds), chance)
            path.write_bytes(data)
            ours = by_program(program, path, target)
            theirs = by_pyarrow(path)
            tried += 1
            read += isinstance(ours, list)
            refused += ours is None
            what = None
            if isinstance(ours, int):
                what = f"exit {ours}"
            elif ours is not None and theirs is None:
                what = "pyarrow refuses it"
            elif ours is not None and not same(ours, theirs):
                what = "other values"
            if what:
                (HERE / "artifacts").mkdir(exist_ok=True)
                kept = HERE / "artifacts" / f"differential-{seed}-{tried}.parquet"
                kept.write_bytes(data)
                findings.append((what, kept.name))
                print(what, kept, flush=True)
    print(f"{tried} files: {read} read, {refused} refused, {len(findings)} findings")
    sys.exit(bool(findings))


main()
