"""StapoCallback in real TRL runs: what reaches TensorBoard's and trackio's own files. Needs trl, tensorboard,
trackio; two minutes on one core."""

import json
import os
import sqlite3
import stat
import time
import uuid
from types import SimpleNamespace
from unittest import mock

import pytest

from support import PROGRAM, Case, named_program

pytest.importorskip("trl")

from trl import GRPOTrainer

from stapo_analyze import StapoCallback
from stapo_analyze.trl import TokenLogMixin
from sums import trainer

SMALL = {"max_completion_length": 60, "num_generations": 4, "per_device_train_batch_size": 16, "disable_tqdm": True}


class Trainer(TokenLogMixin, GRPOTrainer):
    """GRPO that leaves a token log."""


@pytest.mark.skipif(not PROGRAM, reason="stapo-analyze is not installed")
class Dashboards(Case):
    def train(self, callback, steps=4, **settings):
        extra = {"token_log": self.dir / "log", "callbacks": [callback]}
        run = trainer(Trainer, self.dir, steps, extra=extra, **(SMALL | settings))
        run.train()
        return run

    def test_tensorboard(self):
        pytest.importorskip("tensorboard")
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        os.environ["TENSORBOARD_LOGGING_DIR"] = str(self.dir / "board")
        self.addCleanup(os.environ.pop, "TENSORBOARD_LOGGING_DIR")
        callback = StapoCallback(every=2)
        run = self.train(callback, report_to="tensorboard")
        events = EventAccumulator(str(self.dir / "board"))
        events.Reload()
        ours = {tag: events.Scalars(tag) for tag in events.Tags()["scalars"] if "stapo/" in tag}
        steps = [e.value for e in ours["train/stapo/step"]]
        self.assertEqual(steps[-1], 3)  # the last analysis saw the last step
        last = callback.latest.summary["steps"][-1]
        self.assertAlmostEqual(ours["train/stapo/step/mean_entropy"][-1].value, last["mean_entropy"], 5)
        self.assertTrue((self.dir / "log_report/report.html").is_file())
        rewards = [e for logs in run.state.log_history for e in logs if e == "reward"]
        self.assertEqual(len(rewards), 4)  # TRL's own metrics come as often as before

    def test_trackio(self):
        trackio = pytest.importorskip("trackio")
        project = f"stapo-{uuid.uuid4().hex[:8]}"
        database = trackio.utils.TRACKIO_DIR / f"{project}.db"
        self.addCleanup(lambda: [path.unlink() for path in database.parent.glob(f"{project}.*")])
        self.train(StapoCallback(every=2), report_to="trackio", project=project)
        rows = [json.loads(row[0]) for row in sqlite3.connect(database).execute("select metrics from metrics")]
        found = [row for row in rows if any("stapo/step" in name for name in row)]
        self.assertTrue(found)
        names = {name.removeprefix("train/") for row in found for name in row}
        self.assertLessEqual({"stapo/step", "stapo/step/mean_entropy", "stapo/spurious_share"}, names)


class Unharmed(Case):
    """Whatever happens to the analysis, the training goes on."""

    def run_with(self, body, steps=3, last_wait=5, report=None):
        fake = self.dir / "stapo-analyze"
        fake.write_text(f"#!/bin/sh\n{body}\n")
        fake.chmod(fake.stat().st_mode | stat.S_IEXEC)
        with named_program(fake):
            callback = StapoCallback(every=1, token_log=self.dir / "log", report=report, last_wait=last_wait)
            logged, handler = [], SimpleNamespace(callbacks=[])
            owner = SimpleNamespace(callback_handler=handler, add_callback=handler.callbacks.append, log=logged.append)
            callback.attach(owner)
            start = time.monotonic()
            for step in range(1, steps + 1):
                state = SimpleNamespace(global_step=step, max_steps=steps, is_world_process_zero=True)
                callback.on_step_end(None, state, SimpleNamespace(should_training_stop=False))
                owner.log({"loss": step})
            return logged, time.monotonic() - start

    def test_a_program_that_fails_is_said_once(self):
        with self.assertLogs("stapo_analyze", "WARNING") as caught:
            logged, _ = self.run_with("echo 'error: broken log' >&2; echo 'hint: mend it' >&2; exit 2", last_wait=5)
        self.assertEqual(logged, [{"loss": 1}, {"loss": 2}, {"loss": 3}])
        self.assertEqual(len(caught.output), 1)
        self.assertIn("mend it", caught.output[0])

    def test_a_program_that_hangs_holds_nothing_up(self):
        logged, seconds = self.run_with("exec sleep 20", last_wait=0.5)
        self.assertEqual(logged, [{"loss": 1}, {"loss": 2}, {"loss": 3}])
        self.assertLess(seconds, 10)

    def test_no_program(self):
        left = self.dir / "tmp"
        left.mkdir()
        with (
            self.assertLogs("stapo_analyze", "WARNING"),
            named_program("/nowhere"),
            mock.patch("tempfile.tempdir", str(left)),
        ):
            callback = StapoCallback(every=1, token_log=self.dir)
            state = SimpleNamespace(global_step=1, max_steps=9, is_world_process_zero=True)
            callback.on_step_end(None, state, SimpleNamespace(should_training_stop=False))
        self.assertEqual(list(left.iterdir()), [])

    def test_alerts(self):
        cause = {"code": "large_updates", "confidence": "likely", "message": "too large", "hint": "lower the rate"}
        summary = json.dumps({"verdict": {"state": "suspicious"}, "diagnosis": {"state": "damaged", "causes": [cause]}})
        gone = json.dumps({"verdict": {"state": "healthy"}})
        (self.dir / "first").write_text(summary), (self.dir / "then").write_text(gone)
        body = f"""while [ "$1" != --report ]; do shift; done; mkdir -p "$2"
if [ -f {self.dir}/seen ]; then cp {self.dir}/then "$2/summary.json"; else touch {self.dir}/seen; cp {self.dir}/first "$2/summary.json"; fi
"""
        with self.assertLogs("stapo_analyze", "WARNING") as caught:
            logged, _ = self.run_with(body, steps=1)
            self.assertEqual(logged[0]["stapo/cause/large_updates"], 1.0)
            self.assertEqual(logged[0]["stapo/state"], 3)
        self.assertIn("lower the rate", caught.output[0])

    def test_a_cause_that_was_possible_first_is_told_once_it_is_likely(self):
        cause = {"code": "large_updates", "message": "too large", "hint": "lower the rate"}
        callback = StapoCallback(report=self.dir)
        told = []
        for confidence in ("possible", "likely", "likely"):
            found = {"state": "damaged", "causes": [cause | {"confidence": confidence}]}
            (self.dir / "summary.json").write_text(json.dumps({"verdict": {"state": "suspicious"}, "diagnosis": found}))
            with mock.patch("stapo_analyze.callback.logger.warning") as warning:
                callback._publish()
            told.append(warning.call_count)
        self.assertEqual(told, [0, 1, 0])

    def test_what_else_is_in_the_folder_of_the_report_stays(self):
        weights = self.dir / "out/checkpoint-100/model.safetensors"
        weights.parent.mkdir(parents=True)
        weights.write_text("weights")
        body = """while [ "$1" != --report ]; do shift; done; mkdir -p "$2"; echo '{"verdict": {"state": "healthy"}}' > "$2/summary.json"
"""
        logged, _ = self.run_with(body, steps=1, report=self.dir / "out")
        self.assertEqual(logged[0]["stapo/state"], 0)
        self.assertEqual(weights.read_text(), "weights")
