#!/usr/bin/env python3
"""The same GRPO training with and without S2T in its loss, held against each other: `python trl_s2t.py [folder]`.

Four minutes of one core. One seed a side speaks of these two runs only; see `arms` of `compare` for more.
"""

import sys
from pathlib import Path

from trl import GRPOTrainer

from stapo_analyze import compare
from stapo_analyze.trl import S2TMixin, TokenLogMixin
from sums import trainer


class Plain(TokenLogMixin, GRPOTrainer):
    """GRPO that leaves a token log."""


class Silenced(S2TMixin, TokenLogMixin, GRPOTrainer):
    """The same, spurious tokens left out of the update."""


folder = Path(sys.argv[1] if len(sys.argv) > 1 else "trl_s2t_out")
for trainer_class in (Plain, Silenced):
    log = folder / trainer_class.__name__.lower()
    trainer(trainer_class, folder, steps=12, extra={"token_log": log}).train()
result = compare(folder / "plain", folder / "silenced", report=folder / "report")
print(result.verdict, f"\nreport: {result.page}", sep="\n")
