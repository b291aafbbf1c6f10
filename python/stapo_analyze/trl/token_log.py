"""Token logs from TRL's GRPOTrainer.

A step of the log is one pass over one generation, under the number of its first optimizer step; `update`
counts the optimizer steps inside of it, `policy_version` is the optimizer step at which it was generated.
Whole generations are logged, with all passes over them. Logged a response: ids of prompt and completion,
group, sample, reward and each function's part, advantage, `truncated`, `finish_reason`. A token: `logprob`
and `entropy` of the policy before the update, `sum_pi_sq` of the same distribution (TRL's fused head
computes it; older versions: from the logits), `logprob_new` where TRL tells old and new apart,
`logprob_rollout` and `is_weight` with vLLM, `logprob_ref` with beta ≠ 0, `mask` and `turn` with tools.

Not with unsloth, which replaces the methods that this one listens to.
"""

import math
import warnings

import torch
import trl
from accelerate.utils import broadcast_object_list
from transformers import TrainerCallback

from ..callback import StapoCallback
from ..token_log import TokenLog
from ..turns import turns
from .scores import PREFIX, ScoresMixin, innermost


def with_token_log(trainer_class, folder="token_log", **settings):
    """`trainer_class` (GRPOTrainer or one of its own) with a token log; settings are those of TokenLog."""
    made = {"folder": folder} | settings

    class Trainer(TokenLogMixin, trainer_class):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, token_log=made, **kwargs)

    Trainer.__name__ = Trainer.__qualname__ = trainer_class.__name__
    return Trainer


