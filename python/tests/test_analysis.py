"""analyze, compare and load against the program itself, on the sample runs. Needs the program, not torch."""

import json
import pickle
import subprocess
import sys
import unittest
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import stapo_analyze
from stapo_analyze import (
    Comparison,
    GateFailed,
    ProgramNotFound,
    RunReport,
    StapoError,
    analyze,
    compare,
    load,
    program,
)
from stapo_analyze.analysis import flags
from stapo_analyze.scalars import scalars
from support import DATA, PROGRAM, Case, named_program

pytestmark = pytest.mark.skipif(not PROGRAM, reason="stapo-analyze is not installed")
GRPO, STAPO = DATA / "grpo.parquet", DATA / "stapo.parquet"


class Analyze(Case):
    def test_a_report_and_what_it_says(self):
        run = analyze(GRPO, report=self.dir / "out", tokenizer=DATA / "model")
        self.assertIsInstance(run, RunReport)
        self.assertEqual(run.summary, json.loads((self.dir / "out/summary.json").read_text()))
        self.assertEqual(run.summary["s2t"]["silenced"], 168)
        self.assertEqual(run.verdict.state, run.summary["verdict"]["state"])
        self.assertEqual(run.verdict.sentences, (run.summary["verdict"]["health"], run.summary["verdict"]["spurious"]))
        self.assertIn("168", str(run.verdict))
        self.assertTrue(run.page.is_file())
        self.assertEqual(len(run.warnings), len(run.summary["warnings"]))
        self.assertEqual([c.code for c in run.causes], [c["code"] for c in run.diagnosis.get("causes", [])])
        again = load(self.dir / "out")
        self.assertEqual((type(again), again.summary), (RunReport, run.summary))

    def test_tables_in_what_is_installed(self):
        run = analyze(GRPO)
        direct = pq.read_table(run.folder / "tables/steps.parquet")
        self.assertEqual(run.tables.arrow("steps"), direct)
        self.assertIn("steps", run.tables)
        self.assertEqual(len(run.tables), len(list(run.tables)))
        self.assertEqual(sorted(run.tables), sorted(p.stem for p in (run.folder / "tables").glob("*.parquet")))
        kinds = {}
        for name in ("polars", "pandas"):
            try:
                kinds[name] = getattr(run.tables, name)("steps")
            except ImportError:
                continue
            self.assertEqual(list(kinds[name]["step"]), direct["step"].to_pylist())
        expected = next(iter(kinds.values()), direct)
        self.assertEqual(type(run.tables.steps), type(expected))
        with self.assertRaisesRegex(AttributeError, "no such table.*\n.*steps"):
            run.tables.nonsense
        self.assertFalse(hasattr(run.tables, "nonsense"))

    def test_a_temporary_report_lives_as_long_as_its_result(self):
        run = analyze(GRPO)
        folder = run.folder
        self.assertTrue((folder / "summary.json").exists())
        self.assertNotIn("<a ", run._repr_html_())  # nothing to link to for long
        self.assertTrue(repr(run).startswith(f"<RunReport: {run.verdict.state}>"))
        tables = run.tables
        del run
        self.assertEqual(tables.arrow("steps").num_rows, 11)  # the tables alone keep it, too
        del tables
        self.assertFalse(folder.exists())

    def test_options_and_gates(self):
        strict = analyze(GRPO, tau_p=1e-3, preset="v1", map=["logprob=logprob", "entropy=entropy"], pool=True)
        self.assertEqual(strict.summary["s2t"]["tau_p"], 1e-3)
        with self.assertRaises(GateFailed) as caught:
            analyze(GRPO, fail_on="s2t.fraction>1e-6")
        self.assertIn("s2t.fraction", caught.exception.message)
        self.assertEqual(caught.exception.result.summary["s2t"]["silenced"], 168)

    def test_several_values_of_an_option(self):
        for value, expected in (
            ({"advantage": "adv", "entropy": "h"}, ["--map=advantage=adv", "--map=entropy=h"]),
            ({"turn", "source"}, ["--map=source", "--map=turn"]),
            ((name for name in "ab"), ["--map=a", "--map=b"]),
            ("one=text", ["--map=one=text"]),
            (Path("a") / "b", [f"--map={Path('a') / 'b'}"]),
            (3, ["--map=3"]),
            (None, []),
        ):
            self.assertEqual(list(flags({"map": value})), expected)
        self.assertEqual(analyze(GRPO, map={"logprob": "logprob"}).summary["s2t"]["silenced"], 168)

    def test_errors_carry_message_and_hint(self):
        for call in (lambda: analyze(self.dir / "nothing"), lambda: analyze(GRPO, tau_p=7), lambda: load(self.dir)):
            with self.assertRaises(StapoError) as caught:
                call()
            self.assertTrue(caught.exception.message)
            self.assertNotIn("error:", caught.exception.message)
            copy = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((str(copy), copy.hint), (str(caught.exception), caught.exception.hint))
        with self.assertRaisesRegex(StapoError, "nothing") as caught:
            analyze(self.dir / "nothing")
        self.assertTrue(caught.exception.hint)

    def test_in_a_notebook(self):
        run = analyze(GRPO, report=self.dir / "<out>")
        html = run._repr_html_()
        self.assertIn(run.verdict.sentences[0].split("(")[0].strip(), html)
        self.assertIn("&lt;out&gt;", html)
        self.assertNotIn("<out>", html)

    def test_numbers_for_a_dashboard(self):
        run = analyze(GRPO)
        found = scalars(run)
        last = run.summary["steps"][-1]
        self.assertEqual(found["stapo/step"], last["step"])
        self.assertEqual(found["stapo/step/mean_entropy"], last["mean_entropy"])
        self.assertEqual(found["stapo/spurious_share"], run.summary["s2t"]["fraction"])
        self.assertTrue(all(isinstance(v, (int, float)) for v in found.values()))


