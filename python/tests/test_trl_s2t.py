"""S2T in TRL's loss, in real trainings: the tokens that are silenced are those that the program silences in
the log of the same run, and they give no gradient. Needs trl; two minutes on one core."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from support import PROGRAM, Case

pytest.importorskip("trl")

import torch
from trl import GRPOTrainer

from stapo_analyze import analyze
from stapo_analyze.trl import S2TMixin, TokenLogMixin
from sums import trainer

# The sample checkpoint says stray words, so that tau_p = 0.01 finds candidates in a small batch.
S2T = {"preset": "v5", "tau_p": 0.01}
SETTINGS = {"num_generations": 4, "max_completion_length": 120, "disable_tqdm": True}


class Silenced(S2TMixin, TokenLogMixin, GRPOTrainer):
    """Keeps what was silenced: (step, update, sample, position)."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.found, self.losses = set(), []

    def _compute_loss(self, model, inputs):
        loss = super()._compute_loss(model, inputs)
        step, update, length = self._log_step()
        drop = inputs["stapo_tool_mask"].bool() & ~inputs["tool_mask"].bool()
        for row, position in drop.nonzero().tolist():
            self.found.add((step, update if length > 1 else None, str(inputs["stapo_sample"][row].item()), position))
        self.losses.append((loss.item(), drop.sum().item(), inputs["num_items_in_batch"].item()))
        return loss


def silenced_by_program(log):
    rows = analyze(log, tau_p=S2T["tau_p"]).tables.arrow("flagged").to_pylist()
    return {(r["step"], r.get("update"), str(r["sample_id"]), r["position"]) for r in rows if r["kind"] == "spurious"}


@unittest.skipUnless(PROGRAM, "stapo-analyze is not installed")
class AgainstTheProgram(Case):
    def run_of(self, steps, **settings):
        run = trainer(
            Silenced, self.dir, steps, extra={"token_log": self.dir / "log", "s2t": S2T}, **(SETTINGS | settings)
        )
        run.train()
        theirs = silenced_by_program(self.dir / "log")
        updates = any(update is not None for _, update, *_ in theirs)
        self.assertEqual({f if updates else (f[0], None, *f[2:]) for f in run.found}, theirs)
        self.assertGreater(len(theirs), 2)
        return run

    def test_on_policy(self):
        """TRL does not score before the loss: the mixin does."""
        run = self.run_of(2, per_device_train_batch_size=32)
        row = pq.read_table(self.dir / "log/step_00000000/rank_00000.parquet").to_pylist()[0]
        self.assertNotIn("logprob_new", row)
        self.assertTrue(all(row["mask"]))  # the log keeps what S2T chose from
        self.assertIn("s2t/silenced", {name for logs in run.state.log_history for name in logs})

    def test_accumulation_mini_batches_and_passes(self):
        """Four micro-batches a generation, two an optimizer step, two passes: a threshold an optimizer step."""
        settings = {"per_device_train_batch_size": 16, "steps_per_generation": 4, "gradient_accumulation_steps": 2}
        self.run_of(4, num_iterations=2, **settings)


class Loss(Case):
    def test_the_loss_is_that_of_the_kept_tokens(self):
        """On-policy every ratio is 1, so DAPO's loss is −Σ A over the kept tokens by their number."""
        settings = SETTINGS | {"per_device_train_batch_size": 32}
        run = trainer(Silenced, self.dir, 1, extra={"token_log": self.dir / "log", "s2t": S2T}, **settings)
        run.train()
        [(loss, silenced, items)] = run.losses
        rows = pq.read_table(self.dir / "log/step_00000000/rank_00000.parquet").to_pylist()
        tokens = sum(len(r["token_id"]) for r in rows)
        advantage = {r["sample_id"]: r["advantage_seq"] for r in rows}
        total = sum(r["advantage_seq"] * len(r["token_id"]) for r in rows)
        total -= sum(advantage[sample] for _, _, sample, _ in run.found)
        self.assertGreater(silenced, 0)
        self.assertEqual(items, tokens - silenced)
        self.assertAlmostEqual(loss, -total / (tokens - silenced), 5)


class Ranks(Case):
    def test_two_ranks_share_a_threshold_and_a_log(self):
        """`torchrun` on a CPU: one log of one run, and the mask of the program over both ranks."""
        if not PROGRAM:
            self.skipTest("stapo-analyze is not installed")
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=0",
                   "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0", __file__, str(self.dir)]  # fmt: skip
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        files = sorted((self.dir / "log").glob("step_*/*.parquet"))
        self.assertEqual([f.name for f in files], ["rank_00000.parquet", "rank_00001.parquet"] * 2)
        self.assertEqual(len({pq.read_schema(f).metadata[b"run_id"] for f in files}), 1)
        found = set.union(*(torch.load(self.dir / f"found_{rank}.pt", weights_only=False) for rank in range(2)))
        self.assertEqual(found, silenced_by_program(self.dir / "log"))
        self.assertGreater(len(found), 2)


def one_rank(folder):
    settings = SETTINGS | {"per_device_train_batch_size": 16, "ddp_backend": "gloo"}
    run = trainer(Silenced, folder, 2, extra={"token_log": folder / "log", "s2t": S2T}, **settings)
    run.train()
    torch.save(run.found, folder / f"found_{run.accelerator.process_index}.pt")


if __name__ == "__main__":
    one_rank(Path(sys.argv[1]))
