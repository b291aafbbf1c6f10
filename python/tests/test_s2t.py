"""s2t_mask against stapo-analyze: the same tokens, in both sample runs and both presets. Needs torch."""

import tempfile
import unittest

import numpy as np
import pyarrow.parquet as pq
import pytest

from stapo_analyze import analyze, s2t_mask, s2t_threshold
from stapo_analyze.s2t import gather_over_ranks, linear_quantile
from support import DATA, PROGRAM

torch = pytest.importorskip("torch")


def padded(lists, fill=0.0):
    width = max(map(len, lists))
    return torch.tensor([row + [fill] * (width - len(row)) for row in lists])


def batches(run):
    """(step, ids, logprob, entropy, advantage, mask) of each step, right-padded as in a trainer."""
    columns = ["step", "group_id", "sample_id", "advantage", "logprob", "entropy"]
    table = pq.read_table(DATA / f"{run}.parquet", columns=columns)
    for step in sorted(set(table["step"].to_pylist())):
        rows = table.filter(np.array(table["step"]) == step).to_pydict()
        mask = padded([[1.0] * len(row) for row in rows["logprob"]])
        ids = list(zip(rows["group_id"], rows["sample_id"]))
        yield step, ids, padded(rows["logprob"]), padded(rows["entropy"]), torch.tensor(rows["advantage"]), mask


def silenced_by_program(run, **options):
    rows = analyze(DATA / f"{run}.parquet", **options).tables.arrow("flagged").to_pylist()
    names = ("step", "group_id", "sample_id", "position")
    return {tuple(r[n] for n in names): r["tau_h"] for r in rows if r["kind"] == "spurious"}


@unittest.skipUnless(PROGRAM, "stapo-analyze is not installed")
class AgainstTheProgram(unittest.TestCase):
    def compare(self, run, preset, options=None, **settings):
        theirs = silenced_by_program(run, preset=preset, **(options or {}))
        ours = {}
        for step, ids, *tensors in batches(run):
            tau_h = s2t_threshold(*tensors, preset=preset, **settings)
            for row, position in s2t_mask(*tensors, preset=preset, **settings).nonzero().tolist():
                ours[(step, *ids[row], position)] = tau_h
        self.assertEqual(ours, theirs)  # the thresholds too, to the last bit
        return len(ours)

    def test_v5(self):
        self.assertEqual([self.compare(run, "v5") for run in ("grpo", "stapo")], [168, 150])

    def test_v1(self):
        for run in ("grpo", "stapo"):
            self.assertGreater(self.compare(run, "v1"), 100)

    def test_other_thresholds(self):
        self.compare("grpo", "v5", {"tau_p": 0.01, "entropy_quantile": 0.5}, tau_p=0.01, quantile=0.5)


class Rule(unittest.TestCase):
    def test_strict_and_missing(self):
        logprob = torch.tensor([[-9.0, -9.0, -9.0, -1.0, float("nan"), -float("inf"), -9.0]])
        entropy = torch.tensor([[0.1, 0.9, 0.5, 0.1, 0.1, 0.1, float("nan")]])
        silenced = s2t_mask(logprob, entropy, torch.tensor([1.0]), tau_h=0.5)
        self.assertEqual(silenced.tolist(), [[True] + [False] * 6])
        for advantage in (0.0, -1.0):
            self.assertFalse(s2t_mask(logprob, entropy, torch.tensor([advantage]), tau_h=0.5).any())
        self.assertFalse(s2t_mask(logprob, entropy, torch.tensor([1.0]), torch.zeros(1, 7), tau_h=0.5).any())

    def test_without_rivals_nothing_is_silenced(self):
        for logprob in ([[-9.0]], [[-0.1]]):
            self.assertFalse(s2t_mask(torch.tensor(logprob), torch.tensor([[0.2]]), torch.tensor([1.0])).any())
        tied = torch.full((1, 9), -9.0), torch.full((1, 9), 0.2), torch.tensor([1.0])
        self.assertFalse(s2t_mask(*tied).any())

    def test_quantiles_are_those_of_numpy(self):
        rng = np.random.default_rng(0)
        for n in (1, 2, 3, 50, 1001):
            values = rng.gamma(1, size=n).astype(np.float32)
            for q in (0.0, 0.1, 0.75, 0.8, 1.0):
                self.assertEqual(linear_quantile(torch.from_numpy(values), q), np.quantile(values.astype(float), q))

    def test_the_gradient_of_silenced_tokens_is_zero(self):
        _, _, logprob, entropy, advantage, mask = next(batches("grpo"))
        logprob.requires_grad_()
        keep = mask * ~s2t_mask(logprob, entropy, advantage, mask)
        loss = (-torch.exp(logprob - logprob.detach()) * advantage[:, None] * keep).sum() / keep.sum()
        loss.backward()
        silenced = s2t_mask(logprob, entropy, advantage, mask)
        self.assertGreater(silenced.sum(), 0)
        self.assertEqual(logprob.grad[silenced].abs().max(), 0)
        kept = (keep > 0) & (advantage[:, None] != 0)
        self.assertTrue((logprob.grad[kept] != 0).all())


def one_rank(rank, address, results):
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    _, _, *tensors = next(batches("grpo"))
    local = [t[rank::2] for t in tensors]
    mask = s2t_mask(*local, gather=gather_over_ranks)
    whole = s2t_mask(*tensors)[rank::2]
    results[rank] = bool((mask == whole).all()) and int(mask.sum()) > 0
    torch.distributed.destroy_process_group()


class Distributed(unittest.TestCase):
    def test_ranks_that_gather_agree_with_one_process(self):
        with tempfile.TemporaryDirectory() as folder, torch.multiprocessing.Manager() as manager:
            results = manager.dict()
            torch.multiprocessing.spawn(one_rank, (f"file://{folder}/meet", results), nprocs=2)
            self.assertEqual(dict(results), {0: True, 1: True})
