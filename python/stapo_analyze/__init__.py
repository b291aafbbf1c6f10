"""Token-level analysis of RL training runs of language models.

    from stapo_analyze.trl import TokenLogMixin           # log a TRL run, see there
    from stapo_analyze import TokenLog, logit_stats       # or any other
    from stapo_analyze import analyze, compare, load

    run = analyze("token_log", report="out/")
    run.verdict, run.causes, run.tables.steps

Reading and running need pyarrow, logging numpy as well; torch is imported by what works on tensors.
"""

import importlib
from typing import TYPE_CHECKING

from .analysis import analyze, compare
from .errors import GateFailed, ProgramNotFound, StapoError
from .report import Cause, Comparison, Replay, Report, RunReport, Verdict, load

if TYPE_CHECKING:
    from .callback import StapoCallback
    from .logits import LogitStats, logit_stats
    from .s2t import s2t_mask, s2t_threshold
    from .token_log import TokenLog

# Imported when they are asked for: they need numpy, pyarrow or torch.
_LATER = {
    "TokenLog": "token_log", "logit_stats": "logits", "LogitStats": "logits",
    "s2t_mask": "s2t", "s2t_threshold": "s2t", "StapoCallback": "callback",
}  # fmt: skip

__all__ = [
    "Cause", "Comparison", "GateFailed", "LogitStats", "ProgramNotFound", "Replay", "Report", "RunReport",
    "StapoCallback", "StapoError", "TokenLog", "Verdict", "analyze", "compare", "load", "logit_stats",
    "s2t_mask", "s2t_threshold",
]  # fmt: skip


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)


def __dir__():
    return sorted({*globals(), *__all__})
