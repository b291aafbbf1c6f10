#!/usr/bin/env python3
"""Folds a small stream of traces and reads it back.

    python test_prime_rl_fold.py        # with STAPO_ANALYZE=path, the program reads the result, too
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "prime_rl_fold.py"


def node(parent, ids, mask, logprobs):
    return {"parent": parent, "token_ids": ids, "mask": mask, "logprobs": logprobs}


def episode(name, work="train"):
    nodes = [
        node(None, [1, 2], [False, False], []),
        node(0, [3, 4, 5], [False, True, True], [-0.1, -0.2]),
        node(1, [6], [False], []),
        node(2, [7], [True], [-0.3]),
        node(1, [8], [True], [-0.4]),
    ]
    trace = {"id": f"{name}-t", "rewards": {"right": {"score": 1.0, "weight": 1.0}}, "nodes": nodes}
    policy = {"start": 3, "end": 4}
    run = {"id": "r", "work": {"type": work, "step": 4, "policy": policy}}
    return {"id": name, "group": {"id": "g"}, "run": run, "traces": [trace]}


def ship(name, step):
    branches = [
        {"index": 0, "advantages": [None, None, None, 0.5, 0.5, None, 0.5]},
        {"index": 1, "advantages": [None, None, None, 0.5, 0.5, -0.5]},
    ]
    return {"version": 1, "trace_id": f"{name}-t", "info": {"effective": True, "ship": {"step": step}}, "branches": branches}


def trained(name):
    streams = {"trainer_logprobs": [None, None, None, -0.11, -0.21, None, -0.31], "entropies": [None, None, None, 0.1, 0.2, None, 0.3]}
    last = {"trainer_logprobs": [None, None, None, -0.11, -0.21, -0.41], "entropies": [None, None, None, 0.1, 0.2, 0.4]}
    return {"version": 1, "trace_id": f"{name}-t", "info": {}, "branches": [{"index": 0} | streams, {"index": 1} | last]}


class Fold(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.traces = Path(holder.name) / "traces"
        self.out = Path(holder.name) / "folded"

    def write(self, path, records, end="\n"):
        path = self.traces / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records) + end.strip("\n"))

    def fold(self):
        command = [sys.executable, str(SCRIPT), str(self.traces), "-o", str(self.out)]
        return subprocess.run(command, capture_output=True, text=True)

    def check(self, steps):
        done = self.fold()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 left out", done.stdout)
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), steps)
        rows = (self.out / steps[0] / "traces.jsonl").read_text().splitlines()
        nodes = json.loads(rows[0])["traces"][0]["nodes"]
        self.assertEqual(nodes[1]["trainer_logprobs"], [-0.11, -0.21])
        self.assertEqual((nodes[3]["entropies"], nodes[4]["entropies"]), ([0.3], [0.4]))
        self.assertEqual((nodes[3]["advantages"], nodes[4]["advantages"]), ([0.5], [-0.5]))
        self.assertNotIn("advantages", nodes[0])
        program = os.environ.get("STAPO_ANALYZE")
        if program:
            told = subprocess.run([program, str(self.out), "-q", "--format", "json"], capture_output=True, text=True)
            self.assertEqual(told.returncode, 0, told.stderr)
            summary = json.loads(told.stdout)
            self.assertEqual([row["step"] for row in summary["steps"]], [5, 6])
            # Two branches a trace; what they share is trained once.
            self.assertEqual((summary["totals"]["responses"], summary["totals"]["tokens"]), (4, 8))

    def test_chunks_and_folders(self):
        self.write("stream/00000.jsonl", [episode("a"), episode("eval", "eval")])
        self.write("stream/00001.jsonl", [episode("b"), episode("never")], end='{"torn')
        self.write("stream.index.jsonl", [{"id": "a"}])
        self.write("annotations/orch/00000.jsonl", [ship("a", 5), ship("b", 6), ship("eval", 5)])
        self.write("annotations/trainer/00000.jsonl", [trained("a"), trained("b")])
        self.write("annotations/orch.index.jsonl", [{"trace_id": "a-t"}])
        self.check(["step_5", "step_6"])

    def test_single_files(self):
        self.write("stream.jsonl", [episode("a"), episode("b"), episode("never"), episode("eval", "eval")])
        self.write("annotations/orch.jsonl", [ship("a", 5), ship("b", 6), ship("eval", 5)])
        self.write("annotations/trainer.jsonl", [trained("a"), trained("b")])
        self.check(["step_5", "step_6"])

    def test_without_annotations_it_says_what_is_missing(self):
        self.write("stream.jsonl", [episode("a")])
        done = self.fold()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("neither advantages nor entropies", done.stderr)


if __name__ == "__main__":
    unittest.main()
