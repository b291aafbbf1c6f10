#!/usr/bin/env python3
"""trl_logger.py in real, tiny trainings: what it logs against the checkpoint, recomputed in double
precision, and against GRPO's own definitions.

    python test_trl_logger.py          # needs trl, torch, numpy, pyarrow; a minute on one core
"""

import json
import shutil
import tempfile
import unittest
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import torch
from stapo_log import logit_stats
from transformers import AutoModelForCausalLM
from trl_demo import MODEL, train
from trl_logger import _FinishStep, _found

SMALL = {"max_completion_length": 60, "num_generations": 4}


def exact(rows):
    """(logprob, entropy, Σπ²) of each row under the checkpoint that the training started from."""
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float64)
    for row in rows:
        with torch.no_grad():
            logits = model(torch.tensor([row["prompt_ids"] + row["token_id"]])).logits[0]
        yield row, logit_stats(logits[len(row["prompt_ids"]) - 1 : -1], torch.tensor(row["token_id"]))


class Case(unittest.TestCase):
    def train(self, steps, token_log=None, **settings):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        folder = Path(holder.name)
        self.trainer = train(folder, steps, token_log=token_log, disable_tqdm=True, **(SMALL | settings))
        logged = sorted((folder / "token_log").iterdir())
        self.assertTrue(all((step / "STABLE").exists() for step in logged))
        return [pq.read_table(step / "rank_00000.parquet").to_pylist() for step in logged]

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
            self.assertTrue(row["token_id"][-1] == 2 or len(row["token_id"]) == 200)  # <eos> or cut
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
        """One generation feeds four updates: p, H and Σπ² stay those of the policy that generated."""
        settings = {"steps_per_generation": 2, "num_iterations": 2, "gradient_accumulation_steps": 1, "beta": 0.04}
        # TRL loads the reference anew and wants to know the class; the sample's config does not say it.
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(MODEL, copy, dirs_exist_ok=True)
            config = json.loads((MODEL / "config.json").read_text()) | {"architectures": ["Qwen3ForCausalLM"]}
            (Path(copy) / "config.json").write_text(json.dumps(config))
            settings |= {"model": copy, "max_completion_length": 200, "learning_rate": 1e-3}
            steps = self.train(4, per_device_train_batch_size=8, **settings)
        self.assertEqual([len(rows) for rows in steps], [8] * 4)
        self.near_the_checkpoint([row for rows in steps for row in rows])
        drift = []
        for rows in steps:
            for row in rows:
                np.testing.assert_allclose(row["logprob_ref"], row["logprob"], 1e-4, 2e-5)
            drift.append(max(np.abs(np.subtract(row["logprob_new"], row["logprob"])).max() for row in rows))
        self.assertLess(drift[0], 1e-4)
        self.assertGreater(min(drift[1:]), 1e-3)
        samples = [sorted(row["sample_id"] for row in rows) for rows in steps]
        self.assertEqual(samples[0] + samples[1], samples[2] + samples[3])
        self.groups(steps[0] + steps[1], 4)


class Replaced(Case):
    def test_a_loss_of_its_own_is_noticed(self):
        log = SimpleNamespace(wants=lambda step: True, step=None, finish=lambda step: None)
        with self.assertWarnsRegex(UserWarning, "no response reached the token log"):
            _FinishStep(log).on_step_end(None, SimpleNamespace(global_step=1), None)

    def test_logits_serve_where_there_is_no_fused_head(self):
        """What TRL before the fused head hands to the hook."""
        logits, ids = torch.randn(2, 7, 11), torch.randint(0, 11, (2, 4))
        found = _found(SimpleNamespace(logits=logits, log_sum_sq_probs=None), ids, 0.7)
        pi = torch.softmax(logits[:, 2:6].double() / 0.7, -1)
        np.testing.assert_allclose(found["sum_pi_sq"], pi.square().sum(-1), 1e-5)
        np.testing.assert_allclose(found["entropy"], -(pi * pi.log()).sum(-1), 1e-5)


if __name__ == "__main__":
    warnings.simplefilter("ignore", FutureWarning)
    unittest.main()
