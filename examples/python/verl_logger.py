#!/usr/bin/env python3
"""Token logs from verl, without a fork. Start training with this file instead of verl's own main:

    python verl_logger.py trainer.rollout_data_dir=rollouts +trainer.token_log.every=10 \
        +trainer.token_log.responses=256 data.train_files=… (the rest as for verl.trainer.main_ppo)
    $ stapo-analyze rollouts_tokens --report out/

or put TokenLogV1 (verl ≥ 0.9, `use_v1`) or TokenLogV0 (RayPPOTrainer) before your own trainer class.
verl computes the entropy of every token and throws it away (V0) or drops it after the step (V1);
both are kept here. Nothing is computed twice. Settings under `trainer.token_log` are those of
TokenLog; the folder is `{rollout_data_dir}_tokens` unless said.

Logged: ids of prompt and response, group (`uid`), reward, `advantage`, `mask`, `logprob` (old policy),
`entropy`, `logprob_rollout`, `logprob_ref`, `is_weight`; V0 with
`actor_rollout_ref.actor.calculate_sum_pi_squared=True` also `sum_pi_sq`. In `bypass_mode` verl has no
entropy: stapo-analyze then says what it cannot compute.

Tested (test_verl_logger.py) with the trainer classes, DataProto and TransferQueue of verl 0.9.1 on a
CPU. NOT tested in a running verl training, which needs a GPU. Needs stapo_log.py beside it, and
on every node (PYTHONPATH), since Ray imports it there.
"""

import numpy as np
from stapo_log import TokenLog

STREAMS = {
    "logprob": "old_log_probs", "logprob_rollout": "rollout_log_probs", "logprob_ref": "ref_log_prob",
    "advantage": "advantages", "is_weight": "rollout_is_weights", "mask": "response_mask",
    "sum_pi_sq": "sum_pi_squared",
}  # fmt: skip
V1_FIELDS = ["prompts", "responses", "rm_scores", "entropy", *STREAMS.values()]
V0_ENTROPY = "token_log_entropy"  # travels with the batch, where verl pops its own `entropys`


class TokenLogV1:
    """Before a V1 trainer (PPOTrainerSync, …) among the bases."""

    def _log_rollout_data(self, batch, timing_raw, rollout_data_dir):
        super()._log_rollout_data(batch, timing_raw, rollout_data_dir)
        log = _log_of(self)
        if not log.wants(self.global_steps):
            return
        import transfer_queue as tq

        real = [i for i, tag in enumerate(batch.tags) if not tag.get("is_padding", False)]
        keys = [batch.keys[i] for i in real]
        there = _present(tq, keys, batch.partition_id)
        for start in range(0, len(keys), 256):  # the queue holds the batch: no need to hold it twice
            part = keys[start : start + 256]
            data = tq.kv_batch_get(keys=part, partition_id=batch.partition_id, select_fields=there)
            for row, key in zip(_rows({name: data[name] for name in there}, "entropy", "rm_scores"), part):
                group, *_ = key.rsplit("_", 2)  # uid_session_index
                log.add(self.global_steps, group_id=group, sample_id=key, **row)
        log.finish(self.global_steps)


class TokenLogV0:
    """Before RayPPOTrainer among the bases."""

    def _compute_old_log_prob(self, batch):
        result = super()._compute_old_log_prob(batch)
        scored = result[0] if isinstance(result, tuple) else result
        if self.config.trainer.get("rollout_data_dir") and _log_of(self).wants(self.global_steps):
            scored.batch[V0_ENTROPY] = scored.batch["entropys"]
        return result

    def _log_rollout_data(self, batch, reward_extra_infos_dict, timing_raw, rollout_data_dir):
        super()._log_rollout_data(batch, reward_extra_infos_dict, timing_raw, rollout_data_dir)
        log = _log_of(self)
        if not log.wants(self.global_steps):
            return
        uids = batch.non_tensor_batch.get("uid", np.arange(len(batch)))
        for i, row in enumerate(_rows(batch.batch, V0_ENTROPY, "token_level_scores")):
            log.add(self.global_steps, group_id=uids[i], sample_id=i, **row)
        log.finish(self.global_steps)


