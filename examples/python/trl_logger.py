"""Token logs from TRL's GRPOTrainer, without a fork.

    from trl import GRPOConfig, GRPOTrainer
    from trl_logger import TokenLogMixin

    class Trainer(TokenLogMixin, GRPOTrainer):
        pass

    Trainer(model=…, reward_funcs=…, args=GRPOConfig(…), train_dataset=…,
            token_log={"folder": "token_log", "every": 10, "responses": 256}).train()
    $ stapo-analyze token_log --report out/

A step of the log is an optimizer step. Logged a response: ids of prompt and completion, group,
sample, reward (each function's too), advantage. A token: `logprob` and `entropy` of the policy
before the update, `sum_pi_sq` of the same distribution (TRL's fused head computes it; older
versions: from the logits), `logprob_new` where TRL tells old and new apart, `logprob_rollout` and
`is_weight` with vLLM, `logprob_ref` with beta ≠ 0, `mask` with tools. Nothing is computed twice;
the cost is Σπ² in the fused head and a copy of the tensors to the host in logged steps.

Not with unsloth, which replaces the methods that this one listens to. Run with TRL 1.16.0 (and 1.9.0,
before the fused head), transformers 5.22.2, torch 2.15.0, accelerate 1.15.0 on a CPU by trl_demo.py
and test_trl_logger.py; vLLM, tools and several ranks were not. Needs stapo_log.py beside it.
"""

import math
import warnings

import torch
import trl
from stapo_log import TokenLog, logit_stats
from transformers import TrainerCallback
from trl.trainer import utils as trl_utils

PREFIX = "stapo_"


