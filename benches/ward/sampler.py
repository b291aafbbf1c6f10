"""Draws responses with the sampler's weights."""
import torch

import policy
from settings import DEVICE, ROWS, TURN_TOKENS, column


def quantized(weights, runs):
    """Weights of runs whose sampler has few bits, row by row."""
    for place, run in enumerate(runs):
        for value in weights.values() if run["bits"] else ():
            if value.dim() == 3:
                scale = value[place].float().abs().amax(-1, keepdim=True) / (2 ** (run["bits"] - 1) - 1)
                value[place] = ((value[place].float() / scale).round() * scale).to(value.dtype)
    return weights


class Sampler:
    """Draws two turns. Rows that have ended wait; what they would see of the waiting is masked."""

    def __init__(self, runs, task):
        self.task, self.runs = task, runs
        self.temperature, self.top_p = column(runs, "temperature"), column(runs, "top_p")
        self.raw = torch.tensor([run["raw_logprob"] for run in runs], device=DEVICE)

    def draw(self, logits):
        runs, rows = logits.shape[:2]
        p = (logits / self.temperature[:, None, None]).softmax(-1)
        ordered, places = p.sort(-1, descending=True)
        kept = (ordered.cumsum(-1) - ordered) < self.top_p[:, None, None]
        p = torch.zeros_like(p).scatter(-1, places, ordered * kept)
        token = torch.multinomial(p.view(runs * rows, -1), 1).view(runs, rows, 1)
        drawn = (p / p.sum(-1, keepdim=True)).gather(-1, token).log()[..., 0]
        plain = logits.log_softmax(-1).gather(-1, token)[..., 0]
        return token[..., 0], torch.where(self.raw[:, None], plain, drawn)

    @torch.no_grad()
    def sample(self, weights, prompts):
        runs, longest = len(self.runs), max(len(ids) for of_run in prompts for ids, _ in of_run)
        observed = len(self.task.observation)
        total = longest + sum(TURN_TOKENS) + observed
        tokens = torch.zeros(runs, ROWS, total, dtype=torch.long, device=DEVICE)
        valid = torch.zeros_like(tokens, dtype=torch.bool)
        for i, of_run in enumerate(prompts):
            for j, (ids, _) in enumerate(of_run):
                tokens[i, j, longest - len(ids) : longest] = torch.tensor(ids, device=DEVICE)
                valid[i, j, longest - len(ids) : longest] = True
        shape = (runs * ROWS, policy.KEY_HEADS, total, policy.HEAD)
        cache = [[torch.zeros(shape, device=DEVICE, dtype=torch.bfloat16) for _ in "kv"] for _ in range(policy.LAYERS)]
        logprob = torch.zeros(runs, ROWS, total, device=DEVICE)
        turn, environment = torch.zeros(total, dtype=torch.long), torch.zeros(total, dtype=torch.bool)

        def feed(start, end):
            positions = (valid.long().cumsum(-1) - 1).clamp(min=0)[:, :, start:end]
            order = torch.arange(end, device=DEVICE) <= torch.arange(start, end, device=DEVICE)[:, None]
            seen = valid[:, :, :end].reshape(runs * ROWS, 1, 1, end) & order
            seen = seen | torch.eye(end, dtype=torch.bool, device=DEVICE)[start:end]
            return policy.logits(weights, tokens[:, :, start:end], positions, seen, cache, start)[:, :, -1]

        at, logits, ended = longest, feed(0, longest), []
        for number, budget in enumerate(TURN_TOKENS):
            own = torch.tensor([run["budget"][number] for run in self.runs], device=DEVICE)
            if number:
                tokens[:, :, at : at + observed] = torch.tensor(self.task.observation, device=DEVICE)
                valid[:, :, at : at + observed] = True
                turn[at : at + observed], environment[at : at + observed] = number, True
                logits, at = feed(at, at + observed), at + observed
            done = torch.zeros(runs, ROWS, dtype=torch.bool, device=DEVICE)
            stopped = done.clone()
            for place in range(budget):
                done = done | (own <= place)[:, None]
                token, chosen = self.draw(logits)
                tokens[:, :, at], valid[:, :, at] = torch.where(done, 0, token), ~done
                logprob[:, :, at], turn[at] = torch.where(done, 0.0, chosen), number
                stopped = stopped | (~done & (token == self.task.eos))
                done, at = done | (token == self.task.eos), at + 1
                logits = feed(at - 1, at)
                if place % 16 == 15 and bool(done.all()):
                    break
            ended.append(stopped)
        cut = ~(ended[0] & ended[1])
        return [x[..., :at].cpu().numpy() for x in (tokens, valid, logprob, turn, environment)] + [cut.cpu().numpy()]
