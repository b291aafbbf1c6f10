"""logit_stats against brute force and against the sample run's exact figures; torch where installed."""

import tracemalloc
import unittest

import numpy as np
import pyarrow.parquet as pq

from stapo_analyze import LogitStats, logit_stats
from support import DATA

try:
    import torch
except ImportError:
    torch = None


def brute_force(logits, tokens, temperature=1.0):
    """The definitions, in extended precision where the machine has it."""
    x = np.asarray(logits, np.longdouble) / temperature
    x -= x.max(-1, keepdims=True)
    pi = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    log_pi = x - np.log(np.exp(x).sum(-1, keepdims=True))
    row = np.arange(len(tokens))
    score = -pi
    score[row, tokens] += 1
    # 1 − π_k of a token that is nearly certain: what the others have.
    others = pi.copy()
    others[row, tokens] = 0
    score[row, tokens] = others.sum(-1)
    terms = np.where(pi > 0, pi * np.where(pi > 0, log_pi, 0), 0)
    norm = np.sqrt((score**2).sum(-1))
    return LogitStats(log_pi[row, tokens], -terms.sum(-1), (pi**2).sum(-1), (pi * terms).sum(-1), norm)


def some_logits(rng, positions=400, vocab=1000):
    """From flat to nearly certain, with tokens of all ranks."""
    logits = rng.normal(size=(positions, vocab)) * np.geomspace(0.1, 8, positions)[:, None]
    logits[::3, 7] += np.linspace(5, 60, len(logits[::3]))
    tokens = rng.integers(0, vocab, positions)
    tokens[::2] = logits[::2].argmax(-1)
    return logits, tokens


class Logits(unittest.TestCase):
    def near(self, stats, exact, rtol, atol=1e-12):
        for name, got, want in zip(LogitStats._fields, stats, exact):
            if name == "sum_pi_sq":  # holds p² of the log-probability as stored, in single precision
                rtol = max(rtol, 1e-6)
            np.testing.assert_allclose(np.asarray(got, float), np.asarray(want, float), rtol, atol, err_msg=name)

    def kinds(self):
        yield np.asarray, np.asarray
        if torch is not None:
            yield torch.from_numpy, torch.from_numpy

    def test_against_brute_force(self):
        logits, tokens = some_logits(np.random.default_rng(0))
        for make, make_ids in self.kinds():
            for temperature in (1.0, 0.6):
                exact = brute_force(logits, tokens, temperature)
                self.near(logit_stats(make(logits), make_ids(tokens), temperature=temperature), exact, 1e-11)
                exact = brute_force(logits.astype(np.float32), tokens, temperature)
                single = logit_stats(make(logits.astype(np.float32)), make_ids(tokens), temperature=temperature)
                self.near(single, exact, 3e-5)

    def test_the_textbook_formula_would_cancel(self):
        logits = np.zeros((1, 50), np.float32)
        logits[0, 3] = 20
        exact = brute_force(logits, [3])
        p = np.exp(logits) / np.exp(logits).sum()
        textbook = np.float32(1) - np.float32(2) * p[0, 3] + (p * p).sum()
        self.assertTrue(textbook <= 0 or abs(np.sqrt(textbook) / exact.score_norm[0] - 1) > 0.1)
        for make, make_ids in self.kinds():
            stats = logit_stats(make(logits), make_ids(np.array([3])))
            self.near(stats, exact, 1e-5, 0)

    def test_chunks_change_nothing_and_shapes_are_kept(self):
        logits, tokens = some_logits(np.random.default_rng(1), 60, 100)
        for make, make_ids in self.kinds():
            shaped = make(logits.reshape(4, 15, 100)), make_ids(tokens.reshape(4, 15))
            whole, chunked = logit_stats(*shaped), logit_stats(*shaped, chunk_values=700)
            for name, a, b in zip(LogitStats._fields, whole, chunked):
                self.assertEqual(tuple(a.shape), (4, 15), name)
                np.testing.assert_array_equal(np.asarray(a), np.asarray(b))

    def test_impossible_tokens_and_no_positions(self):
        logits = np.array([[0.0, -np.inf, 1.0]])
        for make, make_ids in self.kinds():
            stats = logit_stats(make(logits), make_ids(np.array([2])))
            self.near(stats, brute_force(logits[:, [0, 2]], [1]), 1e-12)
            self.assertEqual(float(logit_stats(make(logits), make_ids(np.array([1]))).logprob[0]), -np.inf)
            self.assertEqual(len(logit_stats(make(logits[:0]), make_ids(np.array([], int))).entropy), 0)

    def test_memory_is_bounded(self):
        logits = np.random.default_rng(2).normal(size=(4000, 2000)).astype(np.float32)
        tokens = np.zeros(4000, int)
        tracemalloc.start()
        logit_stats(logits, tokens, chunk_values=200_000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        self.assertLess(peak, 6 * 4 * 200_000)

    def test_half_precision_logits(self):
        if torch is None:
            self.skipTest("torch is not installed")
        logits, tokens = some_logits(np.random.default_rng(3), 50, 300)
        halved = torch.from_numpy(logits).bfloat16()
        stats = logit_stats(halved, torch.from_numpy(tokens))
        self.assertEqual(stats.logprob.dtype, torch.float32)
        self.near(stats, brute_force(halved.double().numpy(), tokens), 3e-5)

    def test_the_model_gives_the_figures_of_the_sample_run(self):
        """notebooks-data/reference/exact.parquet; transformers keeps positions in single precision."""
        try:
            from transformers import AutoModelForCausalLM
        except ImportError:
            self.skipTest("transformers is not installed")
        model = AutoModelForCausalLM.from_pretrained(DATA / "model", dtype=torch.float64)
        rows = pq.read_table(DATA / "reference/exact.parquet").slice(0, 8).to_pylist()
        for row in rows:
            ids = torch.tensor([row["prompt_ids"] + row["token_ids"]])
            with torch.no_grad():
                logits = model(ids).logits[0, len(row["prompt_ids"]) - 1 : -1]
            for precision, rtol in ((torch.float64, 1e-5), (torch.float32, 1e-4)):
                stats = logit_stats(logits.to(precision), torch.tensor(row["token_ids"]))
                for name in ("logprob", "entropy", "sum_pi_sq", "sum_pi_sq_log_pi"):
                    np.testing.assert_allclose(getattr(stats, name).double(), row[name], rtol, 1e-7, err_msg=name)
                norm = stats.score_norm.double() * abs(row["advantage"])
                np.testing.assert_allclose(norm, row["grad_norm"], rtol, 1e-7)
