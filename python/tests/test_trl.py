"""The TRL mixins in real, tiny trainings: what they log against the checkpoint, recomputed in double
precision, and against GRPO's own definitions. Needs trl; two minutes on one core."""

import warnings
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from support import Case as Folder

pytest.importorskip("trl")

import torch
from transformers import AutoModelForCausalLM
from trl import GRPOTrainer

from stapo_analyze import logit_stats
from stapo_analyze.trl import TokenLogMixin, with_token_log
from stapo_analyze.trl.scores import found_in
from stapo_analyze.trl.token_log import _Steps
from stapo_analyze.turns import turns
from sums import MODEL, trainer

SMALL = {"max_completion_length": 60, "num_generations": 4, "disable_tqdm": True}
warnings.simplefilter("ignore", FutureWarning)


class Trainer(TokenLogMixin, GRPOTrainer):
    """GRPO that leaves a token log."""


def exact(rows):
    """(logprob, entropy, Σπ²) of each row under the checkpoint that the training started from."""
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float64)
    for row in rows:
        with torch.no_grad():
            logits = model(torch.tensor([row["prompt_ids"] + row["token_id"]])).logits[0]
        yield row, logit_stats(logits[len(row["prompt_ids"]) - 1 : -1], torch.tensor(row["token_id"]))


class Case(Folder):
    def train(self, steps, token_log=None, **settings):
        extra = {"token_log": {"folder": self.dir / "log"} | (token_log or {})}
        self.trainer = trainer(Trainer, self.dir, steps, extra=extra, **(SMALL | settings))
        self.trainer.train()
        return self.logged()

    def logged(self):
        steps = sorted((self.dir / "log").glob("step_*"))
        self.assertTrue(all((step / "STABLE").exists() for step in steps))
        return [pq.read_table(step / "rank_00000.parquet").to_pylist() for step in steps]

    def near_the_checkpoint(self, rows):
        for row, stats in exact(rows):
            np.testing.assert_allclose(row["logprob"], stats.logprob, 1e-4, 2e-5)
            np.testing.assert_allclose(row["entropy"], stats.entropy, 1e-4, 2e-5)
            np.testing.assert_allclose(row["sum_pi_sq"], stats.sum_pi_sq, 1e-4)

    def groups(self, rows, size):
        groups = {}
        for row in rows:
            groups.setdefault(row["group_id"], []).append(row)
        for group in groups.values():
            self.assertEqual((len(group), len({r["sample_id"] for r in group})), (size, size))
            self.assertEqual(len({tuple(r["prompt_ids"]) for r in group}), 1)
            rewards = np.array([r["reward"] for r in group])
            std = rewards.std(ddof=1)
            np.testing.assert_allclose(
                [r["advantage_seq"] for r in group], (rewards - rewards.mean()) / (std + 1e-4), 1e-3, 1e-5
            )
        return groups


class OnPolicy(Case):
    def test_a_step_of_training(self):
        """The model at the first step is the checkpoint; later it has moved."""
        first, second = self.train(2, per_device_train_batch_size=16, max_completion_length=200)
        self.near_the_checkpoint(first)
        self.assertEqual(len(self.groups(first, 4)), 4)
        self.assertEqual(len({r["group_id"] for r in first + second}), 8)
        self.assertNotIn("logprob_new", first[0])
        self.assertTrue(any(r["reward"] for r in first))
        for row in first + second:
            self.assertEqual(row["reward"], row["reward/exact_answer"])
            self.assertEqual(row["truncated"], row["token_id"][-1] != 2)  # <eos>
            self.assertEqual(row["finish_reason"], "length" if row["truncated"] else "stop")
            self.assertEqual(row["policy_version"], row["step"])
        self.assertEqual({len(r["token_id"]) for r in first + second if r["truncated"]} - {200}, set())
        self.assertTrue((self.dir / "log/tokenizer.json").exists())
        moved = [np.abs(np.array(row["logprob"]) - stats.logprob.numpy()).max() for row, stats in exact(second[:4])]
        self.assertGreater(max(moved), 1e-3)

    def test_sampling_and_accumulation(self):
        """Micro-batches of one optimizer step are one step of the log, in whole groups."""
        settings = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 2}
        zero, two = self.train(3, {"every": 2, "responses": 8}, **settings)
        for rows, step in ((zero, 0), (two, 2)):
            self.assertEqual({row["step"] for row in rows}, {step})
            self.assertEqual((len(rows), len(self.groups(rows, 4))), (8, 2))
        self.near_the_checkpoint(zero)


