"""The numbers of a report that are worth a curve on a dashboard."""

STATES = {"healthy": 0, "suspicious": 1, "not_learning": 2, "damaged": 3, "collapsed": 4, "not_finite": 5}

# Of the whole log so far: name on the dashboard, place in summary.json.
RUN = {"spurious_share": ("s2t", "fraction"), "spurious_energy_share": ("s2t", "energy_share"),
       "tokens": ("totals", "tokens"), "responses": ("totals", "responses")}  # fmt: skip


def scalars(report):
    """`stapo/<name>` of a RunReport: state, numbers of the run, numbers of its last step."""
    summary, found = report.summary, {}
    state = report.diagnosis.get("state") or report.verdict.state
    if state in STATES:
        found["stapo/state"] = STATES[state]
    for name, (part, field) in RUN.items():
        found[f"stapo/{name}"] = (summary.get(part) or {}).get(field)
    steps = summary.get("steps") or [{}]
    for name, value in steps[-1].items():
        found[f"stapo/step/{name}" if name != "step" else "stapo/step"] = value
    return {
        name: value for name, value in found.items() if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
