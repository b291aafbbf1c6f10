#!/usr/bin/env python3
"""A real GRPO training on a CPU, its token log, and what stapo-analyze says about it: `python trl_demo.py [folder]`.

Two minutes of one core, nothing is downloaded. Task and policy are in sums.py.
"""

import sys
from pathlib import Path

from trl import GRPOTrainer

from stapo_analyze import analyze
from stapo_analyze.trl import with_token_log
from sums import trainer

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "trl_demo_out")
trainer(with_token_log(GRPOTrainer, folder / "token_log"), folder, steps=12).train()
run = analyze(folder / "token_log", report=folder / "report")
print(run.verdict, *(f"\ncause: {cause.message}\n hint: {cause.hint}" for cause in run.causes), sep="\n")
print("\nreport:", run.page)