class Compare(Case):
    def test_two_runs(self):
        result = compare(f"a={GRPO}", f"b={STAPO}", report=self.dir / "out")
        self.assertIsInstance(result, Comparison)
        self.assertEqual(result.verdict.sentences[0], result.summary["said"][0]["lines"][0])
        self.assertIn("reward", {row["name"] for row in result.metrics})
        self.assertIn("compare_metrics", list(result.tables))
        self.assertEqual(load(self.dir / "out").summary, result.summary)

    def test_arms(self):
        result = compare(arms={"one": [GRPO], "two": [STAPO]})
        self.assertEqual([arm["name"] for arm in result.summary["arms"]], ["one", "two"])


class Program(unittest.TestCase):
    def test_as_a_module(self):
        command = [sys.executable, "-m", "stapo_analyze"]
        done = subprocess.run([*command, "--version"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "stapo-analyze"))
        done = subprocess.run([*command, "nothing-here.parquet"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("hint:", done.stderr)

    def test_a_program_that_is_not_there(self):
        with named_program("/nowhere/stapo-analyze"), self.assertRaisesRegex(ProgramNotFound, "/nowhere"):
            analyze(GRPO)

    def test_what_the_program_says_becomes_an_exception(self):
        said = program.failure("error: a.parquet: broken\nhint: mend it,\nthen again\n", 2)
        self.assertEqual((said.message, said.hint), ("a.parquet: broken", "mend it, then again"))
        self.assertEqual(program.failure("", 101).message, "stapo-analyze ended with exit code 101")


class Package(unittest.TestCase):
    def test_every_name_is_there_and_torch_is_not_needed(self):
        code = "import sys, stapo_analyze as s; s.analyze, s.load, s.compare, s.TokenLog, s.logit_stats; print('torch' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.stdout.strip(), done.stderr), ("False", ""))
        self.assertLessEqual(
            {"TokenLog", "logit_stats", "s2t_mask", "analyze", "compare", "load"}, set(dir(stapo_analyze))
        )
        with self.assertRaises(AttributeError):
            stapo_analyze.nonsense
        self.assertTrue((Path(stapo_analyze.__file__).parent / "py.typed").is_file())
