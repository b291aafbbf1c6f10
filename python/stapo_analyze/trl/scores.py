"""What TRL computes on the way and throws away: entropies and Σπ² of the policy, by response.

Two mixins need it. The log wants what the loss sees, S2T wants what the policy that generated thought of
its own tokens, before the loss. Nothing is computed twice: a hook listens to the forward passes that TRL
makes anyway.
"""

import torch
from trl.trainer import utils as trl_utils

from ..logits import logit_stats

PREFIX = "stapo_"  # of what travels with TRL's batch


class ScoresMixin:
    """Listens to scoring. A row a response, tensors under PREFIX are shuffled and split with TRL's own."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._scored = None  # a list while TRL scores what it has generated
        self._at_loss = {}
        add_head = getattr(trl_utils, "add_fused_lm_head", None)
        if add_head is not None:  # the head that GRPOTrainer has just added, with Σπ² besides
            add_head(innermost(self, self.model), temperature=self.temperature,
                     cast_lm_head_to_fp32=self.args.cast_lm_head_to_fp32,
                     outputs=("log_probs", "entropy", "log_sum_sq_probs"))  # fmt: skip

    def _wants_scores(self):
        """Whether anybody needs the scores of what is generated now."""
        return False

    def _needs_scores(self):
        """Whether it has to be scored even if TRL does not do so by itself."""
        return False

    def _wants_loss(self):
        """Whether anybody needs what the loss sees now."""
        return False

    def _generate_and_score_completions(self, inputs):
        training = self.model.training
        self._scored = [] if training and self._wants_scores() else None
        try:
            out = super()._generate_and_score_completions(inputs)
            # By identity, since the reference is scored by the same method.
            found = [f for logprob, f in self._scored or () if logprob is out.get("old_per_token_logps")]
            if not found and training and self._needs_scores():
                found = [self._score(out)]
        finally:
            self._scored = None
        if found:
            out.update({PREFIX + name: values for name, values in found[0].items()})
        return out

    def _score(self, out):
        """A pass of our own, where generation and loss are on the same policy and TRL has no need of one."""
        ids = torch.cat([out["prompt_ids"], out["completion_ids"]], dim=1)
        attention = torch.cat([out["prompt_mask"], out["completion_mask"]], dim=1)
        images = {name: out[name] for name in _IMAGES if name in out}
        with torch.no_grad():
            logprob, *_ = self._get_per_token_logps_and_entropies(
                self.model, ids, attention, out["completion_ids"].size(1),
                batch_size=self.args.per_device_train_batch_size, **images,
            )  # fmt: skip
        return {"logprob": logprob} | self._scored[-1][1]

    def _get_per_token_logps_and_entropies(self, model, input_ids, attention_mask, logits_to_keep, *args, **kwargs):
        in_loss = self._scored is None and self.model.training and self._wants_loss()
        if not in_loss and self._scored is None:
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, *args, **kwargs
            )
        parts, done = [], 0

        def listen(_module, _inputs, output):
            nonlocal done
            rows = len(output.log_probs if getattr(output, "log_probs", None) is not None else output.logits)
            ids = input_ids[done : done + rows, -logits_to_keep:]
            parts.append(found_in(output, ids, self.temperature))
            done += rows

        hook = innermost(self, model).register_forward_hook(listen)
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


_IMAGES = (
    "pixel_values", "image_grid_thw", "num_images", "pixel_attention_mask", "spatial_shapes", "num_tiles",
    "image_sizes", "token_type_ids", "mm_token_type_ids", "image_position_ids",
)  # fmt: skip


def innermost(trainer, model):
    """Below accelerate's wrappers and PEFT's: the module whose forward TRL has replaced."""
    model = trainer.accelerator.unwrap_model(model)
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def found_in(output, ids, temperature):
    """Entropy and Σπ² at the last positions of a forward pass, from whatever it returns."""
    keep = ids.shape[1]
    if getattr(output, "log_sum_sq_probs", None) is not None:
        sum_pi_sq = output.log_sum_sq_probs.detach()[:, -keep:].double().exp()
        return {"entropy": output.entropy.detach()[:, -keep:], "sum_pi_sq": sum_pi_sq}
    if getattr(output, "logits", None) is not None:
        stats = logit_stats(output.logits[:, :-1][:, -keep:], ids, temperature=temperature)
        return {"entropy": stats.entropy, "sum_pi_sq": stats.sum_pi_sq}
    return {}
