"""Token logs from verl, without a fork. Start training with this module instead of verl's own main:

    python -m stapo_analyze.verl trainer.rollout_data_dir=rollouts +trainer.token_log.every=10 \\
        +trainer.token_log.responses=256 data.train_files=… (the rest as for verl.trainer.main_ppo)
    $ stapo-analyze rollouts_tokens --report out/

or put TokenLogV1 (verl ≥ 0.9, `use_v1`) or TokenLogV0 (RayPPOTrainer) before your own trainer class.
verl computes the entropy of every token and throws it away (V0) or drops it after the step (V1);
both are kept here. Nothing is computed twice. Settings under `trainer.token_log` are those of
TokenLog; the folder is `{rollout_data_dir}_tokens` unless said.

Logged: ids of prompt and response, group (`uid`), reward and the reward function's numbers, `advantage`,
`mask`, `turn` (multi-turn rollouts), `truncated`, `policy_version` (V1: the oldest weights that wrote of it),
`logprob` (old policy), `entropy`, `logprob_rollout`, `logprob_ref`, `is_weight`; V0 with
`actor_rollout_ref.actor.calculate_sum_pi_squared=True` also `sum_pi_sq`. In `bypass_mode` verl has no
entropy: stapo-analyze then says what it cannot compute.

The package has to be installed on every node, since Ray imports it there.
"""

import numbers

import numpy as np

from .token_log import TokenLog
from .turns import turns

STREAMS = {
    "logprob": "old_log_probs", "logprob_rollout": "rollout_log_probs", "logprob_ref": "ref_log_prob",
    "advantage": "advantages", "is_weight": "rollout_is_weights", "mask": "response_mask",
    "sum_pi_sq": "sum_pi_squared",
}  # fmt: skip
V1_FIELDS = ["prompts", "responses", "rm_scores", "entropy", "extra_fields", *STREAMS.values()]
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
        tags = {batch.keys[i]: batch.tags[i] for i in real}
        keys = list(tags)
        there = _present(tq, keys, batch.partition_id)
        for start in range(0, len(keys), 256):  # the queue holds the batch: no need to hold it twice
            part = keys[start : start + 256]
            data = tq.kv_batch_get(keys=part, partition_id=batch.partition_id, select_fields=there)
            extra = data["extra_fields"] if "extra_fields" in there else [{}] * len(part)
            extra = extra.tolist() if hasattr(extra, "tolist") else list(extra)
            rows = _rows(self, {name: data[name] for name in there if name != "extra_fields"}, "entropy", "rm_scores")
            for row, key, facts in zip(rows, part, extra):
                group, *_ = key.rsplit("_", 2)  # uid_session_index
                parts = facts.get("reward_extra_info") if isinstance(facts, dict) else None
                log.add(
                    self.global_steps, group_id=group, sample_id=key, policy_version=tags[key].get("min_global_steps"),
                    **row, **_reward_parts(parts or {}),
                )  # fmt: skip
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
        infos = {name: list(values) for name, values in reward_extra_infos_dict.items() if len(values) == len(uids)}
        for i, row in enumerate(_rows(self, batch.batch, V0_ENTROPY, "token_level_scores")):
            parts = _reward_parts({name: values[i] for name, values in infos.items()})
            log.add(self.global_steps, group_id=uids[i], sample_id=i, **row, **parts)
        log.finish(self.global_steps)


def _rows(trainer, tensors, entropy, scores):
    """A row a response from padded (V0) or jagged (V1) tensors."""
    names = {"token_id": "responses", "entropy": entropy} | STREAMS
    columns = {name: tensors[raw].unbind() for name, raw in names.items() if raw in tensors.keys()}
    prompts, attention = tensors["prompts"].unbind(), None
    if "attention_mask" in tensors.keys():
        attention = tensors["attention_mask"].bool()
    rewards = tensors[scores].unbind() if scores in tensors.keys() else None
    rollout = trainer.config.actor_rollout_ref.rollout
    longest, multi_turn = rollout.get("response_length"), (rollout.get("multi_turn") or {}).get("enable")
    for i, response in enumerate(columns["token_id"]):
        width, prompt = len(response), prompts[i]
        length = width if attention is None else int(attention[i, -width:].sum())
        row = {name: values[i] for name, values in columns.items()}
        # A weight a sequence instead of a token: (B, 1).
        row = {name: v.expand(width) if v.numel() == 1 else v for name, v in row.items()}
        row = {name: values[:length] for name, values in row.items()}
        row["prompt_ids"] = prompt if attention is None else prompt[attention[i, :-width]]
        row["reward"] = None if rewards is None else rewards[i].sum()
        if longest is not None:
            cut = length >= longest and int(response[length - 1]) != trainer.tokenizer.eos_token_id
            row |= {"truncated": cut, "finish_reason": "length" if cut else "stop"}
        if multi_turn and "mask" in row:
            row["turn"] = turns(row["mask"])
        yield row


def _reward_parts(infos):
    """The numbers that the reward function gave besides its score."""
    good = {name: value for name, value in infos.items() if isinstance(value, (numbers.Real, np.bool_))}
    return {f"reward/{name}": float(value) for name, value in good.items()}


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
            "algorithm": config.algorithm.adv_estimator, "tokenizer": trainer.tokenizer,
            "clip_low": actor.get("clip_ratio_low"), "clip_high": actor.get("clip_ratio_high"),
            "learning_rate": (actor.get("optim") or {}).get("lr"),
        } | dict(config.trainer.get("token_log") or {})))  # fmt: skip
        trainer.token_log.start(trainer.global_steps)
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
