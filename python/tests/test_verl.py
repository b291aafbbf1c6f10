"""stapo_analyze.verl with verl's own trainer classes, DataProto and TransferQueue, without a training.

Needs verl 0.9 and TransferQueue; no GPU. The trainers are made without their workers (those need a GPU); their
own methods run, with a stand-in for the actor's forward pass.
"""

import sys
import unittest
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from support import Case as Folder

pytest.importorskip("verl")

import torch
from omegaconf import OmegaConf
from tensordict import NonTensorData, NonTensorStack, TensorDict
from verl.protocol import DataProto

import stapo_analyze.verl as verl_logger
from stapo_analyze.verl import TokenLogV0, TokenLogV1, install

PROMPTS = [[1, 2], [1, 2, 3], [1, 2, 3]]
RESPONSES = [[4, 5], [6, 7, 8, 9], [6, 6, 6]]
MASKS = [[1, 1], [1, 0, 1, 1], [1, 1, 1]]
SCORES = [1.0, 0.5, 0.0]


def value(name, row):
    """A number for each token of a response, different for each column."""
    ramp = 0.1 * (row + 1) + 0.01 * np.arange(len(RESPONSES[row]))
    return {"old_log_probs": -ramp, "entropy": 2 * ramp, "rollout_log_probs": -ramp - 0.001, "advantages": ramp - 0.2}[
        name
    ]


class Tokenizer:
    pad_token_id, eos_token_id = 0, 9

    def __len__(self):
        return 256

    def decode(self, ids, skip_special_tokens=True):
        return " ".join(map(str, ids.tolist()))

    def batch_decode(self, rows, skip_special_tokens=True):
        return [self.decode(row) for row in rows]


class Case(Folder):
    def trainer(self, mixin, base, step):
        """A trainer of the real class, without workers."""
        trainer = object.__new__(type("Trainer", (mixin, base), {"__abstractmethods__": frozenset()}))
        trainer.tokenizer, trainer.global_steps = Tokenizer(), step
        rollout = {"temperature": 0.9, "top_p": 1.0, "response_length": 3, "multi_turn": {"enable": True}}
        actor = {"clip_ratio_low": 0.2, "clip_ratio_high": 0.28, "calculate_sum_pi_squared": False}
        trainer.config = OmegaConf.create({
            "trainer": {"rollout_data_dir": str(self.dir / "rollouts"), "token_log": {"every": 2}},
            "algorithm": {"adv_estimator": "grpo"}, "actor_rollout_ref": {"rollout": rollout, "actor": actor},
        })  # fmt: skip
        trainer._init_dump_executor()
        self.addCleanup(trainer._shutdown_dump_executor)
        return trainer

    def logged(self, step):
        table = pq.read_table(self.dir / f"rollouts_tokens/step_{step:08}/rank_00000.parquet")
        self.assertTrue((self.dir / f"rollouts_tokens/step_{step:08}/STABLE").exists())
        self.assertEqual(table.schema.metadata[b"temperature"], b"0.9")
        self.assertEqual(table.schema.metadata[b"clip_high"], b"0.28")
        return table.to_pylist()

    def check(self, rows):
        self.assertEqual([row["token_id"] for row in rows], RESPONSES)
        self.assertEqual([row["prompt_ids"] for row in rows], PROMPTS)
        self.assertEqual([row["mask"] for row in rows], [[bool(v) for v in m] for m in MASKS])
        self.assertEqual([row["reward"] for row in rows], SCORES)
        self.assertEqual([row["reward/acc"] for row in rows], [1.0, 0.0, 0.0])
        self.assertEqual([row["truncated"] for row in rows], [False, False, True])  # the second ends with <eos>
        self.assertEqual([row["finish_reason"] for row in rows], ["stop", "stop", "length"])
        self.assertEqual([row["turn"] for row in rows], [[0, 0], [0, 1, 1, 1], [0, 0, 0]])
        self.assertEqual([row["group_id"] for row in rows], ["u0", "u1", "u1"])
        names = {
            "logprob": "old_log_probs",
            "entropy": "entropy",
            "logprob_rollout": "rollout_log_probs",
            "advantage": "advantages",
        }
        for i, row in enumerate(rows):
            for name, raw in names.items():
                np.testing.assert_allclose(row[name], value(raw, i), 1e-6, err_msg=f"{name} of {i}")


