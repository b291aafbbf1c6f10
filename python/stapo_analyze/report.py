"""What a finished report says, typed: `load("out/")`."""

import html
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import StapoError
from .tables import Tables


@dataclass(frozen=True)
class Verdict:
    """The answer in plain words."""

    state: str | None
    sentences: tuple

    def __str__(self) -> str:
        return "\n".join(self.sentences)


@dataclass(frozen=True)
class Cause:
    """What made a run sick. `confidence` is `likely` or `possible`; `evidence` holds the numbers and places."""

    code: str
    confidence: str
    message: str
    hint: str
    evidence: tuple = field(repr=False)


@dataclass(frozen=True)
class ReportWarning:
    """What a reader should know before believing a number."""

    code: str
    message: str
    hint: str
    evidence: tuple = field(repr=False)


class Report:
    """A folder that stapo-analyze has written. `summary` is its JSON as it is."""

    FILE, PAGE = "summary.json", "report.html"
    SENTENCES: "tuple[str, ...]" = ("health", "spurious")  # fields of its verdict, in reading order

    def __init__(self, folder: "str | os.PathLike[str]", keep: Any = None) -> None:
        self.folder = Path(folder)
        self._keep = keep  # a temporary folder lives as long as its report
        path = self.folder / self.FILE
        try:
            self.summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise StapoError(f"{path}: no such file", "give the folder of a finished report") from None
        except (OSError, ValueError) as error:
            raise StapoError(f"{path}: {error}", "write the report again") from error

    @property
    def page(self) -> Path:
        """The page to open in a browser."""
        return self.folder / self.PAGE

    @property
    def tables(self) -> Tables:
        """The tables behind the report."""
        if not hasattr(self, "_tables"):
            self._tables = Tables(self.folder / "tables", self._keep)
        return self._tables

    @property
    def verdict(self) -> Verdict:
        """State and sentences of the first screen."""
        verdict = self.summary.get("verdict") or {}
        texts: list[str] = []
        for name in self.SENTENCES:
            said = verdict.get(name) or ()
            texts += [said] if isinstance(said, str) else said
        return Verdict(verdict.get("state"), tuple(texts))

    @property
    def warnings(self) -> "tuple[ReportWarning, ...]":
        """The most serious first."""
        found = self.summary.get("warnings") or []
        return tuple(
            ReportWarning(w["code"], w["message"], w.get("hint", ""), tuple(w.get("evidence", ()))) for w in found
        )

    def __repr__(self) -> str:
        where = f" {self.folder}" if self._keep is None else ""  # a temporary folder says nothing
        return f"<{type(self).__name__}{where}: {self.verdict.state or 'done'}>\n{self.verdict}"

    def _repr_html_(self) -> str:
        """For notebooks: verdict, causes and warnings, with a link to the page."""
        parts = [f"<b>{html.escape(text)}</b>" for text in self.verdict.sentences[:1]]
        parts += [html.escape(text) for text in self.verdict.sentences[1:]]
        blocks = ["".join(f"<p style='margin:.3em 0'>{part}</p>" for part in parts), self._findings_html()]
        if self._keep is None:
            blocks.append(f"<p><a href='{html.escape(str(self.page))}'>{html.escape(str(self.page))}</a></p>")
        return f"<div style='max-width:60em'>{''.join(blocks)}</div>"

    def _findings_html(self):
        return _list_html("Warnings", self.warnings)


class RunReport(Report):
    """The analysis of one run."""

    @property
    def diagnosis(self) -> "dict[str, Any]":
        """Damage, causes, onsets, what was not checked; empty in reports of versions without one."""
        return self.summary.get("diagnosis") or {}

    @property
    def causes(self) -> "tuple[Cause, ...]":
        """What made the run sick, the first one ranks highest."""
        return tuple(
            Cause(c["code"], c["confidence"], c["message"], c.get("hint", ""), tuple(c.get("evidence", ())))
            for c in self.diagnosis.get("causes", ())
        )

    @property
    def not_checked(self) -> "dict[str, Any]":
        """Causes that could not be looked for, with the columns that are missing."""
        return {c["code"]: c["needs"] for c in self.diagnosis.get("not_checked", ())}

    def _findings_html(self):
        return _list_html("Causes", self.causes) + super()._findings_html()


class Comparison(Report):
    """Runs held against the first one. `metrics` is a row a metric, window and run."""

    FILE, PAGE = "compare.json", "compare.html"

    @property
    def verdict(self) -> Verdict:
        """What is said, the surest level first; the state is that of the page."""
        said = tuple(line for of in self.summary["said"] for line in of["lines"])
        differs = self.summary["methods_differ"] or self.summary["runs_differ"]
        return Verdict("different" if differs else None, said)

    @property
    def metrics(self) -> "list[dict[str, Any]]":
        """Values, differences, intervals, verdicts."""
        return self.summary["metrics"]


class Replay(Report):
    """A policy trained on the logged batches, once per objective."""

    FILE, PAGE = "replay.json", "replay.html"
    SENTENCES = ("headline", "detail")


def load(folder: "str | os.PathLike[str]") -> Report:
    """The report that is in a folder, of whichever kind it is."""
    for kind in (RunReport, Comparison, Replay):
        if (Path(folder) / kind.FILE).is_file():
            return kind(folder)
    raise StapoError(
        f"{folder}: no summary.json, compare.json or replay.json",
        "give a folder that --report wrote, or make one with stapo_analyze.analyze(log, report=folder)",
    )


def _list_html(title, findings):
    if not findings:
        return ""
    items = "".join(
        f"<li>{html.escape(f.message)} <code>{html.escape(f.code)}</code>"
        f"<br><span style='opacity:.7'>{html.escape(f.hint)}</span></li>"
        for f in findings
    )
    return f"<p style='margin:.6em 0 0'>{title}</p><ol style='margin:.2em 0'>{items}</ol>"
