"""The driver on a real Ray cluster of three nodes on this machine. Needs `ray` (any version), which CI does not have."""

import filecmp
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stapo_analyze import program

ray = pytest.importorskip("ray", reason="pip install ray")
from ray.cluster_utils import Cluster  # noqa: E402

DATA = Path(__file__).resolve().parents[2] / "notebooks-data"
LOG = DATA / "async.parquet"
SHARDS = ["--shard-tokens", "30000"]


@pytest.fixture
def cluster():
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def equal_folders(one, other):
    def names(folder):
        return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())

    assert names(one) == names(other)
    _, different, unread = filecmp.cmpfiles(one, other, names(one), shallow=False)
    assert not different and not unread


@pytest.fixture
def alone(tmp_path):
    """The report of one process."""
    program.run(LOG, "--report", tmp_path / "alone", "--quiet")
    return tmp_path / "alone"


def driver(cluster, tmp_path, *more):
    command = [sys.executable, "-m", "stapo_analyze.ray", LOG, "--report", tmp_path / "ray", *SHARDS]
    command += ["--address", cluster.address, "--work", tmp_path / "work", *more]
    return subprocess.Popen([os.fspath(c) for c in command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for_parts(tmp_path, least):
    for _ in range(600):
        if len(list((tmp_path / "work").rglob("part-*.part"))) >= least:
            return
        time.sleep(0.05)
    raise AssertionError("no parts were written")


def test_equal_to_one_process(cluster, tmp_path, alone):
    running = driver(cluster, tmp_path)
    out, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    assert "shards" in err and "stale sampler" in out
    equal_folders(alone, tmp_path / "ray")


def test_a_node_is_killed_meanwhile(cluster, tmp_path, alone):
    running = driver(cluster, tmp_path)
    wait_for_parts(tmp_path, 1)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    _, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    equal_folders(alone, tmp_path / "ray")


def test_the_driver_is_killed_and_goes_on(cluster, tmp_path, alone):
    running = driver(cluster, tmp_path)
    wait_for_parts(tmp_path, 2)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not (tmp_path / "ray" / "report.html").exists()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("part-*.part")}
    again = driver(cluster, tmp_path)
    _, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    for path, time_written in before.items():
        assert path.stat().st_mtime_ns == time_written, "a part that was there is not made again"
    equal_folders(alone, tmp_path / "ray")


def test_thresholds_that_need_another_look(cluster, tmp_path):
    options = ["--preset", "v1", "--population", "all"]
    program.run(LOG, *options, "--report", tmp_path / "alone", "--quiet")
    running = driver(cluster, tmp_path, *options)
    _, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    equal_folders(tmp_path / "alone", tmp_path / "ray")


def test_a_bad_file_is_not_tried_again(cluster, tmp_path):
    log = tmp_path / "run.parquet"
    log.write_bytes(LOG.read_bytes())
    command = [sys.executable, "-m", "stapo_analyze.ray", log, "--report", tmp_path / "ray", *SHARDS]
    running = subprocess.run(
        [os.fspath(c) for c in [*command, "--address", cluster.address, "--map", "entropy=nonsense"]],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert running.returncode == 2
    assert "nonsense" in running.stderr and not (tmp_path / "ray" / "report.html").exists()


def test_what_else_is_in_the_work_folder_stays(cluster, tmp_path):
    notes = tmp_path / "ray.work" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    command = [sys.executable, "-m", "stapo_analyze.ray", LOG, "--report", tmp_path / "ray", *SHARDS]
    command += ["--address", cluster.address]
    running = subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True, timeout=300)
    assert running.returncode == 0, running.stderr
    assert [path.name for path in notes.parent.iterdir()] == ["notes.txt"]


def test_no_cluster_is_started_unasked(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
    command = [sys.executable, "-m", "stapo_analyze.ray", LOG, "--report", tmp_path / "out"]
    running = subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True, env=environment, timeout=120)
    assert running.returncode == 2
    assert "no Ray cluster could be reached" in running.stderr and "--local" in running.stderr
