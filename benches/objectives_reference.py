"""Computes tests/data/objectives.json: every objective's loss and gradient by PyTorch's autograd.

Needs: Python 3.10+, numpy, torch (CPU). Run from the repository's root:

    python benches/objectives_reference.py > tests/data/objectives.json

Mini-batches are random, with ratios off 1 so that clipping binds on both sides, the dual clip binds
and no mask is empty (checked below). The objectives are written out here once more, from their
formulas, on tensors; nothing is shared with the Rust code but SplitMix64, so that random masks are
the same tokens. Everything is float64, on inputs that float32 holds exactly.
"""

import json
import sys

import numpy as np
import torch

TAU_P, Q = 0.05, 0.75
DUAL_CLIP, STARE_TARGET, LENGTH = 1.02, 2.0, 17
RATIO_CAP, TIS_CAP = 1.1, 1.5
ICEPOP, MIS, GEOMETRIC = (0.7, 1.6), (0.7, 1.5), (0.93, 1.08)
MASK64 = (1 << 64) - 1


STEP = 0x9E3779B97F4A7C15


def mixed(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def draw(seed, items, count):
    """Draws without replacement, by SplitMix64."""
    state = mixed(mixed((seed + STEP) & MASK64))
    items = list(items)
    for i in range(min(count, len(items))):
        state = (state + STEP) & MASK64
        j = i + (((mixed(state) >> 32) * (len(items) - i)) >> 32)
        items[i], items[j] = items[j], items[i]
    return items[:count]


def make_batch(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 16, size=8)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    n = int(bounds[-1])
    f32 = lambda x: np.asarray(x, dtype=np.float32)
    rare = rng.random(n) < 0.4
    logprob = f32(np.where(rare, -rng.uniform(3.0, 9.0, n), -rng.exponential(0.5, n)))
    old = f32(np.minimum(logprob + rng.normal(0, 0.25, n), -1e-4))
    entropy = f32(rng.exponential(0.8, n))
    rewards = rng.integers(0, 2, size=8).astype(np.float64)
    rewards[:4], rewards[4:] = [1, 0, 1, 0], [0, 0, 1, 0]
    centred = np.concatenate([g - g.mean() for g in (rewards[:4], rewards[4:])])
    scaled = np.concatenate([(g - g.mean()) / (g.std(ddof=1) + 1e-6) for g in (rewards[:4], rewards[4:])])
    advantage = f32(np.repeat(scaled, lengths))
    trained = rng.random(n) < 0.9
    trained[bounds[3]:bounds[4]] = False  # a response without a trained token
    raw = {
        "bounds": bounds.tolist(),
        "trained": trained.tolist(),
        "logprob": logprob.tolist(),
        "old": old.tolist(),
        "entropy": entropy.tolist(),
        "advantage": advantage.tolist(),
        "teacher": f32(logprob + rng.normal(0, 1.0, n)).tolist(),
        "start": f32(logprob + rng.normal(0, 0.3, n)).tolist(),
        "centred_reward": f32(centred).tolist(),
        "seed": int(rng.integers(1, 1 << 40)),
    }
    # Last, so that older columns stay what they were.
    raw["rollout"] = f32(old + rng.normal(0, 0.25, n)).tolist()
    return raw


class Batch:
    def __init__(self, raw):
        t = lambda name: torch.tensor(raw[name], dtype=torch.float64)
        self.bounds, self.seed = raw["bounds"], raw["seed"]
        self.m = torch.tensor(raw["trained"])
        self.logp = t("logprob").requires_grad_()
        self.old, self.H, self.A = t("old"), t("entropy"), t("advantage")
        self.teacher, self.start, self.centred = t("teacher"), t("start"), t("centred_reward")
        self.gap = self.old - t("rollout")
        self.p = self.logp.detach().exp()
        self.owner = torch.repeat_interleave(torch.arange(8), torch.tensor(np.diff(self.bounds)))
        self.counts = {}

    def ratio(self):
        return (self.logp - self.old).exp()

    def indices(self, mask):
        return torch.nonzero(mask).flatten().tolist()

    # S2T
    def mask(self):
        candidates = self.m & (self.A > 0) & (self.p < TAU_P)
        tau = torch.quantile(self.H[candidates], Q)
        return candidates, candidates & (self.H < tau), tau

    def top(self, among, values, count):
        order = sorted(self.indices(among), key=lambda i: (-float(values[i]), i))
        chosen = torch.zeros_like(self.m)
        chosen[order[:count]] = True
        return chosen

    def covariance(self):
        logp = self.logp.detach()
        return (self.A - self.A[self.m].mean()) * (logp - logp[self.m].mean())


def surr(ratio, A, lo, hi):
    return torch.min(ratio * A, torch.clamp(ratio, 1 - lo, 1 + hi) * A)


def base(b, A=None, lo=0.2, hi=0.28):
    return -surr(b.ratio(), b.A if A is None else A, lo, hi)


def token_mean(loss, m):
    return loss[m].sum() / m.sum()


def sequence_mean(b, loss, m):
    per = [loss[(b.owner == i) & m].mean() for i in range(8) if ((b.owner == i) & m).any()]
    return torch.stack(per).mean()


def grpo(b, _, kl=0.0):
    loss = base(b, hi=0.2)
    if kl:
        d = b.start - b.logp
        loss = loss + kl * (d.exp() - d - 1)
    return sequence_mean(b, loss, b.m)


def dr_grpo(b, _):
    return base(b, b.centred[b.owner], hi=0.2)[b.m].sum() / (8 * LENGTH)


def dapo(b, _, kl=0.0):
    loss = base(b)
    if kl:
        d = b.start - b.logp
        loss = loss + kl * (d.exp() - d - 1)
    return token_mean(loss, b.m)


def justrl(b, _):
    loss = base(b)
    bounded = torch.min(loss, -DUAL_CLIP * b.A)
    assert ((bounded < loss) & (b.A < 0) & b.m).any()
    return token_mean(torch.where(b.A < 0, bounded, loss), b.m)


def stapo(b, _):
    candidates, silenced, tau = b.mask()
    b.counts = dict(candidates=int(candidates.sum()), silenced=int(silenced.sum()), tau_h=float(tau))
    assert silenced.any()
    return token_mean(base(b), b.m & ~silenced)


def fullmask(b, _):
    candidates, _, _ = b.mask()
    b.counts = dict(candidates=int(candidates.sum()), silenced=int(candidates.sum()))
    return token_mean(base(b), b.m & ~candidates)


def random(b, _, among="all"):
    candidates, silenced, _ = b.mask()
    pool = {"all": b.m, "positive": b.m & (b.A > 0), "candidates": candidates}[among]
    chosen = torch.zeros_like(b.m)
    chosen[draw(b.seed, b.indices(pool), int(silenced.sum()))] = True
    b.counts = dict(candidates=int(candidates.sum()), silenced=int(chosen.sum()))
    return token_mean(base(b), b.m & ~chosen)


def high_entropy(b, _):
    candidates, silenced, _ = b.mask()
    chosen = b.top(candidates, b.H, int(silenced.sum()))
    b.counts = dict(candidates=int(candidates.sum()), silenced=int(chosen.sum()))
    return token_mean(base(b), b.m & ~chosen)


def low_prob_only(b, _):
    rare = b.m & (b.p < TAU_P)
    b.counts = dict(silenced=int(rare.sum()))
    return token_mean(base(b), b.m & ~rare)


def entropy20(b, _):
    chosen = b.top(b.m, b.H, int(np.ceil(0.2 * int(b.m.sum()))))
    b.counts = dict(kept=int(chosen.sum()))
    return token_mean(base(b), chosen)


def clip_cov(b, _):
    cov, loss = b.covariance(), base(b)
    cut = -b.ratio() * b.A < loss
    eligible = b.m & (cov > 1) & (cov < 5) & ~cut
    chosen = draw(b.seed, b.indices(eligible), max(1, int(2e-4 * int(b.m.sum()))))
    b.counts = dict(silenced=len(chosen))
    assert len(chosen) == 1 and eligible.sum() > 1
    keep = torch.ones_like(loss)
    keep[chosen] = 0
    return token_mean(loss * keep, b.m)


def kl_cov(b, _):
    held = b.top(b.m, b.covariance(), max(1, int(2e-4 * int(b.m.sum()))))
    loss = -b.ratio() * b.A
    return token_mean(torch.where(held, loss + (b.logp - b.old).abs(), loss), b.m)


def ar(b, _):
    return token_mean(base(b, (0.2 * b.old.exp() + 0.8) * b.A), b.m)


def lopti(b, which):
    low = b.old.exp() < 0.4
    m = b.m & (low if which == 0 else ~low)
    b.counts = dict(kept=int(m.sum()))
    return token_mean(base(b), m)


def stare(b, _):
    positive = b.m & (b.A > 0)
    assert b.H[b.m].mean() < STARE_TARGET
    chosen = b.top(positive, -b.logp.detach(), int(np.ceil(0.1 * int(positive.sum()))))
    b.counts = dict(amplified=int(chosen.sum()))
    return token_mean(base(b, torch.where(chosen, 1.1 * b.A, b.A)), b.m)


def gspo(b, _):
    s = torch.ones_like(b.old)
    for i in range(8):
        mine = (b.owner == i) & b.m
        if mine.any():
            s[b.owner == i] = (b.logp.detach() - b.old)[mine].mean().exp()
    ratio = s * (b.logp - b.logp.detach()).exp()
    return sequence_mean(b, -surr(ratio, b.A, 3e-4, 4e-4), b.m)


def cispo(b, _):
    weight = torch.clamp(b.ratio(), 0, 1.2).detach()
    assert (weight[b.m] == 1.2).any()
    return token_mean(-weight * b.A * b.logp, b.m)


def sapo(b, _):
    tau = torch.where(b.A > 0, 1.0, 1.05).double()
    return sequence_mean(b, -(4 / tau) * torch.sigmoid(tau * (b.ratio() - 1)) * b.A, b.m)


def dasd(b, _):
    A = b.A.clone()
    for i in range(8):
        mine = (b.owner == i) & b.m
        if not mine.any():
            continue
        gap = (b.teacher - b.logp.detach())[mine]
        gap = (gap - gap.mean()) / (gap.std(unbiased=True) + 1e-6)
        H = b.H[mine]
        sigma = (H - H.mean()).abs().mean() + 1e-6
        omega = torch.tanh((torch.quantile(H, 0.2) - H) / sigma) * torch.sigmoid(gap.abs() - 1)
        A[mine] = A[mine] + omega * gap
    return token_mean(base(b, A), b.m)


# Objectives that are put on a base: (terms, mask, mean).
def on_dapo(b):
    return base(b), b.m, token_mean


def on_grpo(b):
    return base(b, hi=0.2), b.m, lambda loss, m: sequence_mean(b, loss, m)


def on_stapo(b):
    _, silenced, _ = b.mask()
    return base(b), b.m & ~silenced, token_mean


def on_cispo(b):
    return -torch.clamp(b.ratio(), 0, 1.2).detach() * b.A * b.logp, b.m, token_mean


def some(chosen, b):
    """A correction that touches all tokens, or none, would show nothing."""
    assert chosen[b.m].any() and not chosen[b.m].all()
    return chosen


def dual_clip(b, _, on):
    loss, m, mean = on(b)
    bounded = torch.where(b.A < 0, torch.min(loss, -DUAL_CLIP * b.A), loss)
    some(bounded < loss, b)
    return mean(bounded, m)


def ratio_cap(b, _, on):
    loss, m, mean = on(b)
    weight = torch.clamp(RATIO_CAP / b.ratio(), max=1).detach()
    some(weight < 1, b)
    return mean(weight * loss, m)


def tis(b, _, on):
    loss, m, mean = on(b)
    weight = torch.clamp(b.gap.exp(), max=TIS_CAP)
    some(weight == TIS_CAP, b)
    return mean(weight * loss, m)


def icepop(b, _, on):
    loss, m, mean = on(b)
    r = b.gap.exp()
    inside = some((r >= ICEPOP[0]) & (r <= ICEPOP[1]), b)
    return mean(torch.where(inside, r, 0.0) * loss, m)


def kept(b, m, inside):
    silenced = int((b.m & ~m).sum()) + int((m & ~inside).sum())
    b.counts = dict(silenced=silenced)
    return m & inside


def mis_token(b, _, on):
    loss, m, mean = on(b)
    r = (-b.gap).exp()
    return mean(loss, kept(b, m, some((r >= MIS[0]) & (r <= MIS[1]), b)))


def of_responses(b, value, bounds):
    inside = torch.zeros_like(b.m)
    for i in range(8):
        mine = (b.owner == i) & b.m
        if mine.any():
            inside[b.owner == i] = bool(bounds[0] <= float(value(b.gap[mine])) <= bounds[1])
    return some(inside, b)


def mis_sequence(b, _, on):
    loss, m, mean = on(b)
    return mean(loss, kept(b, m, of_responses(b, lambda d: (-d.sum()).exp(), MIS)))


def mis_geometric(b, _, on):
    loss, m, mean = on(b)
    return mean(loss, kept(b, m, of_responses(b, lambda d: (-d.mean()).exp(), GEOMETRIC)))


def main():
    torch.set_default_dtype(torch.float64)
    batches = [make_batch(seed) for seed in (7, 8)]
    for raw in batches:
        b = Batch(raw)
        r = b.ratio().detach()[b.m]
        a = b.A[b.m]
        assert ((r > 1.28) & (a > 0)).any() and ((r < 0.8) & (a < 0)).any()
        assert ((r > 1.28) & (a < 0)).any() and ((r < 0.8) & (a > 0)).any()
    runs = [(f.__name__, f, 0, {}) for f in (
        grpo, dr_grpo, dapo, justrl, stapo, fullmask, random, high_entropy, low_prob_only, entropy20,
        clip_cov, kl_cov, ar, lopti, stare, gspo, cispo, sapo, dasd)]
    runs += [("dgg", dapo, 0, {}), ("lopti", lopti, 1, {}), ("grpo", grpo, 0, {"kl": 0.1}),
             ("dapo", dapo, 0, {"kl": 0.05}), ("random", random, 0, {"among": "positive"}),
             ("random", random, 0, {"among": "candidates"})]
    bases = {"dapo": on_dapo, "grpo": on_grpo, "stapo": on_stapo, "cispo": on_cispo}
    for f in (dual_clip, ratio_cap, tis, icepop, mis_token, mis_sequence, mis_geometric):
        for name, on in bases.items():
            if (f, name) != (dual_clip, "cispo"):
                runs.append((f.__name__, f, 0, {"on": on, "base": name}))
    cases = []
    for index, raw in enumerate(batches):
        for name, function, which, options in runs:
            b = Batch(raw)
            base_name = options.get("base", "dapo")
            loss = function(b, which, **{k: v for k, v in options.items() if k != "base"})
            loss.backward()
            cases.append({
                "objective": name, "batch": index, "pass": which,
                "base": base_name, "kl_beta": options.get("kl", 0.0), "random_from": options.get("among", "all"),
                "loss": loss.item(), "counts": b.counts,
                "coefficients": [float(f"{c:.12g}") for c in b.logp.grad.tolist()],
            })
    settings = {"tau_p": TAU_P, "quantile": Q, "dual_clip": DUAL_CLIP, "stare_target": STARE_TARGET,
                "constant_length": LENGTH, "ratio_cap": RATIO_CAP, "tis_cap": TIS_CAP,
                "icepop_bounds": ICEPOP, "mis_bounds": MIS, "geometric_bounds": GEOMETRIC}
    json.dump({"torch": torch.__version__, "settings": settings, "batches": batches, "cases": cases},
              sys.stdout, separators=(",", ":"))
    print()


main()
