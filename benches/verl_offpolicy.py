"""verl 0.9.1's own off-policy functions beside ours, on any log of the canonical nested layout.

    pip install verl==0.9.1 torch pyarrow
    python benches/verl_offpolicy.py notebooks-data/async.parquet [path of stapo-analyze]

Needs `step`, `logprob`, `logprob_rollout` and, where there is one, `mask`. Runs
`compute_offpolicy_metrics` of every step, `compute_rollout_correction_weights` and
`compute_rollout_rejection_mask` of the run in double precision, and prints the largest relative
difference of each number from ours; exits with 1 if one is above 1e-6.
"""

import json
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import torch
from verl.trainer.ppo import rollout_corr_helper as verl

TOLERANCE = 1e-6


def padded(rows: list[np.ndarray]) -> torch.Tensor:
    out = torch.zeros(len(rows), max(len(row) for row in rows), dtype=torch.float64)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.from_numpy(np.asarray(row, dtype=np.float64))
    return out


def lists(table, name: str) -> list[np.ndarray]:
    column = table[name].combine_chunks()
    ends = column.offsets.to_numpy()
    values = column.values.to_numpy(zero_copy_only=False)
    return [values[ends[i] : ends[i + 1]] for i in range(len(column))]


def load(path: str):
    table = pq.read_table(path)
    old, rollout = lists(table, "logprob"), lists(table, "logprob_rollout")
    masks = lists(table, "mask") if "mask" in table.column_names else [np.ones(len(row), bool) for row in old]
    known = [np.asarray(m, bool) & np.isfinite(a) & np.isfinite(b) for m, a, b in zip(masks, old, rollout)]
    old = [np.where(k, a, 0.0) for k, a in zip(known, old)]
    rollout = [np.where(k, b, 0.0) for k, b in zip(known, rollout)]
    return table["step"].to_numpy(), padded(old), padded(rollout), padded(known)


class Checks:
    def __init__(self):
        self.worst: dict[str, float] = {}

    def hold(self, name: str, ours: float, theirs: float):
        size = abs(theirs) or 1.0
        self.worst[name] = max(self.worst.get(name, 0.0), abs(ours - theirs) / size)


def check_steps(checks: Checks, ours: dict, steps, old, rollout, mask):
    for row in ours["offpolicy"]["steps"]:
        at = torch.from_numpy(np.flatnonzero(steps == row["step"]))
        theirs = verl.compute_offpolicy_metrics(old[at], rollout[at], mask[at])
        engine = row["engine"]
        for name, value in {
            "kl": -engine["mean"],
            "k3_kl": engine["k3"],
            "chi2_token": engine.get("verl_chi2", engine["chi2"]),
            "chi2_seq": engine.get("verl_chi2_sequence", engine["chi2_sequence"]),
        }.items():
            checks.hold(name, value, theirs[name])


def check_corrections(checks: Checks, ours: dict, old, rollout, mask):
    rows = {row["rule"]: row for row in ours["offpolicy"]["corrections"]}
    ratio = old - rollout
    for rule, level, threshold in [
        ("token_tis_2", "token", 2.0),
        ("token_icepop_0.5_5", "token", "0.5_5"),
        ("sequence_tis_2", "sequence", 2.0),
    ]:
        _, metrics = verl.compute_rollout_correction_weights(ratio, mask, level, threshold)
        checks.hold(f"{rule} mean_weight", rows[rule]["mean_weight"], metrics["rollout_is_mean"])
        checks.hold(f"{rule} ess", rows[rule]["ess"], metrics["rollout_is_eff_sample_size"])
    for rule, option, threshold in [
        ("token_mis_0.5_2", "token_k1", "0.5_2"),
        ("sequence_mis_0.5_2", "seq_sum_k1", "0.5_2"),
        ("geometric_mis_0.999_1.001", "seq_mean_k1", "0.999_1.001"),
        ("sequence_mean_k3_0.01", "seq_mean_k3", "0.01"),
    ]:
        kept, _ = verl.compute_rollout_rejection_mask(ratio, mask, option, threshold)
        dropped = 1.0 - (kept * mask).sum().item() / mask.sum().item()
        checks.hold(f"{rule} dropped_tokens", rows[rule]["dropped_tokens"], dropped)
        alive = ((kept * mask).sum(-1) > 0).double().mean().item()
        checks.hold(f"{rule} dropped_responses", rows[rule]["dropped_responses"], 1.0 - alive)


def main():
    log = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else "stapo-analyze"
    ours = json.loads(subprocess.run([program, log, "--format", "json", "--full", "--quiet"], check=True, capture_output=True).stdout)
    steps, old, rollout, mask = load(log)
    checks = Checks()
    check_steps(checks, ours, steps, old, rollout, mask)
    check_corrections(checks, ours, old, rollout, mask)
    for name, worst in checks.worst.items():
        print(f"{name:40} {worst:.1e}{'' if worst <= TOLERANCE else '   too far'}")
    sys.exit(any(worst > TOLERANCE for worst in checks.worst.values()))


if __name__ == "__main__":
    main()
