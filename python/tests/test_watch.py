"""`stapo-analyze watch` beside a real TRL training: killed and started again at random while steps are
written, its last report is that of the finished run, byte for byte. Needs trl; a minute on one core."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import PROGRAM, Case

pytest.importorskip("trl")

STEPS = 12
TRAINING = """
import sys
from trl import GRPOTrainer
from stapo_analyze.trl import with_token_log
from sums import trainer

folder = sys.argv[1]
settings = {"max_completion_length": 60, "num_generations": 4, "disable_tqdm": True}
trainer(with_token_log(GRPOTrainer, folder + "/run"), folder, %d, **settings).train()
"""


def files(folder):
    """Every file of a report with its bytes, but for the page that shows it as it comes."""
    found = {p.relative_to(folder): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}
    return {name: data for name, data in found.items() if name.name not in ("live.html", "live.js")}


class Watched(Case):
    def watch(self, *more):
        command = [PROGRAM, "watch", "run", "--report", "watched", "--cache", "cache", "--every", "200ms", *more]
        return subprocess.Popen(command, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_killed_and_started_again_while_a_trainer_writes(self):
        if not PROGRAM:
            self.skipTest("stapo-analyze is not installed")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        training = subprocess.Popen(
            [sys.executable, "-c", TRAINING % STEPS, str(self.dir)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        chance, seen, restarts = random.Random(7), 0, 0
        while training.poll() is None:
            watch = self.watch("-q")
            time.sleep(chance.uniform(0.2, 4))
            watch.send_signal(chance.choice([signal.SIGTERM, signal.SIGKILL, signal.SIGINT]))
            watch.communicate()
            restarts += 1
            seen += (self.dir / "watched/report.html").is_file() and training.poll() is None
        said = training.communicate()[1]
        self.assertEqual(training.returncode, 0, said)
        self.assertGreater(restarts, 3)
        self.assertGreater(seen, 0, "no report was there while the trainer wrote")
        last = self.watch("--until-idle", "1s")
        lines, errors = last.communicate(timeout=60)
        self.assertEqual(last.returncode, 0, errors)
        self.assertEqual(sum(line.startswith("step ") for line in lines.splitlines()), STEPS, lines)
        # The analysis of the finished run, from the same folder and by the same name.
        done = subprocess.run([PROGRAM, "run", "--report", "offline", "-q"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        watched, offline = files(self.dir / "watched"), files(self.dir / "offline")
        self.assertEqual(sorted(watched), sorted(offline))
        self.assertEqual([str(name) for name in offline if watched[name] != offline[name]], [])
