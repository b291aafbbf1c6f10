"""What a token log needs of logits: log-probability, entropy, Σπ², in chunks of bounded memory."""

from typing import Any, NamedTuple

import numpy as np


class LogitStats(NamedTuple):
    """Of each position, for the distribution π = softmax(logits / T) and the token k there."""

    logprob: Any  # ln π_k
    entropy: Any  # −Σ π ln π, nats
    sum_pi_sq: Any  # Σ π², in double precision: what is made of it cancels
    sum_pi_sq_log_pi: Any  # Σ π² ln π
    score_norm: Any  # ‖e_k − π‖; the gradient of the logits has the norm |w| times this, w = ρA


def logit_stats(logits: Any, token_ids: Any, *, temperature: float = 1.0, chunk_values: int = 1 << 24) -> LogitStats:
    """What the log needs of logits (…, V) at the tokens (…), torch or numpy.

    Works through `chunk_values` logits at a time, in single precision (double if the logits are),
    with four temporaries of that size: 256 MB at the default, whatever the batch. Nothing cancels:
    the largest probability is 1/(1 + rest), and the *other* tokens' squares are summed directly,
    since 1 − 2p + Σπ² is noise in single precision.
    """
    one: Any
    join: Any
    if hasattr(logits, "detach"):
        import torch

        one, join, tokens = _chunk_in_torch, torch.cat, token_ids.reshape(-1).long()
    else:
        one, join, tokens = _chunk_in_numpy, np.concatenate, np.ravel(token_ids).astype(int)
        logits = np.asarray(logits)
    flat = logits.reshape(-1, logits.shape[-1])
    if len(tokens) != len(flat):
        raise ValueError(f"{len(tokens)} tokens for {len(flat)} positions of logits")
    rows = max(1, chunk_values // flat.shape[-1])
    parts = [one(flat[i : i + rows], tokens[i : i + rows], temperature) for i in range(0, max(1, len(flat)), rows)]
    return LogitStats(*(join(part).reshape(np.shape(token_ids)) for part in zip(*parts)))


def _chunk_in_torch(logits, tokens, temperature):
    import torch

    with torch.no_grad():
        x = logits.detach().to(torch.promote_types(logits.dtype, torch.float32), copy=True).div_(temperature)
        double = x.dtype if x.device.type == "mps" else torch.float64  # MPS has no double precision
        k = tokens.unsqueeze(-1)
        top, mode = x.max(-1, keepdim=True)
        x.sub_(top)
        e = x.exp()
        log_z = e.scatter_(-1, mode, 0).sum(-1, keepdim=True).log1p_()  # ln Σ exp(x − max)
        e.scatter_(-1, mode, 1)
        logprob = x.gather(-1, k) - log_z
        x.masked_fill_(e == 0, 0)  # 0 · ∞ is 0 here
        pi = e.mul_(log_z.neg().exp())
        entropy = log_z - (pi * x).sum(-1, keepdim=True)
        x.sub_(log_z).mul_(pi).mul_(pi)
        s = x.sum(-1, keepdim=True)
        q = -torch.expm1(logprob)
        others = pi.scatter_(-1, k, 0).square_().sum(-1, keepdim=True)
        # p² of the log-probability as it is stored, so that a reader can take it off again.
        c = others.to(double) + (2 * logprob.float().to(double)).exp()
        norm = (q * q + others).sqrt()
        return [v.squeeze(-1) for v in (logprob, entropy, c, s.to(double), norm)]


def _chunk_in_numpy(logits, tokens, temperature):
    dtype = np.promote_types(logits.dtype, np.float32)
    x = np.array(logits, dtype) / dtype.type(temperature)
    row = np.arange(len(x))
    mode = x.argmax(-1)
    x -= x[row, mode, None]
    e = np.exp(x)
    e[row, mode] = 0
    log_z = np.log1p(e.sum(-1))
    e[row, mode] = 1
    logprob = x[row, tokens] - log_z
    x[e == 0] = 0
    e *= np.exp(-log_z)[:, None]
    entropy = log_z - (e * x).sum(-1)
    x -= log_z[:, None]
    x *= e
    x *= e
    s = x.sum(-1)
    q = -np.expm1(logprob)
    e[row, tokens] = 0
    others = np.square(e, out=e).sum(-1)
    c = others.astype(np.float64) + np.exp(2 * logprob.astype(np.float32).astype(np.float64))
    return logprob, entropy, c, s.astype(np.float64), np.sqrt(q * q + others)
