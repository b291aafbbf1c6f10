#!/usr/bin/env python3
"""Builds small dumps with the fields of each framework, converts them, reads the Parquet back.

    python test_converters.py        # needs torch, numpy, pyarrow; tensordict where installed

Classes of the frameworks are faked under their own module names while pickling and are gone
while converting, as on a machine without the framework.
"""

import io
import os
import pickle
import subprocess
import sys
import tempfile
import types
import unittest
from collections import deque
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import torch

HERE = Path(__file__).resolve().parent


def fake(module, name, **members):
    """A class that pickles as module.name."""
    cls = type(name, members.pop("bases", (object,)), {"__module__": module} | members)
    parts = module.split(".")
    for i in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
    setattr(sys.modules[module], name, cls)
    return cls


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = Path(holder.name)

    def convert(self, script, *arguments, fails=False):
        out = self.dir / "out.parquet"
        command = [sys.executable, str(HERE / script), *map(str, arguments), "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True)
        left = [p.name for p in self.dir.iterdir() if p.name.endswith(".tmp")]
        self.assertEqual(left, [])
        if fails:
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("Traceback", done.stderr)
            self.assertFalse(out.exists())
            return done.stderr
        self.assertEqual(done.returncode, 0, done.stderr)
        table = pq.read_table(out)
        self.assertEqual(table.schema.metadata[b"schema_version"], b"1")
        return table.to_pylist(), table.schema

    def near(self, values, expected):
        np.testing.assert_allclose(values, expected, rtol=1e-5)


class Slime(Case):
    def dump(self, name, content):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(content, path)

    def rollout(self, reward=1.0):
        def sample(index, tokens, mask):
            logprobs = [-0.5 - index] * len(mask)
            return {
                "group_index": 7, "index": index, "prompt": "p", "tokens": tokens, "response": "r",
                "response_length": len(mask), "reward": reward, "loss_mask": mask,
                "weight_versions": ["3", "4"], "rollout_log_probs": logprobs, "status": "completed",
            }  # fmt: skip

        return {"rollout_id": 12, "samples": [sample(0, [1, 2, 3, 4, 5], [1, 0, 1]), sample(1, [1, 2, 9], [1])]}

    def check(self, rows):
        by_id = {row["sample_id"]: row for row in rows}
        self.assertEqual(len(rows), 2)
        row = by_id["0"]
        self.assertEqual((row["step"], row["group_id"], row["prompt_ids"]), (12, "7", [1, 2]))
        self.assertEqual((row["token_id"], row["mask"]), ([3, 4, 5], [True, False, True]))
        self.near(row["logprob"], [-0.1, -0.2, -0.3])
        self.near(row["logprob_rollout"], [-0.5] * 3)
        self.near(row["entropy"], [0.1, 0.2, 0.3])
        self.near(row["advantage"], [2.0, 2.0, 2.0])
        self.assertEqual((row["reward"], row["policy_version"], row["finish_reason"]), (1.0, 4, "completed"))
        self.assertEqual(by_id["1"]["token_id"], [9])

    def trained(self, index, tokens, n):
        ramp = torch.arange(1, n + 1, dtype=torch.float32) / 10
        return {
            "sample_index": index, "rollout_position": index, "tokens": torch.tensor(tokens),
            "loss_masks": torch.tensor([1, 0, 1][:n]), "response_lengths": n, "total_lengths": len(tokens),
            "rewards": 0.7, "log_probs": -ramp, "rollout_log_probs": torch.full((n,), -0.5 - index),
            "entropy": ramp.bfloat16().float(), "advantages": torch.full((n,), 2.0), "kl": ramp,
        }  # fmt: skip

    def test_second_version(self):
        self.dump("rollout_data/12.pt", self.rollout())
        self.dump("rollout_data/eval_12.pt", self.rollout())
        samples = [self.trained(1, [1, 2, 9], 1), self.trained(0, [1, 2, 3, 4, 5], 3)]
        samples[1]["entropy"] = torch.tensor([0.1, 0.2, 0.3])
        train = {"format_version": 2, "rollout_id": 12, "rank": 0, "samples": samples, "dp_shards": [], "raw_reward": [1.0, 1.0]}
        self.dump("train_data/12.pt", train)
        rows, schema = self.convert("slime_to_parquet.py", self.dir)
        self.check(rows)
        self.assertEqual(str(schema.field("logprob").type), "list<element: float>")
        self.assertNotIn("logprob_ref", schema.names)
        alone, _ = self.convert("slime_to_parquet.py", self.dir / "train_data/12.pt")
        self.assertEqual([row["reward"] for row in alone], [1.0, 1.0])

    def test_first_version_has_a_file_a_rank(self):
        self.dump("rollout_data/12.pt", self.rollout())
        zero, one = self.trained(0, [1, 2, 3, 4, 5], 3), self.trained(1, [1, 2, 9], 1)
        zero["entropy"] = torch.tensor([0.1, 0.2, 0.3])
        for rank, sample in enumerate([zero, zero, one]):
            columns = {k: [v] for k, v in sample.items() if k not in ("sample_index", "rollout_position")}
            columns |= {"sample_indices": [sample["sample_index"]], "dynamic_global_batch_size": 2}
            self.dump(f"train_data/12_{rank}.pt", {"rollout_id": 12, "rank": rank, "rollout_data": columns})
        self.check(self.convert("slime_to_parquet.py", self.dir)[0])

    def test_rollouts_alone(self):
        self.dump("rollout_data/3.pt", self.rollout(reward={"score": 0.25, "format": 1}))
        rows, schema = self.convert("slime_to_parquet.py", self.dir)
        self.assertNotIn("logprob", schema.names)
        self.near(rows[0]["logprob_rollout"], [-0.5] * 3)
        self.assertEqual((rows[0]["reward"], rows[0]["reward/format"], rows[0]["step"]), (0.25, 1.0, 3))

    def test_unequal_lengths_and_broken_files(self):
        bad = self.rollout()
        bad["samples"][0]["rollout_log_probs"] = [-1.0]
        self.dump("rollout_data/1.pt", bad)
        self.assertIn("1 values of logprob_rollout, but 3", self.convert("slime_to_parquet.py", self.dir, fails=True))
        path = self.dir / "rollout_data/1.pt"
        path.write_bytes(path.read_bytes()[:200])
        self.assertIn("1.pt", self.convert("slime_to_parquet.py", self.dir, fails=True))
        self.assertIn("no such", self.convert("slime_to_parquet.py", self.dir / "gone", fails=True))


class Verl(Case):
    def batch(self):
        ramp = -torch.arange(1, 9, dtype=torch.float32).view(2, 4) / 10
        return {
            "prompts": torch.tensor([[0, 1, 2], [1, 2, 3]]),
            "responses": torch.tensor([[4, 5, 0, 0], [6, 7, 8, 9]]),
            "attention_mask": torch.tensor([[0, 1, 1, 1, 1, 0, 0], [1] * 7]),
            "response_mask": torch.tensor([[1, 1, 0, 0], [1, 0, 1, 1]]),
            "old_log_probs": ramp,
            "rollout_log_probs": ramp * 2,
            "entropys": -ramp,
            "advantages": torch.ones(2, 4),
            "token_level_scores": torch.tensor([[0, 1.0, 0, 0], [0, 0, 0, 0.5]]),
        }

    def save(self, name, state):
        cls = fake("verl.protocol", "DataProto", __getstate__=lambda self: state)
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(cls()))

    def check(self, rows, step):
        self.assertEqual([row["token_id"] for row in rows], [[4, 5], [6, 7, 8, 9]])
        self.assertEqual([row["prompt_ids"] for row in rows], [[1, 2], [1, 2, 3]])
        self.assertEqual(rows[1]["mask"], [True, False, True, True])
        self.near(rows[0]["logprob"], [-0.1, -0.2])
        self.near(rows[1]["logprob_rollout"], [-1.0, -1.2, -1.4, -1.6])
        self.near(rows[1]["entropy"], [0.5, 0.6, 0.7, 0.8])
        self.assertEqual([row["reward"] for row in rows], [1.0, 0.5])
        self.assertEqual([row["group_id"] for row in rows], ["u1", "u1"])
        self.assertEqual({row["step"] for row in rows}, {step})

    others = {"uid": np.array(["u1", "u1"], object), "data_source": np.array(["math", "math"], object)}

    def test_numpy_form(self):
        def encode(t):
            return str(t.dtype).removeprefix("torch."), tuple(t.shape), t.flatten().contiguous().view(torch.uint8).numpy()

        encoded = {name: encode(t) for name, t in self.batch().items()}
        self.save("31/gen_batch.dp", (((2,), None, encoded), self.others, {}))
        rows, _ = self.convert("verl_dataproto_to_parquet.py", self.dir)
        self.check(rows, 31)
        self.assertEqual(rows[0]["source"], "math")

    def test_dict_of_tensors_in_torch_form(self):
        buffer = io.BytesIO()
        torch.save(self.batch(), buffer)
        self.save("a.dp", (buffer, self.others, {"global_steps": 8, "config": fake("omegaconf", "DictConfig")()}))
        self.check(self.convert("verl_dataproto_to_parquet.py", self.dir / "a.dp")[0], 8)

    def test_tensordicts(self):
        try:
            from tensordict import TensorDict
        except ImportError:
            self.skipTest("tensordict is not installed")
        batch = TensorDict(self.batch(), batch_size=[2])
        for step, packed in enumerate([batch, batch.contiguous().consolidate()]):
            buffer = io.BytesIO()
            torch.save(packed, buffer)
            self.save(f"genstep_00000{step}/gen_batch.dp", (buffer, self.others, {}))
            self.check(self.convert("verl_dataproto_to_parquet.py", self.dir / f"genstep_00000{step}")[0], step)

    def test_transfer_queue_batches_are_jagged(self):
        jagged = {}
        for name, t in self.batch().items():
            if name == "attention_mask":
                continue
            rows = [t[0][1:], t[1]] if name == "prompts" else [t[0][:2], t[1]]
            jagged[name] = torch.nested.as_nested_tensor(rows, layout=torch.jagged)
        path = self.dir / "5" / "tq_batch.pt"
        path.parent.mkdir()
        keys = ["u1_0_0", "u1_0_1"]
        torch.save({"tensordict": jagged, "tags": [{}, {}], "keys": keys, "global_steps": 5}, path)
        self.check(self.convert("verl_dataproto_to_parquet.py", self.dir)[0], 5)

    def test_pickles_run_nothing(self):
        marker = self.dir / "ran"

        class Evil:
            def __reduce__(self):
                return os.system, (f"touch {marker}",)

        self.save("1/gen_batch.dp", (Evil(), {}, {}))
        self.convert("verl_dataproto_to_parquet.py", self.dir, fails=True)
        self.assertFalse(marker.exists())

    def test_without_responses(self):
        self.save("1/gen_batch.dp", (((2,), None, {}), {}, {}))
        self.assertIn("responses", self.convert("verl_dataproto_to_parquet.py", self.dir, fails=True))