class V0(Case):
    def batch(self):
        """Left-padded prompts, right-padded responses, as RayPPOTrainer has them."""
        prompts, responses = torch.zeros(3, 3, dtype=torch.long), torch.zeros(3, 4, dtype=torch.long)
        attention, mask = torch.zeros(3, 7, dtype=torch.long), torch.zeros(3, 4, dtype=torch.long)
        columns = {name: torch.zeros(3, 4) for name in ("rollout_log_probs", "advantages", "token_level_scores")}
        for i, (prompt, response) in enumerate(zip(PROMPTS, RESPONSES)):
            n = len(response)
            prompts[i, 3 - len(prompt) :], responses[i, :n] = torch.tensor(prompt), torch.tensor(response)
            attention[i, 3 - len(prompt) : 3 + n], mask[i, :n] = 1, torch.tensor(MASKS[i])
            for name in ("rollout_log_probs", "advantages"):
                columns[name][i, :n] = torch.from_numpy(value(name, i))
            columns["token_level_scores"][i, n - 1] = SCORES[i]
        tensors = {
            "prompts": prompts, "responses": responses, "input_ids": torch.cat([prompts, responses], 1),
            "attention_mask": attention, "position_ids": attention.cumsum(1) - 1, "response_mask": mask,
        }  # fmt: skip
        return DataProto.from_dict(tensors | columns, {"uid": np.array(["u0", "u1", "u1"], object)})

    def forward(self, batch):
        """What the actor's workers return: jagged, over prompt and response, shifted by one."""
        rows = {"log_probs": [], "entropy": []}
        for i, (prompt, response) in enumerate(zip(PROMPTS, RESPONSES)):
            for name, raw in (("log_probs", "old_log_probs"), ("entropy", "entropy")):
                whole = torch.full((len(prompt) + len(response),), 9.0)
                whole[len(prompt) - 1 : -1] = torch.from_numpy(value(raw, i))
                rows[name].append(whole)
        out = {name: torch.nested.as_nested_tensor(v, layout=torch.jagged) for name, v in rows.items()}
        return TensorDict(out | {"metrics": NonTensorData({"mfu": 0.0})}, batch_size=[3])

    def test_a_step(self):
        from verl.trainer.ppo.ray_trainer import RayPPOTrainer

        for step in (6, 7):
            trainer, batch = self.trainer(TokenLogV0, RayPPOTrainer, step), self.batch()
            trainer.actor_rollout_wg = SimpleNamespace(compute_log_prob=self.forward)
            scored, _ = trainer._compute_old_log_prob(batch)
            scored.batch.pop("entropys")  # as fit() does
            batch = batch.union(scored)
            batch.reorder(torch.tensor([1, 2, 0]))
            batch.reorder(torch.tensor([2, 0, 1]))
            infos = {"acc": np.array([True, False, False]), "note": ["a", "b", "c"]}
            trainer._log_rollout_data(batch, infos, {}, str(self.dir / "rollouts"))
        self.check(self.logged(6))
        self.assertEqual([p.name for p in (self.dir / "rollouts_tokens").glob("step_*")], ["step_00000006"])  # every=2
        trainer._shutdown_dump_executor()
        self.assertTrue((self.dir / "rollouts/6.jsonl").exists())  # verl's own dump is still written


