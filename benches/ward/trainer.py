"""A policy gradient for many runs at once: clipped tokens, clipped sequences (gspo), or clipped weights (cispo)."""
import numpy as np
import torch

import policy
from critic import Critic
from sampler import quantized
from settings import DEVICE, MINIBATCHES, MODEL, ROWS, column


class Trainer:
    def __init__(self, runs):
        self.runs, self.updates = runs, 0
        self.weights = policy.stacked(MODEL / "model.safetensors", runs, DEVICE)
        self.reference = {name: value.clone() for name, value in self.weights.items()}
        self.moments = {name: (torch.zeros_like(v), torch.zeros_like(v)) for name, v in self.weights.items()}
        self.history, self.critics = [], {i: Critic() for i, run in enumerate(runs) if run["critic"]}

    def samplers_weights(self, step):
        """Those of the sampler, as old as each run has them, in bfloat16."""
        self.history = ([{k: v.to(torch.bfloat16) for k, v in self.weights.items()}] + self.history)[:12]
        lags = [min(run["lags"][step % len(run["lags"])], len(self.history) - 1) for run in self.runs]
        pick = lambda name: torch.stack([self.history[lag][name][i] for i, lag in enumerate(lags)])
        return quantized({name: pick(name) for name in self.weights}, self.runs), lags

    @torch.no_grad()
    def score(self, batch):
        """What the policy and its reference make of the batch."""
        self.tokens, self.mask = (torch.tensor(x, device=DEVICE) for x in (batch.tokens, batch.trained(self.runs)))
        length = self.tokens.shape[-1]
        self.positions = torch.arange(length, device=DEVICE).expand(self.tokens.shape).contiguous()
        inside = self.positions < torch.tensor(batch.lengths, device=DEVICE)[..., None]
        causal = torch.ones(length, length, dtype=torch.bool, device=DEVICE).tril()
        self.visible = (inside[:, :, None, :] & causal) | torch.eye(length, dtype=torch.bool, device=DEVICE)
        seen = (self.tokens, self.positions, self.visible)
        self.scores = (*policy.statistics(self.weights, *seen), policy.statistics(self.reference, *seen)[0])

    def penalties(self):
        """The distance from the reference, by the weight that it has in the reward."""
        away = ((self.scores[0] - self.scores[3]) * self.mask[:, :, 1:]).sum(-1)
        return (away * column(self.runs, "kl_reward")[:, None]).cpu().numpy()

    def of_tokens(self, batch, rewards, advantage):
        """Advantages of tokens: those of their responses, or of a critic."""
        old, entropy = self.scores[:2]
        made = torch.tensor(advantage, device=DEVICE, dtype=torch.float)[..., None].expand(old.shape).clone()
        for i, critic in self.critics.items():
            earned, turn = (torch.tensor(x, device=DEVICE).float() for x in (rewards[i], batch.turn[i][:, 1:]))
            made[i] = critic.advantages(earned, old[i], entropy[i], turn, self.mask[i][:, 1:].float())
        return made

    def train(self, step, batch, advantage, kept, randoms):
        """One step: policy gradient over minibatches; gives what is logged of it."""
        runs, every = self.runs, torch.arange(len(self.runs), device=DEVICE)[:, None]
        tokens, mask, positions, visible = self.tokens, self.mask, self.positions, self.visible
        old, entropy, squares, reference = self.scores
        kept = torch.tensor(kept, device=DEVICE).float()
        self.pace = torch.tensor([min(1.0, (step + 1) / max(run["warmup"], 1)) for run in runs], device=DEVICE)
        is_of = lambda name: torch.tensor([run["objective"] == name for run in runs], device=DEVICE)[:, None, None]
        rollout = torch.tensor(batch.rollout, device=DEVICE)[:, :, 1:]
        of_sampler = torch.tensor([run["ratio_to"] == "rollout" for run in runs], device=DEVICE)[:, None, None]
        base = torch.where(of_sampler & (rollout != 0), rollout, old)
        new, update = old.clone(), np.zeros((len(runs), ROWS), int)
        settings = {name: column(runs, name)[:, None, None] for name in ("clip_low", "clip_high", "kl", "entropy_bonus")}
        for epoch in range(max(run["epochs"] for run in runs)):
            orders = np.stack([random.permutation(ROWS) for random in randoms])
            active = torch.tensor([step < run["steps"] and epoch < run["epochs"] for run in runs], device=DEVICE)
            for number, rows in enumerate(np.split(orders, MINIBATCHES, 1)):
                rows = torch.tensor(rows, device=DEVICE)
                pick = lambda values: values[every, rows]
                weights = {name: value.detach().requires_grad_() for name, value in self.weights.items()}
                seen = pick(visible).flatten(0, 1).unsqueeze(1)
                log = policy.logits(weights, pick(tokens), pick(positions), seen)[:, :, :-1].log_softmax(-1)
                chosen = log.gather(-1, pick(tokens)[:, :, 1:, None])[..., 0]
                counts, apart = pick(mask)[:, :, 1:].float(), chosen - pick(base)
                mean = (apart * counts).sum(-1, keepdim=True) / counts.sum(-1, keepdim=True).clamp(min=1)
                ratio = torch.where(is_of("gspo"), mean + chosen - chosen.detach(), apart).exp()
                a = pick(advantage)
                bounded = torch.maximum(torch.minimum(ratio, 1 + settings["clip_high"]), 1 - settings["clip_low"])
                away = pick(reference) - chosen
                weighted = ratio.detach().clamp(max=1 + settings["clip_high"]) * a * chosen
                gain = torch.where(is_of("cispo"), weighted, torch.minimum(ratio * a, bounded * a))
                loss = -gain + settings["kl"] * (away.exp() - away - 1)
                loss = loss + settings["entropy_bonus"] * (log.exp() * log).sum(-1)
                counts = counts * pick(kept)[..., None]
                loss = (loss * counts).sum((1, 2)) / counts.sum((1, 2)).clamp(min=1)
                gradients = torch.autograd.grad(loss.sum(), list(weights.values()))
                new[every, rows] = torch.where(active[:, None, None], chosen.detach(), pick(new))
                update[np.arange(len(runs))[:, None], rows.cpu().numpy()] = number
                self.step(gradients, active)
        values = [x.detach().cpu().numpy() for x in (old, entropy, squares, new, reference)]
        return dict(zip(("logprob", "entropy", "sum_pi_sq", "logprob_new", "logprob_ref"), values)), update

    def step(self, gradients, active):
        """Adam, with gradients bounded for each run."""
        runs = len(self.runs)
        most = column(self.runs, "max_grad")
        norm = sum(g.reshape(runs, -1).pow(2).sum(1) for g in gradients).sqrt()
        scale = torch.where(most > 0, (most / (norm + 1e-6)).clamp(max=1.0), torch.ones_like(norm))
        rate, self.updates = column(self.runs, "lr") * active * self.pace, self.updates + 1
        for (name, value), gradient in zip(self.weights.items(), gradients):
            wide = lambda x: x.view((runs,) + (1,) * (value.dim() - 1))
            first, second = self.moments[name]
            gradient = gradient * wide(scale)
            first.mul_(0.9).add_(gradient, alpha=0.1)
            second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            mean, square = first / (1 - 0.9**self.updates), second / (1 - 0.999**self.updates)
            value.sub_(wide(rate) * mean / (square.sqrt() + 1e-8))
