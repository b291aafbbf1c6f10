"""Alerts while a run trains: `StapoCallback` for transformers trainers.

    Trainer(…, callbacks=[StapoCallback(every=50)])                       # with TokenLogMixin: that is all
    StapoCallback(every=50, token_log="token_log").attach(trainer)       # with a log that something else writes

Every 50 optimizer steps a process of its own analyses what has been logged so far. When it is done, its
numbers join the trainer's next `log`, and so reach whatever `report_to` names: `stapo/state` (0 healthy,
1 suspicious, 2 not learning, 3 damaged, 4 collapsed, 5 not finite), `stapo/cause/<code>` (1 likely, 0.5 possible, 0 gone), and numbers
of the last step. A cause that is new is a warning in the log of Python, with what to do. The last page is
in `report`. Nothing here waits for the analysis or can stop the training.
"""

import logging
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from . import program
from .report import RunReport
from .scalars import scalars

logger = logging.getLogger("stapo_analyze")


class StapoCallback(TrainerCallback):
    """Analyses the token log every `every` optimizer steps, in the background.

    every       optimizer steps between two analyses; one that is still running is not overtaken
    token_log   the folder; that of TokenLogMixin if not given
    report      where the last report is kept, beside whatever else is there; beside the log if not given
    options     of `stapo-analyze`, as in `analyze`: tokenizer, preset, …
    last_wait   seconds that the end of the training waits for the last analysis
    """

    def __init__(self, every: int = 50, *, token_log: "str | Path | None" = None, report: "str | Path | None" = None,
                 last_wait: float = 60, **options: Any) -> None:  # fmt: skip
        if every < 1:
            raise ValueError(f"every={every}: impossible")
        self.every, self.last_wait, self.options = every, last_wait, options
        self.token_log = None if token_log is None else Path(token_log)
        self.report = None if report is None else Path(report)
        self.latest = None  # the last RunReport
        self._pending: dict[str, Any] = {}  # numbers that wait for the trainer's next log
        self._alerts: dict[str, float] = {}  # causes seen so far
        self._warned: set[str] = set()  # those that were likely at some time
        self._complained: set[str] = set()
        self._process: subprocess.Popen | None = None

    def attach(self, trainer: Any) -> "StapoCallback":
        """Connects to a trainer's `log`; TokenLogMixin does this by itself."""
        handler = trainer.callback_handler
        if self in handler.callbacks:  # comes last: the log's own callback completes the step first
            handler.callbacks.remove(self)
        trainer.add_callback(self)
        if self.token_log is None:
            self.token_log = Path(trainer.token_log.folder)
        log = trainer.log

        def log_with_ours(logs, *args, **kwargs):
            ours, self._pending = self._pending, {}
            return log({**logs, **ours}, *args, **kwargs)

        trainer.log = log_with_ours
        return self

    def on_step_end(self, args, state, control, **kwargs):
        if not state.is_world_process_zero or self.token_log is None:
            return
        last = state.global_step >= state.max_steps > 0 or control.should_training_stop
        self._guarded(self._step, state.global_step, last)

    def _step(self, step, last):
        self._collect()
        if last:
            self._wait()
        if self._process is None and (last or step % self.every == 0):
            self._start()
        if last:
            self._wait()

    def _start(self):
        from .analysis import flags

        if self.report is None:
            self.report = self.token_log.with_name(self.token_log.name + "_report")
        command = [program.path(), str(self.token_log), "--report", str(self.report), "--quiet", "--threads=1",
                   *flags(self.options)]  # fmt: skip
        if shutil.which("nice"):
            command = ["nice", "-n", "10", *command]
        # Into a file: nobody reads a pipe while the training goes on.
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._stderr
        )

    def _wait(self):
        end = time.monotonic() + self.last_wait
        while self._process is not None and time.monotonic() < end:
            try:
                self._process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                return
            self._collect()

    def _collect(self):
        if self._process is None or self._process.poll() is None:
            return
        code, self._process = self._process.returncode, None
        try:
            if code not in (0, 1):
                self._stderr.seek(0)
                raise program.failure(self._stderr.read(), code)
            self._publish()
        finally:
            self._stderr.close()

    def _publish(self):
        self.latest = RunReport(self.report)
        for cause in self.latest.causes:
            if cause.code not in self._warned and cause.confidence == "likely":
                self._warned.add(cause.code)
                logger.warning(
                    "%s (%s)\n   hint: %s\n   page: %s", cause.message, cause.code, cause.hint, self.latest.page
                )
        now = {cause.code: 1.0 if cause.confidence == "likely" else 0.5 for cause in self.latest.causes}
        self._alerts = dict.fromkeys(self._alerts, 0.0) | now
        self._pending = scalars(self.latest) | {f"stapo/cause/{code}": value for code, value in self._alerts.items()}

    def _guarded(self, call, *arguments):
        """Whatever goes wrong here is said once, and the training goes on."""
        try:
            call(*arguments)
        except Exception as error:  # noqa: BLE001
            said = f"{type(error).__name__}: {error}"
            if said not in self._complained:
                self._complained.add(said)
                logger.warning("no analysis of the token log: %s", said)