class V1(Case):
    @classmethod
    def setUpClass(cls):
        import ray
        import transfer_queue as tq

        # The queue's actors ask for a CPU each; Ray only counts them.
        ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False)
        tq.init()

    @classmethod
    def tearDownClass(cls):
        import ray
        import transfer_queue as tq

        tq.close()
        ray.shutdown()

    def test_a_step(self):
        import transfer_queue as tq
        from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

        def jagged(rows):
            rows = [
                torch.as_tensor(row).float() if np.asarray(row).dtype.kind == "f" else torch.as_tensor(row)
                for row in rows
            ]
            return torch.nested.as_nested_tensor(rows, layout=torch.jagged)

        order = [0, 1, 2, 0]  # the last one is padding, which verl adds to divide the batch
        scores = [[0.0] * (len(RESPONSES[i]) - 1) + [SCORES[i]] for i in order]
        fields = {
            "prompts": jagged([PROMPTS[i] for i in order]), "responses": jagged([RESPONSES[i] for i in order]),
            "response_mask": jagged([MASKS[i] for i in order]), "rm_scores": jagged(scores),
            "uid": NonTensorStack(*["u0", "u1", "u1", "pad"]), "reward_model": NonTensorStack(*[{"ground_truth": "1"}] * 4),
            "extra_fields": NonTensorStack(*[{"reward_extra_info": {"acc": float(i == 0), "note": "x"}} for i in order]),
        }  # fmt: skip
        for name in ("old_log_probs", "entropy", "rollout_log_probs", "advantages"):
            fields[name] = jagged([value(name, i) for i in order])
        keys = ["u0_0_0", "u1_0_0", "u1_1_0", "pad_0_0"]
        tags = [{"min_global_steps": 3, "max_global_steps": 4}, {"min_global_steps": 2}, {}, {"is_padding": True}]
        batch = tq.kv_batch_put(keys=keys, partition_id="train", fields=TensorDict(fields, batch_size=[4]), tags=tags)
        for step in (3, 4):
            trainer = self.trainer(TokenLogV1, PPOTrainerSync, step)
            trainer._log_rollout_data(batch, {}, str(self.dir / "rollouts"))
        rows = self.logged(4)
        self.check(rows)
        self.assertEqual([row["sample_id"] for row in rows], keys[:3])
        self.assertEqual([row["policy_version"] for row in rows], [3, 2, None])
        self.assertNotIn("logprob_ref", rows[0])
        self.assertEqual([p.name for p in (self.dir / "rollouts_tokens").glob("step_*")], ["step_00000004"])


class Installed(unittest.TestCase):
    def test_all_trainers_have_it(self):
        install()
        install()
        from verl.trainer import main_ppo_v0
        from verl.trainer.ppo.v1 import get_trainer_cls

        for mode in ("sync", "colocate_async", "separate_async"):
            bases = get_trainer_cls(mode).__mro__
            self.assertEqual(bases.count(TokenLogV1), 1)
        self.assertTrue(issubclass(main_ppo_v0.RayPPOTrainer, TokenLogV0))

    def test_the_entry_reads_the_settings(self):
        """Hydra composes verl's configuration with the log's settings; a run without a dump is refused."""
        from verl.trainer import main_ppo

        class Runner:
            def run(self, config):
                return dict(config.trainer.token_log)

        fake = SimpleNamespace(__ray_metadata__=SimpleNamespace(modified_class=Runner))
        runner = verl_logger.with_token_log(fake).__ray_metadata__.modified_class()
        config = OmegaConf.create({"trainer": {"rollout_data_dir": "d", "token_log": {"every": 10}}})
        self.assertEqual(runner.run(config), {"every": 10})
        config.trainer.rollout_data_dir = None
        with self.assertRaisesRegex(ValueError, "rollout_data_dir"):
            runner.run(config)
        seen = []
        original, main_ppo.run_ppo = main_ppo.run_ppo, lambda config, task_runner_class: seen.append(config)
        arguments, sys.argv = sys.argv, ["stapo_analyze.verl", "trainer.rollout_data_dir=d", "+trainer.token_log.every=10",
                                         "actor_rollout_ref.rollout.name=vllm", "trainer.device=cpu", "hydra.output_subdir=null", "hydra/job_logging=none",
                                         "hydra.run.dir=."]  # fmt: skip
        main_ppo.validate_config = lambda **_: None  # it asks for GPUs
        try:
            verl_logger.main()
        finally:
            main_ppo.run_ppo, sys.argv = original, arguments
        self.assertEqual(dict(seen[0].trainer.token_log), {"every": 10})