class SkyRl(Case):
    def tensors(self):
        return {
            "sequences": torch.tensor([[0, 0, 1, 2, 5, 6, 7], [1, 2, 3, 4, 9, 8, 7]]),
            "attention_mask": torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7]),
            "response_mask": torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1]]),
            "loss_mask": torch.tensor([[0, 1, 0, 1], [1, 1, 1, 1.0]]),
            "action_log_probs": torch.tensor([[0, -0.1, -0.2, -0.3], [-0.4, -0.5, -0.6, -0.7]]),
            "rollout_logprobs": torch.tensor([[0, -0.1, 0, -0.3], [-0.4, -0.5, -0.6, -0.7]]),
            "advantages": torch.ones(2, 4),
            "base_action_log_probs": None,
        }

    def blob(self, t):
        buffer = io.BytesIO()
        torch.save(t, buffer)
        return {"type": "none", "data": None} if t is None else {"type": "tensor", "data": buffer.getvalue()}

    def numpy_blob(self, t):
        return None if t is None else {"format": "numpy", "data": t.numpy().tobytes(), "dtype": str(t.numpy().dtype), "shape": tuple(t.shape)}

    def test_left_padded_batches(self):
        for step, encode in enumerate([self.blob, self.numpy_blob]):
            state = {
                "batch_dict": {name: encode(t) for name, t in self.tensors().items()},
                "batch_size": 2, "device": torch.device("cpu"), "metadata": {"policy_prompt_boundaries": [(0, 1), (1, 2)]},
            }  # fmt: skip
            cls = fake("skyrl_train.training_batch", "TrainingInputBatch", bases=(dict,), __getstate__=lambda self, s=state: s)
            batch = cls({k: v for k, v in self.tensors().items() if v is not None})
            path = self.dir / f"global_step_{step + 4}_training_input.pkl"
            path.write_bytes(pickle.dumps(batch))
            rows, schema = self.convert("skyrl_to_parquet.py", path)
            self.assertEqual([row["prompt_ids"] for row in rows], [[1, 2], [1, 2, 3]])
            self.assertEqual([row["token_id"] for row in rows], [[5, 6, 7], [4, 9, 8, 7]])
            self.assertEqual(rows[0]["mask"], [True, False, True])
            self.near(rows[0]["logprob"], [-0.1, -0.2, -0.3])
            self.near(rows[0]["logprob_rollout"], [-0.1, np.nan, -0.3])
            self.assertEqual([row["group_id"] for row in rows], ["0", "1"])
            self.assertEqual(rows[0]["step"], step + 4)
            self.assertNotIn("logprob_ref", schema.names)


