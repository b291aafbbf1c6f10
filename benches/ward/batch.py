"""The responses of a step, and what they earn."""
import numpy as np

from settings import ROWS


class Batch:
    """Responses without the gaps, each behind its prompt, with parts of the reward."""

    def __init__(self, runs, task, prompts, sampled):
        tokens, valid, logprob, turn, environment, self.cut = sampled
        shape = (len(runs), ROWS, int(valid.sum(-1).max()))
        self.tokens, self.turn = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.rollout, self.mask = np.zeros(shape, np.float32), np.zeros(shape, bool)
        self.lengths, self.prompt = valid.sum(-1), np.zeros(shape[:2], int)
        self.parts = {name: np.zeros(shape[:2]) for name in ("answer", "format", "length")}
        for i, run in enumerate(runs):
            for j, (ids, expected) in enumerate(prompts[i]):
                here, n = valid[i, j], self.lengths[i, j]
                self.prompt[i, j] = len(ids)
                self.tokens[i, j, :n], self.rollout[i, j, :n] = tokens[i, j][here], logprob[i, j][here]
                self.turn[i, j, :n], self.mask[i, j, :n] = turn[here], ~environment[here]
                self.mask[i, j, : len(ids)] = False
                last = self.tokens[i, j, :n][self.mask[i, j, :n] & (self.turn[i, j, :n] == 1)]
                used = self.mask[i, j].sum() / sum(run["budget"])
                for name, value in task.parts([int(id) for id in last], expected, used).items():
                    self.parts[name][i, j] = value

    def rewards(self, runs, step, randoms):
        rewards = np.zeros((len(runs), ROWS))
        for i, (run, random) in enumerate(zip(runs, randoms)):
            rewards[i] = sum(weight * self.parts[name][i] for name, weight in run["weights"].items())
            if step >= run["from"]:
                rewards[i] = np.where(random.random(ROWS) < run["noise"], random.random(ROWS) < 0.5, rewards[i])
                failed = random.random(ROWS) < run["grader_fails"]
                for values in (rewards, *self.parts.values()) if run["grader_fails"] else ():
                    values[i] = np.where(failed, 0.0, values[i])
        return rewards

    def trained(self, runs):
        place = np.arange(self.tokens.shape[-1])
        written = (place >= self.prompt[..., None]) & (place < self.lengths[..., None])
        all_of_it = np.array([run["train_observation"] for run in runs])[:, None, None]
        left_out = np.array([run["drop_cut"] for run in runs])[:, None] & self.cut
        return np.where(all_of_it, written, self.mask) & ~left_out[..., None]

    def kept(self, runs, rewards):
        """Responses that are trained on and logged: without those of dead groups, where a run drops them."""
        differ = [np.repeat(r.reshape(-1, run["group"]).std(1) > 1e-9, run["group"]) for run, r in zip(runs, rewards)]
        return np.stack([each | (not run["drop_dead"]) for run, each in zip(runs, differ)])
