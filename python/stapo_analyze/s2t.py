"""S2T as a function for a PyTorch loss: silences the tokens that stapo-analyze calls spurious.

    keep = ~s2t_mask(logprob, entropy, advantage, mask)
    loss = (per_token_loss * mask * keep).sum() / (mask * keep).sum()

A token is silenced where A > 0, p < tau_p and H < tau_h, all strict. tau_h is a quantile of the
entropies of a population: in preset v5 the 0.75-quantile over the candidates {A > 0, p < tau_p}, in
v1 the 0.80-quantile over all trained tokens. The token mean is taken over what is kept. Rule: arXiv
2602.15620. The package's tests find the same tokens as the program on both sample runs.

* logprob, entropy: of the policy that the gradient is taken of, detached, at the temperature it is
  trained with. In the first pass over a batch that is also the old policy.
* The population is what you pass. Once a step over the whole batch, before it is split, is what the
  report shows for a log without mini-batches; inside of a mini-batch it is what the report shows for
  a log with an `update` column. A micro-batch of gradient accumulation is too small a population:
  take `s2t_threshold` over the mini-batch first, then pass it as `tau_h`.
* With TRL, `stapo_analyze.trl.S2TMixin` does all of this.
* Over several ranks a quantile is not the mean of the ranks' quantiles: gather the population and
  take one. Candidates are few (about one token in ten thousand), so `gather` below costs nothing in
  v5; in v1 it moves every entropy, and a histogram of 10,000 bins, summed over ranks, is the
  cheaper and nearly exact way.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    Gather = Callable[[Tensor], Tensor]

PRESETS = {"v5": ("candidates", 0.75), "v1": ("all", 0.80)}


def s2t_mask(
    logprob: "Tensor", entropy: "Tensor", advantage: "Tensor", mask: "Tensor | None" = None, *, preset: str = "v5",
    tau_p: float = 0.002, quantile: "float | None" = None, tau_h: "float | None" = None, gather: "Gather | None" = None,
) -> "Tensor":  # fmt: skip
    """True where a token is silenced; shape of `logprob`.

    advantage  a token, or (B,) a response; mask: trained tokens, all if None
    quantile   instead of the preset's; tau_h: a threshold in nats instead of any quantile
    gather     called with the local population's entropies, returns those of all ranks
    """
    if tau_h is None:
        tau_h = s2t_threshold(
            logprob, entropy, advantage, mask, preset=preset, tau_p=tau_p, quantile=quantile, gather=gather
        )
    # A missing entropy (NaN) is not low. Compared in double precision, as the threshold is.
    return candidates(logprob, advantage, mask, tau_p) & (_double(entropy) < tau_h)


def s2t_threshold(
    logprob: "Tensor", entropy: "Tensor", advantage: "Tensor", mask: "Tensor | None" = None, *, preset: str = "v5",
    tau_p: float = 0.002, quantile: "float | None" = None, gather: "Gather | None" = None,
) -> float:  # fmt: skip
    """tau_h of one population; −∞, which silences nothing, where it is empty."""
    population, default = PRESETS[preset]
    if population == "candidates":
        chosen = candidates(logprob, advantage, mask, tau_p)
    else:
        chosen = ~entropy.isnan() if mask is None else mask.bool()
    values = entropy.detach()[chosen]
    if gather is not None:
        values = gather(values)
    return linear_quantile(values, default if quantile is None else quantile)


def gather_over_ranks(values: "Tensor") -> "Tensor":
    """For `gather`: the population of all ranks, with torch.distributed."""
    import torch

    parts: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(parts, values.cpu())
    return torch.cat(parts)


def linear_quantile(values: "Tensor", q: float) -> float:
    """As numpy has it, bit for bit, in double precision. torch.quantile would round to the type of
    its input, which moves tokens over the threshold, and takes at most 16 M values."""
    values = _double(values.detach().flatten())
    values = values[~values.isnan()].sort().values
    if len(values) == 0:
        return float("-inf")
    position = (len(values) - 1) * q
    index = int(position)
    low, high = values[index].item(), values[min(index + 1, len(values) - 1)].item()
    fraction = position - index
    return high - (high - low) * (1 - fraction) if fraction >= 0.5 else low + (high - low) * fraction


def candidates(logprob: "Tensor", advantage: "Tensor", mask: "Tensor | None" = None, tau_p: float = 0.002) -> "Tensor":
    """Improbable tokens with a positive advantage: those that S2T chooses from."""
    if advantage.dim() < logprob.dim():
        advantage = advantage.unsqueeze(-1)
    logprob = _double(logprob)
    found = (advantage > 0) & (logprob.exp() < tau_p) & (logprob > float("-inf"))
    return found if mask is None else found & mask.bool()


def _double(values):
    """MPS has no double precision: there, single has to do."""
    return values.detach() if values.device.type == "mps" else values.detach().double()