class Oat(Case):
    def test_buffers(self):
        transition = fake("oat.types", "TransitionData")
        items = []
        for ids, keep in (([4, 5], True), ([6], False)):
            item = transition()
            item.__dict__.update(
                prompt="p", prompt_ids=[1, 2], response="r", response_ids=ids, loss_mask=keep, info={},
                response_logprobs=[-0.1] * len(ids), rewards=[0.0] * (len(ids) - 1) + [1.0],
            )  # fmt: skip
            items.append(item)
        for name, content in (("buffer_step00017.pkl", deque(items)), ("all_buffer.pkl", [[items[0]], [items[1]]])):
            path = self.dir / name
            path.write_bytes(pickle.dumps(content))
            rows, _ = self.convert("oat_to_parquet.py", path)
            self.assertEqual([row["token_id"] for row in rows], [[4, 5], [6]])
            self.assertEqual([row["mask"] for row in rows], [[True, True], [False]])
            self.near(rows[0]["logprob_rollout"], [-0.1, -0.1])
            self.assertEqual([row["reward"] for row in rows], [1.0, 1.0])
            self.assertEqual(rows[0]["step"], 17 if "step" in name else 0)


class CommandLines(Case):
    def test_help(self):
        for script in HERE.glob("*_to_parquet.py"):
            done = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0)
            self.assertIn("-o", done.stdout)


if __name__ == "__main__":
    unittest.main()
