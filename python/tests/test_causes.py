"""What a report's diagnosis becomes: from a summary.json as the program's schema has it, no program needed."""

import json
from pathlib import Path

from stapo_analyze import Cause, RunReport, StapoError, load
from stapo_analyze.scalars import scalars
from support import Case

CAUSE = {"code": "large_updates", "confidence": "likely", "message": "ratios <up> to 1,129", "hint": "lower the rate",
         "evidence": [{"step": 3}]}  # fmt: skip


class Causes(Case):
    def report(self, **summary):
        (self.dir / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
        return load(self.dir)

    def test_typed_and_in_order(self):
        other = CAUSE | {"code": "dead_groups", "confidence": "possible", "evidence": []}
        missing = [{"code": "stale_sampler", "needs": ["policy_version"]}]
        run = self.report(diagnosis={"state": "damaged", "causes": [CAUSE, other], "not_checked": missing},
                          verdict={"state": "collapsed", "health": "It fell.", "spurious": "None."})  # fmt: skip
        self.assertEqual(
            run.causes[0], Cause("large_updates", "likely", CAUSE["message"], "lower the rate", ({"step": 3},))
        )
        self.assertEqual([c.code for c in run.causes], ["large_updates", "dead_groups"])
        self.assertEqual(run.not_checked, {"stale_sampler": ["policy_version"]})
        self.assertEqual(scalars(run)["stapo/state"], 3)
        html = run._repr_html_()
        self.assertIn("ratios &lt;up&gt;", html)
        self.assertLess(html.index("large_updates"), html.index("dead_groups"))

    def test_without_a_diagnosis(self):
        run = self.report(verdict={"state": "healthy", "health": "Fine.", "spurious": "None."})
        self.assertEqual((run.causes, run.not_checked, run.warnings), ((), {}, ()))
        self.assertEqual(scalars(run), {"stapo/state": 0})

    def test_a_broken_report(self):
        (self.dir / "summary.json").write_text("{")
        with self.assertRaisesRegex(StapoError, "summary.json"):
            load(self.dir)
        with self.assertRaisesRegex(StapoError, "no such file"):
            RunReport(Path(self.dir) / "other")