def _rows(tensors, entropy, scores):
    """A row a response from padded (V0) or jagged (V1) tensors."""
    names = {"token_id": "responses", "entropy": entropy} | STREAMS
    columns = {name: tensors[raw].unbind() for name, raw in names.items() if raw in tensors.keys()}
    prompts, attention = tensors["prompts"].unbind(), None
    if "attention_mask" in tensors.keys():
        attention = tensors["attention_mask"].bool()
    rewards = tensors[scores].unbind() if scores in tensors.keys() else None
    for i, response in enumerate(columns["token_id"]):
        width, prompt = len(response), prompts[i]
        length = width if attention is None else int(attention[i, -width:].sum())
        row = {name: values[i] for name, values in columns.items()}
        # A weight a sequence instead of a token: (B, 1).
        row = {name: v.expand(width) if v.numel() == 1 else v for name, v in row.items()}
        row = {name: values[:length] for name, values in row.items()}
        row["prompt_ids"] = prompt if attention is None else prompt[attention[i, :-width]]
        row["reward"] = None if rewards is None else rewards[i].sum()
        yield row


def _present(tq, keys, partition_id):
    """The fields that the queue has: which ones depends on the settings of the run."""
    first = tq.kv_batch_get(keys=keys[:1], partition_id=partition_id)
    return [name for name in V1_FIELDS if name in first.keys()]


def _log_of(trainer):
    """The trainer's log, made when it is first asked for."""
    if not hasattr(trainer, "token_log"):
        config = trainer.config
        rollout, actor = config.actor_rollout_ref.rollout, config.actor_rollout_ref.actor
        trainer.token_log = TokenLog(**({
            "folder": f"{config.trainer.rollout_data_dir}_tokens", "vocab_size": len(trainer.tokenizer),
            "temperature": rollout.temperature, "top_p": rollout.top_p, "framework": "verl",
            "algorithm": config.algorithm.adv_estimator,
            "clip_low": actor.get("clip_ratio_low"), "clip_high": actor.get("clip_ratio_high"),
        } | dict(config.trainer.get("token_log") or {})))  # fmt: skip
    return trainer.token_log


def install():
    """Gives every trainer of this process a token log. Runs where the trainer runs: in Ray's task."""
    from verl.trainer import main_ppo_v0
    from verl.trainer.ppo.v1 import trainer_base

    for name, trainer in list(trainer_base.TRAINER_REGISTRY.items()):
        if not issubclass(trainer, TokenLogV1):
            trainer_base.TRAINER_REGISTRY[name] = type(trainer.__name__, (TokenLogV1, trainer), {})
    if not issubclass(main_ppo_v0.RayPPOTrainer, TokenLogV0):
        main_ppo_v0.RayPPOTrainer = type("RayPPOTrainer", (TokenLogV0, main_ppo_v0.RayPPOTrainer), {})


def with_token_log(task_runner):
    """verl's task runner (a Ray actor class), with the logs installed before it runs."""
    import ray

    class TaskRunner(task_runner.__ray_metadata__.modified_class):
        def run(self, config):
            if not config.trainer.get("rollout_data_dir"):
                raise ValueError("set trainer.rollout_data_dir: verl asks for a dump only where it is set")
            install()
            return super().run(config)

    return ray.remote(TaskRunner)


def main():
    from verl.trainer import main_ppo, main_ppo_v0

    main_ppo.TaskRunnerV1 = with_token_log(main_ppo.TaskRunnerV1)
    main_ppo_v0.TaskRunner = with_token_log(main_ppo_v0.TaskRunner)
    main_ppo.main()


if __name__ == "__main__":
    main()
