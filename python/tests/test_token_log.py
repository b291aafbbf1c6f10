"""TokenLog: what it writes, what it refuses, and what stapo-analyze reads of it; torch where installed."""

import json
import tracemalloc
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stapo_analyze import TokenLog, logit_stats
from support import DATA, Case
from test_logits import brute_force, some_logits

try:
    import torch
except ImportError:
    torch = None


class Writing(Case):
    def log(self, **settings):
        known = dict(vocab_size=256, temperature=1.0, top_p=1.0, algorithm="grpo", framework="test")
        if settings.get("ranks", 1) > 1:
            known["run_id"] = "test"
        return TokenLog(self.dir / "log", **(known | settings))

    def files(self):
        return sorted(str(p.relative_to(self.dir / "log")) for p in (self.dir / "log").glob("step_*/*"))

    def fill(self, log, step, groups=4, size=3, width=5, start=0):
        for g in range(start, start + groups):
            ids = np.arange(size * width).reshape(size, width)
            log.add_batch(
                step, length=np.arange(size) + 2, group_id=np.full(size, g), sample_id=np.arange(size),
                reward=np.arange(size) % 2, advantage=np.linspace(-1, 1, size), token_id=ids,
                logprob=-ids / 10, entropy=ids / 10, mask=np.ones((size, width), int),
            )  # fmt: skip

    def test_rows_types_and_metadata(self):
        with self.log(clip_low=0.2) as log:
            self.fill(log, 7, groups=1)
        self.assertEqual(
            self.files(), [f"step_00000007/{n}" for n in (".rank_00000.done", "STABLE", "rank_00000.parquet")]
        )
        table = pq.read_table(self.dir / "log/step_00000007/rank_00000.parquet")
        row = table.to_pylist()[1]
        self.assertEqual((row["step"], row["group_id"], row["sample_id"], row["reward"]), (7, "0", "1", 1.0))
        self.assertEqual((row["token_id"], row["mask"], row["advantage_seq"]), ([5, 6, 7], [True] * 3, 0.0))
        np.testing.assert_allclose(row["logprob"], [-0.5, -0.6, -0.7], rtol=1e-6)
        self.assertEqual(table.schema.field("logprob").type.value_type, pa.float32())
        metadata = {k.decode(): v.decode() for k, v in table.schema.metadata.items()}
        expected = {"vocab_size": "256", "temperature": "1.0", "top_p": "1.0", "algorithm": "grpo", "clip_low": "0.2"}
        self.assertLessEqual((expected | {"schema_version": "1", "framework": "test"}).items(), metadata.items())
        footer = pq.read_metadata(self.dir / "log/step_00000007/rank_00000.parquet").metadata
        self.assertEqual(footer[b"responses_seen"], b"3")

    def test_updates_are_counted_beyond_32_bits(self):
        with self.log() as log:
            log.add(1, update=3_000_000_000, token_id=[5], logprob=[-0.5], entropy=[0.5], advantage=1.0)
        table = pq.read_table(self.dir / "log/step_00000001/rank_00000.parquet")
        self.assertEqual(table.column("update").to_pylist(), [3_000_000_000])

    def test_every(self):
        with self.log(every=10) as log:
            for step in range(25):
                self.assertEqual(log.wants(step), step in (0, 10, 20))
                self.fill(log, step)
        self.assertEqual(
            sorted(p.name for p in (self.dir / "log").glob("step_*")), [f"step_{s:08}" for s in (0, 10, 20)]
        )

    def test_chosen_responses_are_whole_groups_in_any_order(self):
        warnings.simplefilter("ignore")  # the second log sets the first one aside

        def chosen(order):
            with self.log(responses=10) as log:
                for g in order:
                    self.fill(log, 3, groups=1, start=g)
            return pq.read_table(self.dir / "log/step_00000003/rank_00000.parquet").column("group_id").to_pylist()

        first = chosen(range(50))
        self.assertEqual(len(first), 9)
        self.assertEqual({g: first.count(g) for g in first}, {g: 3 for g in set(first)})
        self.assertEqual(sorted(chosen(reversed(range(50)))), sorted(first))
        with self.log(responses=10) as log:
            for _ in range(3):
                for g in np.random.default_rng(5).permutation(50):
                    log.add(3, group_id=g, token_id=[1], logprob=[-0.1])
        rows = pq.read_table(self.dir / "log/step_00000003/rank_00000.parquet").column("group_id").to_pylist()
        self.assertEqual(sorted(rows), sorted(first))

    def test_the_last_rank_marks_the_step(self):
        ranks = [self.log(rank=r, ranks=3) for r in range(3)]
        for r, log in enumerate(ranks):
            if r != 1:  # a rank without responses has no file
                self.fill(log, 4, start=10 * r)
            log.finish(4)
            self.assertEqual((self.dir / "log/step_00000004/STABLE").exists(), r == 2)
        self.assertEqual(
            [f for f in self.files() if f.endswith("parquet")], [f"step_00000004/rank_0000{r}.parquet" for r in (0, 2)]
        )

    def test_ranks_share_the_run(self):
        with self.assertRaisesRegex(ValueError, "the same run_id"):
            self.fill(self.log(rank=1, ranks=3, run_id=None), 0)
        for r in range(2):
            with self.log(rank=r, ranks=2, run_id="abc") as log:
                self.fill(log, 0, start=10 * r)
        self.assertEqual([self.metadata(0, r)["run_id"] for r in range(2)], ["abc", "abc"])

    def steps(self, folder="log"):
        return sorted(int(p.name[5:]) for p in (self.dir / folder).glob("step_*"))

    def metadata(self, step, rank=0):
        table = pq.read_table(self.dir / f"log/step_{step:08}/rank_{rank:05}.parquet")
        return {k.decode(): v.decode() for k, v in table.schema.metadata.items()}

    def run_of(self, steps, start=None, **settings):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with self.log(**settings) as log:
                if start is not None:
                    log.start(start)
                for step in steps:
                    self.fill(log, step, groups=1)
        return [str(w.message) for w in caught]

    def test_a_new_run_sets_the_old_one_aside(self):
        self.run_of(range(3))
        first = self.metadata(0)["run_id"]
        [said] = self.run_of(range(2))
        self.assertIn("3 steps of an earlier run moved to", said)
        self.assertEqual((self.steps(), self.steps(f"log.aside-{first}")), ([0, 1], [0, 1, 2]))
        self.assertNotEqual(self.metadata(0)["run_id"], first)

    def test_a_resumed_run_goes_on_and_sets_its_stale_tail_aside(self):
        self.run_of([0, 10, 20, 30], every=10)
        first = self.metadata(0)["run_id"]
        self.run_of([20], every=10, start=15)  # the checkpoint was of step 15; 20 and 30 will be made anew
        self.assertEqual((self.steps(), self.steps(f"log.aside-{first}")), ([0, 10, 20], [20, 30]))
        self.assertEqual({self.metadata(s)["run_id"] for s in self.steps()}, {first})
        self.run_of([30], every=10, run_id="another", start=30)  # said to be another run: nothing is mixed
        self.assertEqual((self.steps(), self.metadata(30)["run_id"]), ([30], "another"))

    def test_all_passes_of_a_generation_or_none(self):
        log = self.log(every=10)
        kept = [
            s for first in range(0, 48, 4) for s in range(first, first + 4) if log.choose(first, 4) and log.wants(s)
        ]
        self.assertEqual(kept, [0, 1, 2, 3, 8, 9, 10, 11, 20, 21, 22, 23, 28, 29, 30, 31, 40, 41, 42, 43])
        with self.log(every=2, responses=6) as log:
            for first in (0, 2):
                log.choose(first, 2)
                for step in (first, first + 1):
                    self.fill(log, step, groups=20)
        ids = [
            pq.read_table(self.dir / f"log/step_{s:08}/rank_00000.parquet")["group_id"].to_pylist() for s in range(4)
        ]
        self.assertEqual((ids[0], ids[2]), (ids[1], ids[3]))  # the same responses in both passes
        self.assertNotEqual(ids[0], ids[2])

    def test_the_tokenizer_lies_beside_the_log(self):
        with self.log(tokenizer=DATA / "model") as log:
            self.fill(log, 0)
        self.assertEqual((self.dir / "log/tokenizer.json").read_bytes(), (DATA / "model/tokenizer.json").read_bytes())
        self.assertEqual(self.metadata(0)["tokenizer"], "tokenizer.json")

    def test_nothing_half_written_stays(self):
        with self.assertRaisesRegex(ValueError, "logprob has shape"), self.log(buffer_tokens=1) as log:
            self.fill(log, 1)
            log.add(1, token_id=[1, 2], logprob=[-0.5])
        self.assertEqual(self.files(), [])

    def test_a_column_that_comes_late_is_kept(self):
        with self.log(buffer_tokens=2) as log:
            log.add(1, token_id=[1, 2], logprob=[-0.5, -0.25], reward=1.0)
            log.add(1, token_id=[3, 4], logprob=[-0.5, -0.25], reward=0.0, policy_version=7)
            log.add(1, token_id=[5, 6], logprob=[-1.0, -0.25], **{"reward/code": 0.5})
        self.assertEqual(
            self.files(), [f"step_00000001/{n}" for n in (".rank_00000.done", "STABLE", "rank_00000.parquet")]
        )
        table = pq.read_table(self.dir / "log/step_00000001/rank_00000.parquet")
        found = [(r["token_id"], r["reward"], r["policy_version"], r["reward/code"]) for r in table.to_pylist()]
        self.assertEqual(found, [([1, 2], 1.0, None, None), ([3, 4], 0.0, 7, None), ([5, 6], None, None, 0.5)])
        self.assertEqual(table.schema.metadata[b"vocab_size"], b"256")
        footer = pq.read_metadata(self.dir / "log/step_00000001/rank_00000.parquet").metadata
        self.assertEqual(footer[b"responses_seen"], b"3")

    def test_mistakes_are_named(self):
        log = self.log()
        for columns, words in (
            ({"token_id": [1], "logprobs": [-1.0]}, "unknown columns: .'logprobs'"),
            ({"logprob": [-1.0]}, "token_id is needed"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                log.add(1, **columns)
        with self.assertRaisesRegex(ValueError, "not as many rows"):
            log.add_batch(1, length=[1, 1], token_id=[[1], [2]], reward=[1.0])
        with self.assertRaisesRegex(ValueError, "impossible"):
            self.log(every=0)

    def test_memory_is_bounded(self):
        columns = {"logprob": np.full(1000, -0.5), "entropy": np.full(1000, 0.5), "token_id": np.arange(1000)}
        for settings in ({"buffer_tokens": 50_000}, {"responses": 40}):
            self.dir = self.dir / "again"
            tracemalloc.start()
            with self.log(**settings) as log:
                for i in range(2000):
                    wide = {name: np.tile(values, (1, 20)) for name, values in columns.items()}
                    log.add_batch(1, length=[1000], group_id=[i], **wide)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            # 2 M tokens are 24 MB; 50,000 are 0.6 MB.
            self.assertLess(peak, 6e6, settings)

    def test_tensors(self):
        if torch is None:
            self.skipTest("torch is not installed")
        with self.log() as log:
            log.add_batch(
                2, length=torch.tensor([1, 2]), token_id=torch.tensor([[1, 0], [2, 3]]), reward=torch.tensor([0.0, 1.0]),
                logprob=torch.full((2, 2), -0.5).bfloat16().requires_grad_(), prompt_ids=[[1], [1, 2]],
            )  # fmt: skip
            log.add(2, token_id=torch.tensor([4]), logprob=torch.tensor([-0.25]), reward=torch.tensor(0.5))
        rows = pq.read_table(self.dir / "log/step_00000002/rank_00000.parquet").to_pylist()
        self.assertEqual([row["logprob"] for row in rows], [[-0.5], [-0.5, -0.5], [-0.25]])
        self.assertEqual([row["prompt_ids"] for row in rows], [[1], [1, 2], None])

    def test_tensors_of_a_device_in_a_list(self):
        class OnDevice:
            """As torch's tensors on a GPU: `size` is a method, and numpy gets nothing."""

            dtype, ndim = "torch.int64", 1

            def __init__(self, values):
                self.values = values

            def size(self):
                return len(self.values)

            def __len__(self):
                return len(self.values)

            def __array__(self, *_, **__):
                raise TypeError("can't convert cuda:0 device type tensor to numpy")

            def detach(self):
                return self

            cpu = detach

            def numpy(self):
                return np.array(self.values)

        for prompts in ([[1, 2]], [[1, 2], [3, 4]], [[1], [2, 3]]):
            with self.log() as log:
                n = len(prompts)
                log.add_batch(2, length=[1] * n, token_id=[[1]] * n, prompt_ids=[OnDevice(p) for p in prompts])
            rows = pq.read_table(self.dir / "log/step_00000002/rank_00000.parquet").to_pylist()
            self.assertEqual([row["prompt_ids"] for row in rows], prompts)

    def test_the_program_reads_the_sample_run_the_same(self):
        """The sample run, written again by TokenLog in two ranks: the same summary."""
        original = DATA / "grpo.parquet"
        logs = [self.log(rank=r, ranks=2, clip_low=0.2, clip_high=0.28, algorithm="grpo") for r in range(2)]
        for batch in pq.ParquetFile(original).iter_batches(64):
            for row in batch.to_pylist():
                row["token_id"] = row.pop("token_ids")
                logs[row["group_id"] % 2].add(**row)
        for log in logs:
            log.finish()
        self.assertEqual(json.loads(self.analyze("check", self.dir / "log", "--format", "json"))["tokens"], 612_395)
        ours = json.loads(self.analyze(self.dir / "log", "--format", "json", "--full"))
        theirs = json.loads(self.analyze(original, "--format", "json", "--full"))
        for part in ("s2t", "verdict", "totals"):
            for name, value in theirs[part].items():
                if isinstance(value, float):
                    self.assertAlmostEqual(ours[part][name], value, 9, name)
                elif isinstance(value, (int, str)):
                    self.assertEqual(ours[part][name], value, name)

    def test_the_program_finds_exact_norms(self):
        """Σπ² as logit_stats gives it leads to the norms as they are, near p = 1 too."""
        logits, tokens = some_logits(np.random.default_rng(8), 2000, 500)
        logits = logits.astype(np.float32)
        stats, exact = logit_stats(logits, tokens), brute_force(logits, tokens)
        with TokenLog(self.dir, vocab_size=500, temperature=1.0) as log:
            for i in range(0, 2000, 50):
                at = slice(i, i + 50)
                log.add(
                    0, group_id=i, reward=1.0, advantage=1.0, token_id=tokens[at], logprob=stats.logprob[at],
                    entropy=stats.entropy[at], sum_pi_sq=stats.sum_pi_sq[at], sum_pi_sq_log_pi=stats.sum_pi_sq_log_pi[at],
                )  # fmt: skip
        summary = json.loads(self.analyze(self.dir, "--format", "json", "--full"))
        energy = sum(c["energy"] for c in summary["taxonomy"])
        np.testing.assert_allclose(energy, float((exact.score_norm**2).sum()), 1e-5)
        self.assertEqual(summary["entropy_change"]["exact"], 2000)
        self.assertEqual(summary["totals"]["infeasible"], 0)