class TokenLogMixin:
    """Comes before GRPOTrainer among the bases. `token_log`: settings of TokenLog, or a folder."""

    def __init__(self, *args, token_log, **kwargs):
        super().__init__(*args, **kwargs)
        settings = dict(token_log) if isinstance(token_log, dict) else {"folder": token_log}
        model = self._innermost(self.model)
        self._generated = 0  # responses of all ranks so far: their ids
        self._scored = None  # what the calls while scoring found, see below
        self.token_log = TokenLog(**({
            "vocab_size": model.config.get_text_config().vocab_size, "temperature": self.temperature,
            "top_p": self.args.top_p, "top_k": self.args.top_k, "algorithm": self.args.loss_type,
            "clip_low": self.epsilon_low, "clip_high": self.epsilon_high, "beta": self.beta,
            "learning_rate": self.args.learning_rate, "framework": "trl", "framework_version": trl.__version__,
            "rank": self.accelerator.process_index, "ranks": self.accelerator.num_processes,
        } | settings))  # fmt: skip
        self.add_callback(_FinishStep(self.token_log))
        add_head = getattr(trl_utils, "add_fused_lm_head", None)
        if add_head is not None:  # the head that GRPOTrainer has just added, with Σπ² besides
            add_head(model, temperature=self.temperature, cast_lm_head_to_fp32=self.args.cast_lm_head_to_fp32,
                     outputs=("log_probs", "entropy", "log_sum_sq_probs"))  # fmt: skip

    def _innermost(self, model):
        """Below accelerate's wrappers and PEFT's: the module whose forward TRL has replaced."""
        model = self.accelerator.unwrap_model(model)
        return model.get_base_model() if hasattr(model, "get_base_model") else model

    def _wanted(self):
        """Whether a step that trains on what is generated now is logged."""
        step, used = self.state.global_step, self.args.steps_per_generation * self.num_iterations
        steps = math.ceil(used / self.args.gradient_accumulation_steps)
        return self.model.training and any(self.token_log.wants(s) for s in range(step, step + steps + 1))

    def _calculate_rewards(self, *args, **kwargs):
        self._rewards = super()._calculate_rewards(*args, **kwargs)  # of all ranks, a column a function
        return self._rewards

    def _generate_and_score_completions(self, inputs):
        self._scored = [] if self._wanted() else None
        out = super()._generate_and_score_completions(inputs)
        scored, self._scored = self._scored or [], None
        if not self.model.training:
            return out
        # Tensors of a row a response are shuffled and split with the rest of the batch.
        ids, size = out["completion_ids"], len(out["completion_ids"])
        first = size * self.accelerator.process_index
        out[PREFIX + "sample"] = torch.arange(size, device=ids.device) + self._generated + first
        self._generated += size * self.accelerator.num_processes
        out[PREFIX + "rewards"] = self._rewards[first : first + size]
        # The policy that generated, where TRL has scored with it: by identity, since the reference
        # is scored by the same method.
        for logprobs, found in scored:
            if logprobs is out.get("old_per_token_logps"):
                out.update({PREFIX + name: values for name, values in found.items()})
        return out

    def _get_per_token_logps_and_entropies(self, model, input_ids, attention_mask, logits_to_keep, *args, **kwargs):
        in_loss = self._scored is None and self.model.training and self.token_log.wants(self.state.global_step)
        if not in_loss and self._scored is None:
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, *args, **kwargs
            )
        parts, done = [], 0

        def listen(_module, _inputs, output):
            nonlocal done
            rows = len(output.log_probs if getattr(output, "log_probs", None) is not None else output.logits)
            ids = input_ids[done : done + rows, -logits_to_keep:]
            parts.append(_found(output, ids, self.temperature))
            done += rows

        hook = self._innermost(model).register_forward_hook(listen)
        try:
            result = super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, *args, **kwargs
            )
        finally:
            hook.remove()
        found = {name: torch.cat([part[name] for part in parts]) for name in (parts[0] if parts else {})}
        if in_loss:
            self._at_loss = {"logprob": result[0].detach()} | found
        else:
            self._scored.append((result[0], found))
        return result

    def _compute_loss(self, model, inputs):
        loss = super()._compute_loss(model, inputs)
        step = self.state.global_step
        if self.model.training and self.token_log.wants(step):
            self._log(step, inputs, self._at_loss)
        return loss

    def _log(self, step, inputs, at_loss):
        old = inputs.get("old_per_token_logps")
        policy = at_loss
        if old is not None:
            policy = {n.removeprefix(PREFIX): v for n, v in inputs.items() if n.startswith(PREFIX)} | {"logprob": old}
        ids, is_weight = inputs["completion_ids"], inputs.get("importance_sampling_ratio")
        sample, rewards = inputs[PREFIX + "sample"], inputs[PREFIX + "rewards"]
        names = {f"reward/{name}": rewards[:, i] for i, name in enumerate(self.reward_func_names)}
        reward = (rewards * self.reward_weights.to(rewards.device)).nansum(-1)
        reward[rewards.isnan().all(-1)] = math.nan  # no function had an opinion
        prompts = [ids[mask.bool()] for ids, mask in zip(inputs["prompt_ids"], inputs["prompt_mask"])]
        self.token_log.add_batch(
            step, length=inputs["completion_mask"].sum(-1), token_id=ids, prompt_ids=prompts,
            group_id=sample // self.num_generations, sample_id=sample, advantage=inputs["advantages"],
            reward=reward, logprob=policy["logprob"], entropy=policy.get("entropy"), sum_pi_sq=policy.get("sum_pi_sq"),
            logprob_new=None if old is None else at_loss["logprob"],
            logprob_rollout=inputs.get("sampling_per_token_logps"), logprob_ref=inputs.get("ref_per_token_logps"),
            is_weight=None if is_weight is None else is_weight.expand(ids.shape), mask=inputs.get("tool_mask"), **names,
        )  # fmt: skip


def _found(output, ids, temperature):
    """Entropy and Σπ² at the last positions of a forward pass, from whatever it returns."""
    keep = ids.shape[1]
    if getattr(output, "log_sum_sq_probs", None) is not None:
        sum_pi_sq = output.log_sum_sq_probs.detach()[:, -keep:].double().exp()
        return {"entropy": output.entropy.detach()[:, -keep:], "sum_pi_sq": sum_pi_sq}
    if getattr(output, "logits", None) is not None:
        stats = logit_stats(output.logits[:, :-1][:, -keep:], ids, temperature=temperature)
        return {"entropy": stats.entropy, "sum_pi_sq": stats.sum_pi_sq}
    return {}


class _FinishStep(TrainerCallback):
    def __init__(self, log):
        self.log, self.warned = log, False

    def on_step_end(self, args, state, control, **kwargs):
        step = state.global_step - 1  # it has been counted already
        if self.log.wants(step) and self.log.step != step and not self.warned:
            self.warned = True
            warnings.warn(
                f"step {step}: no response reached the token log. Does something replace GRPOTrainer._compute_loss "
                "(unsloth, a Liger loss)?"
            )
        self.log.finish(step)
