"""S2T in TRL's loss: spurious tokens are left out of the update.

    class Trainer(S2TMixin, GRPOTrainer):
        pass

    Trainer(model=…, reward_funcs=…, args=GRPOConfig(…), train_dataset=…, s2t={"preset": "v5"}).train()

The mask is made when a batch has been generated, from probability and entropy of the policy that generated
it, one threshold for each optimizer step, over all of its micro-batches and all ranks; it holds for every
pass over the batch. Where TRL does not score the batch before the loss (on-policy, without vLLM) that costs
one forward pass more. Silenced tokens leave the loss and its normaliser, as tokens of tools do.
`s2t/silenced` and `s2t/candidates` are logged with TRL's own metrics.
"""

import torch

from ..s2t import candidates, s2t_mask, s2t_threshold
from .scores import PREFIX, ScoresMixin


class S2TMixin(ScoresMixin):
    """Comes before GRPOTrainer (and TokenLogMixin) among the bases. `s2t`: settings of s2t_mask."""

    def __init__(self, *args, s2t=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.s2t = {"preset": "v5"} | dict(s2t or {})
        self._silenced_in = None  # the generation that has its mask

    def _wants_scores(self):
        return True

    def _needs_scores(self):
        return True

    def _prepare_inputs(self, generation_batch):
        inputs = super()._prepare_inputs(generation_batch)
        if self.model.training and self._buffered_inputs is not self._silenced_in:
            self._silence(self._buffered_inputs)
            self._silenced_in = self._buffered_inputs
            inputs = self._buffered_inputs[self._step % self.args.steps_per_generation]
        return inputs

    def _silence(self, batches):
        window, silenced, found, tokens = self.args.gradient_accumulation_steps, 0, 0, 0
        for start in range(0, len(batches), window):
            mini = batches[start : start + window]
            policies = [self._policy(batch) for batch in mini]
            tau_h = self.s2t.get("tau_h")
            if tau_h is None:
                tau_h = s2t_threshold(*_joined(policies), **self.s2t, gather=self._gather)
            for batch, policy in zip(mini, policies):
                drop = s2t_mask(*policy, **(self.s2t | {"tau_h": tau_h}))
                mask = policy[3]
                batch[PREFIX + "tool_mask"] = batch.get("tool_mask", torch.ones_like(batch["completion_mask"]))
                batch["tool_mask"] = batch[PREFIX + "tool_mask"] * ~drop
                silenced, tokens = silenced + drop.sum(), tokens + mask.sum()
                found = found + candidates(policy[0], policy[2], mask, self.s2t.get("tau_p", 0.002)).sum()
        silenced, found, tokens = self.accelerator.reduce(torch.stack([silenced, found, tokens])).tolist()
        for batch in batches:  # DAPO's normaliser counts the tokens of the whole generation
            if "num_items_in_batch" in batch:
                batch["num_items_in_batch"] = batch["num_items_in_batch"] - silenced
        metrics = self._metrics["train"]
        metrics["s2t/silenced"].append(silenced / max(1, tokens))
        metrics["s2t/candidates"].append(found / max(1, tokens))

    def _policy(self, batch):
        """(logprob, entropy, advantage, mask) of a micro-batch."""
        logprob = batch.get(PREFIX + "logprob", batch.get("old_per_token_logps"))
        mask = batch["completion_mask"] * batch.get("tool_mask", 1)
        return logprob, batch[PREFIX + "entropy"], batch["advantages"], mask

    def _gather(self, values):
        """Entropies of all ranks; each has as many as it has."""
        if self.accelerator.num_processes == 1:
            return values
        padded = self.accelerator.pad_across_processes(values, pad_index=float("nan"))
        return self.accelerator.gather(padded)


def _joined(policies):
    """Micro-batches of one optimizer step, side by side: only the values count, not their places."""
    flat = [[], [], [], []]
    for logprob, entropy, advantage, mask in policies:
        advantage = advantage[:, None].expand_as(logprob) if advantage.dim() == 1 else advantage
        for column, values in zip(flat, (logprob, entropy, advantage, mask)):
            column.append(values.reshape(-1))
    return [torch.cat(column) for column in flat]