class TokenLogMixin(ScoresMixin):
    """Comes before GRPOTrainer among the bases. `token_log`: settings of TokenLog, or a folder."""

    def __init__(self, *args, token_log, **kwargs):
        super().__init__(*args, **kwargs)
        settings = dict(token_log) if isinstance(token_log, dict) else {"folder": token_log}
        self._generated = 0  # responses of all ranks so far: their ids
        self._generated_at = 0  # optimizer step
        self.token_log = TokenLog(**({
            "vocab_size": innermost(self, self.model).config.get_text_config().vocab_size,
            "temperature": self.temperature, "top_p": self.args.top_p, "top_k": self.args.top_k,
            "algorithm": self.args.loss_type, "clip_low": self.epsilon_low, "clip_high": self.epsilon_high,
            "delta": self.args.delta, "beta": self.beta, "learning_rate": self.args.learning_rate,
            "framework": "trl", "framework_version": trl.__version__, "tokenizer": self.processing_class,
            "rank": self.accelerator.process_index, "ranks": self.accelerator.num_processes,
        } | settings))  # fmt: skip
        self.add_callback(_Steps(self))
        for callback in [c for c in self.callback_handler.callbacks if isinstance(c, StapoCallback)]:
            callback.attach(self)

    def _log_step(self):
        """The step of the log that an update now belongs to, and the update's number in it."""
        length = max(1, math.ceil(self.args.steps_per_generation / self.args.gradient_accumulation_steps))
        since = self.state.global_step - self._generated_at
        return self._generated_at + since // length * length, since % length, length

    def _wants_scores(self):
        return self.token_log.wants(self._generated_at) or super()._wants_scores()

    def _wants_loss(self):
        return self.token_log.wants(self._log_step()[0]) or super()._wants_loss()

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list, *args, **kwargs):
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list, *args, **kwargs)
        self._rewards = rewards  # of all ranks, a column a function
        ends = getattr(self, "eos_token_ids", None) or [self._tokenizer.eos_token_id]
        self._lengths = [len(ids) for ids in completion_ids_list]
        self._truncated = [len(ids) > 0 and int(ids[-1]) not in ends for ids in completion_ids_list]
        return rewards

    def _generate_and_score_completions(self, inputs):
        if self.model.training:
            self._generated_at = self.state.global_step
            used = self.args.steps_per_generation * self.num_iterations
            self.token_log.choose(self._generated_at, math.ceil(used / self.args.gradient_accumulation_steps))
        out = super()._generate_and_score_completions(inputs)
        if not self.model.training:
            return out
        # Tensors of a row a response are shuffled and split with the rest of the batch.
        device, size = out["completion_ids"].device, len(out["completion_ids"])
        first = size * self.accelerator.process_index
        facts = {"sample": torch.arange(size) + self._generated + first, "rewards": self._rewards[first : first + size],
                 "length": torch.tensor(self._lengths), "truncated": torch.tensor(self._truncated),
                 "policy_version": torch.full((size,), self._generated_at)}  # fmt: skip
        self._generated += size * self.accelerator.num_processes
        out.update({PREFIX + name: values.to(device) for name, values in facts.items()})
        return out

    def _compute_loss(self, model, inputs):
        loss = super()._compute_loss(model, inputs)
        step, update, length = self._log_step()
        if self.model.training and self.token_log.wants(step):
            self._log(step, update if length > 1 else None, inputs, self._at_loss)
        return loss

    def _log(self, step, update, inputs, at_loss):
        ours = {name.removeprefix(PREFIX): values for name, values in inputs.items() if name.startswith(PREFIX)}
        old, ids = inputs.get("old_per_token_logps"), inputs["completion_ids"]
        policy = at_loss if "logprob" not in ours and old is None else {"logprob": old} | ours
        tools = ours.get("tool_mask", inputs.get("tool_mask"))  # ours: before S2T
        mask = None
        if tools is not None or getattr(self, "mask_truncated_completions", False):
            mask = inputs["completion_mask"] if tools is None else inputs["completion_mask"] * tools
        rewards, is_weight, sample = ours["rewards"], inputs.get("importance_sampling_ratio"), ours["sample"]
        parts = {f"reward/{name}": rewards[:, i] for i, name in enumerate(self.reward_func_names)}
        reward = (rewards * self.reward_weights.to(rewards.device)).nansum(-1)
        reward[rewards.isnan().all(-1)] = math.nan  # no function had an opinion
        rows = len(ids)
        self.token_log.add_batch(
            step, length=ours["length"], update=None if update is None else [update] * rows, token_id=ids,
            prompt_ids=[p[m.bool()] for p, m in zip(inputs["prompt_ids"], inputs["prompt_mask"])],
            group_id=sample // self.num_generations, sample_id=sample, policy_version=ours["policy_version"],
            truncated=ours["truncated"], finish_reason=["length" if cut else "stop" for cut in ours["truncated"]],
            advantage=inputs["advantages"], reward=reward, logprob=policy["logprob"], entropy=policy.get("entropy"),
            sum_pi_sq=policy.get("sum_pi_sq"), logprob_new=None if old is None else at_loss["logprob"],
            logprob_rollout=inputs.get("sampling_per_token_logps"), logprob_ref=inputs.get("ref_per_token_logps"),
            is_weight=None if is_weight is None else is_weight.expand(ids.shape), mask=mask, turn=turns(tools), **parts,
        )  # fmt: skip


class _Steps(TrainerCallback):
    """Begins and ends what the log calls a step."""

    def __init__(self, trainer):
        self.trainer, self.log, self.warned = trainer, trainer.token_log, False

    def on_train_begin(self, args, state, control, **kwargs):
        if self.log.rank == 0:
            self.log.start(state.global_step)
        shared = [self.log.run_id]
        broadcast_object_list(shared)
        self.log.run_id = shared[0]
        self.log.start(state.global_step)

    def on_step_end(self, args, state, control, **kwargs):
        state.global_step -= 1  # it has been counted already
        step, update, length = self.trainer._log_step()
        state.global_step += 1
        if self.log.wants(step) and self.log.step != step and not self.warned:
            self.warned = True
            warnings.warn(
                f"step {step}: no response reached the token log. Does something replace GRPOTrainer._compute_loss "
                "(unsloth, a Liger loss)?"
            )
        if update == length - 1:
            self.log.finish(step)

    def on_train_end(self, args, state, control, **kwargs):
        self.log.finish()