class OffPolicy(Case):
    def test_old_new_and_reference(self):
        """One generation feeds four updates: p, H and Σπ² stay those of the policy that generated. Each pass
        over it is a step with two updates, and whole groups."""
        settings = {"steps_per_generation": 2, "num_iterations": 2, "gradient_accumulation_steps": 1, "beta": 0.04}
        settings |= {"max_completion_length": 200, "learning_rate": 1e-3, "per_device_train_batch_size": 8}
        steps = self.train(4, {"every": 3}, **settings)  # 3 is inside of the second pass: both are kept
        self.assertEqual([[(row["step"], row["update"]) for row in rows] for rows in steps],
                         [[(s, u) for u in (0, 1) for _ in range(8)] for s in (0, 2)])  # fmt: skip
        self.near_the_checkpoint([row for rows in steps for row in rows])
        drift = {}
        for row in (row for rows in steps for row in rows):
            np.testing.assert_allclose(row["logprob_ref"], row["logprob"], 1e-4, 2e-5)
            self.assertEqual(row["policy_version"], 0)
            moved, at = np.abs(np.subtract(row["logprob_new"], row["logprob"])).max(), row["step"] + row["update"]
            drift[at] = max(moved, drift.get(at, 0))
        self.assertLess(drift.pop(0), 1e-4)
        self.assertGreater(min(drift.values()), 1e-3)
        first, second = ([row["sample_id"] for row in rows] for rows in steps)
        self.assertEqual(first, second)
        for rows in steps:
            self.assertEqual(len(self.groups(rows, 4)), 4)

    def test_a_run_that_stops_in_the_middle_of_a_generation(self):
        settings = {"steps_per_generation": 2, "gradient_accumulation_steps": 1, "per_device_train_batch_size": 4}
        rows = self.train(3, **settings)
        self.assertEqual([sorted({r["update"] for r in step}) for step in rows], [[0, 1], [0]])


class Resumed(Case):
    def test_from_a_checkpoint(self):
        """A training that goes on is one run; what it had logged beyond the checkpoint is set aside."""
        settings = {"per_device_train_batch_size": 4, "save_strategy": "steps", "save_steps": 2}
        self.train(3, **settings)
        run = pq.read_schema(self.dir / "log/step_00000000/rank_00000.parquet").metadata[b"run_id"]
        again = trainer(Trainer, self.dir, 4, extra={"token_log": self.dir / "log"}, **(SMALL | settings))
        with self.assertWarnsRegex(UserWarning, "1 steps of an earlier run moved"):
            again.train(resume_from_checkpoint=str(self.dir / "trainer/checkpoint-2"))
        files = sorted((self.dir / "log").glob("step_*/*.parquet"))
        self.assertEqual([int(f.parent.name[5:]) for f in files], [0, 1, 2, 3])
        self.assertEqual({pq.read_schema(f).metadata[b"run_id"] for f in files}, {run})


class Facts(Case):
    def test_with_token_log(self):
        settings = {"per_device_train_batch_size": 4, "mask_truncated_completions": True, "max_completion_length": 20}
        made = with_token_log(GRPOTrainer, self.dir / "log", every=5, algorithm="mine")
        self.assertEqual(made.__name__, "GRPOTrainer")
        run = trainer(made, self.dir, 1, **(SMALL | settings))
        run.train()
        [rows] = self.logged()
        for row in rows:  # cut at 20 tokens: logged in full, trained on none
            self.assertEqual((len(row["token_id"]), row["truncated"], any(row["mask"])), (20, True, False))
        metadata = pq.read_schema(self.dir / "log/step_00000000/rank_00000.parquet").metadata
        self.assertEqual((metadata[b"algorithm"], metadata[b"framework"]), (b"mine", b"trl"))

    def test_turns(self):
        """An observation opens a turn."""
        self.assertIsNone(turns(None))
        mask = torch.tensor([[1, 1, 0, 0, 1, 0, 1], [1, 1, 1, 1, 1, 1, 1]])
        self.assertEqual(turns(mask).tolist(), [[0, 0, 1, 1, 1, 2, 2], [0] * 7])

    def test_a_loss_of_its_own_is_noticed(self):
        log = SimpleNamespace(wants=lambda step: True, step=None, finish=lambda step: None)
        with self.assertWarnsRegex(UserWarning, "no response reached the token log"):
            owner = SimpleNamespace(token_log=log, _log_step=lambda: (0, 0, 1))
            _Steps(owner).on_step_end(None, SimpleNamespace(global_step=1), None)

    def test_logits_serve_where_there_is_no_fused_head(self):
        """What TRL before the fused head hands to the hook."""
        logits, ids = torch.randn(2, 7, 11), torch.randint(0, 11, (2, 4))
        found = found_in(SimpleNamespace(logits=logits, log_sum_sq_probs=None), ids, 0.7)
        pi = torch.softmax(logits[:, 2:6].double() / 0.7, -1)
        np.testing.assert_allclose(found["sum_pi_sq"], pi.square().sum(-1), 1e-5)
        np.testing.assert_allclose(found["entropy"], -(pi * pi.log()).sum(-1), 1e-5)
