"""Writes what the tests of this crate stand on: totals of the groups of real runs, and what they should give.

usage: expect.py FOLDER      FOLDER holds NAME.parquet and arms/NAME.parquet; needs numpy, pyarrow, scipy

The reference is written apart from the crate: least squares on dummies of blocks and tasks by a full design matrix,
SciPy's noncentral t. A right answer has the largest `reward/correct` of its run.
"""

import json
import pathlib
import sys
from collections import defaultdict

import numpy as np
import pyarrow.parquet as pq
from scipy import stats

METRICS = ["reward", "right_answers", "length", "entropy"]
ARMS = ["stapo", "grpo", "random"]
PAIRS = [
    ("grpo_1", "grpo_2"), ("grpo_1", "grpo_3"), ("stapo_1", "grpo_1"), ("stapo_2", "random_2"), ("random_1", "random_3"),
    ("healthy", "sampler_4bit_diverges"), ("healthy", "sampler_top_k"), ("healthy", "healthy_two_turns_lag1"),
    ("healthy", "flipped_sum"), ("grpo_2", "weights_never_sent"), ("coin_json", "retokenised"), ("dropout_1", "dropout_10"),
]
OUT = pathlib.Path(__file__).parent / "data"


def read(path):
    """A row a group: [step, task, prompt, responses, Σ reward, right, Σ length, Σ entropy, tokens], and Σ reward²."""
    table = pq.read_table(path)
    column = {name: table[name].to_pylist() for name in table.column_names if name not in ("token_ids", "logprob")}
    best = max(column["reward/correct"])
    groups = {}
    for i in range(table.num_rows):
        trained = np.array(column["mask"][i], bool)
        entropy = np.array(column["entropy"][i], float)
        known = trained & np.isfinite(entropy)
        key = (column["step"][i], column["task"][i], column["group_id"][i])
        prompt = tuple(column["prompt_ids"][i])
        row = groups.setdefault(key, [key[0], key[1], prompt, 0, 0.0, 0, 0, 0.0, 0, 0.0])
        reward = column["reward"][i]
        right = column["reward/correct"][i] >= best - 1e-9
        for place, add in enumerate([1, reward, int(right), int(trained.sum()), float(entropy[known].sum()), int(known.sum()), reward**2], 3):
            row[place] += add
    return [groups[key] for key in sorted(groups)]


def of_metric(row, metric):
    return [(row[4], row[3]), (row[5], row[3]), (row[6], row[3]), (row[7], row[8])][metric]


def merged(counts, least):
    """The block of each step: neighbours together until every column has `least`."""
    blocks, block, have = [], 0, np.zeros(counts.shape[1])
    for row in counts:
        blocks.append(block)
        have += row
        if (have >= least).all():
            block, have = block + 1, np.zeros(counts.shape[1])
    return np.minimum(blocks, max(block, 1) - 1)


def two_runs(a, b, steps, metric):
    sides = [[row for row in run if row[0] in steps] for run in (a, b)]
    place = {step: i for i, step in enumerate(steps)}
    counts = np.array([[sum(row[0] == step for row in side) for side in sides] for step in steps])
    block_of = merged(counts, 2)
    blocks = block_of.max() + 1
    weight = np.bincount(block_of, minlength=blocks) / len(steps)
    names = {task for side in sides for row in side for task in [row[1]]}
    have = {task: [sum(row[1] == task for row in side) for side in sides] for task in names}
    order = sorted(names, key=lambda task: (-sum(have[task]), task))
    tasks = [task for task in order if min(have[task]) >= 5][:8]
    tasks = tasks[1:] if len(tasks) == len(order) else tasks
    if min(map(len, sides)) - blocks - len(tasks) < 10 * len(tasks):
        tasks = []
    block = [np.array([block_of[place[row[0]]] for row in side]) for side in sides]
    dummies = [np.eye(blocks)[k] for k in block]
    x = [np.array([[float(row[1] == task) for task in tasks] for row in side]).reshape(len(side), -1) for side in sides]
    pooled = sum(d.T @ z for d, z in zip(dummies, x)) / sum(d.sum(0) for d in dummies)[:, None]
    values, total, first, member, ratios = [], defaultdict(float), {}, defaultdict(set), []
    for side, (rows, d, k) in enumerate(zip(sides, dummies, block)):
        part, whole = np.array([of_metric(row, metric) for row in rows], float).T
        ratio = (d.T @ part) / (d.T @ whole)
        u = (part - ratio[k] * whole) / ((d.T @ whole) / d.sum(0))[k]
        shares = d.T @ x[side] / d.sum(0)[:, None]
        design = np.hstack([d, x[side] - d @ shares])
        target = np.concatenate([weight, weight @ (pooled - shares)])
        solver = np.linalg.pinv(design)
        theta = solver @ u
        values.append(weight @ ratio + target @ theta)
        leverage = np.einsum("ij,ji->i", design, solver)
        error = (target @ solver) * (u - design @ theta) / np.sqrt(np.maximum(1 - leverage, 1e-3))
        for row, e, at in zip(rows, error, k):
            total[row[2]] += e if side == 0 else -e
            first.setdefault(row[2], at)
            member[row[2]].add(side)
        ratios.append(part / whole)
    span = np.ptp(np.concatenate(ratios))
    floor = span**2 * sum(1 / sum(row[3] for row in rows) ** 2 for rows in sides)
    variance = sum(t**2 for t in total.values())
    kinds = defaultdict(list)
    for prompt, t in total.items():
        kinds[first[prompt], frozenset(member[prompt])].append(t**2)
    squares = sum(sum(kind) ** 2 / max(len(kind) - 1, 1) for kind in kinds.values())
    groups = sum(map(len, sides))
    freedom = variance**2 / squares if variance else np.inf
    freedom = max(1.0, min(freedom, len(total) * (1 - 2 * (blocks + len(tasks)) / groups)))
    half = stats.t.ppf(1 - 0.05 / 16, freedom) * np.sqrt(max(variance, floor))
    mean = sum(values) / 2
    least = [0.02 * span, 0.02, 0.05 * mean, max(0.1 * mean, 0.02)][metric]
    size = abs(values[0] - values[1])
    verdict = "differs" if size - half > least else "same" if size + half < least else "open"
    return {"values": values, "half": half, "freedom": freedom, "least": least, "verdict": verdict}


def windows(steps):
    return {"level": steps, "end": steps[-(-(-len(steps) // 5)):]}


def mixed(runs, steps, metric):
    """Each run's mean over steps of the mean over tasks, all steps having all tasks."""
    tasks = sorted({row[1] for run in runs for row in run})
    out = []
    for run in runs:
        cells = []
        for step in steps:
            for task in tasks:
                cell = [of_metric(row, metric) for row in run if row[0] == step and row[1] == task]
                cells.append(sum(c[0] for c in cell) / sum(c[1] for c in cell))
        out.append(float(np.mean(cells)))
    return out


def seeds(difference, deviation, paired):
    n = 2
    while True:
        freedom, error = (n - 1, deviation / n**0.5) if paired else (2 * n - 2, deviation * (2 / n) ** 0.5)
        if stats.nct.sf(stats.t.ppf(0.975, freedom), freedom, difference / error) >= 0.8:
            return n
        n += 1


def methods(runs):
    steps = sorted({row[0] for row in runs["grpo_1"]})
    arms = [[f"{arm}_{seed}" for seed in (1, 2, 3)] for arm in ARMS]
    every = [runs[name] for arm in arms for name in arm]
    out = []
    for window, at in windows(steps).items():
        for metric, name in enumerate(METRICS):
            of = np.array(mixed(every, at, metric)).reshape(3, 3)
            for i, j in ((0, 1), (0, 2), (2, 1)):
                test = stats.ttest_ind(of[i], of[j], equal_var=False)
                low, high = test.confidence_interval(0.95)
                out.append({"metric": name, "window": window, "arm": ARMS[i], "against": ARMS[j], "values": [of[i].tolist(), of[j].tolist()],
                            "interval": [low, high], "p_value": test.pvalue, "freedom": test.df})
    of = np.array(mixed(every, steps, 0)).reshape(3, 3)
    apart = np.sqrt(of.var(1, ddof=1).mean())
    pairs = np.sqrt(np.mean([(of[0] - of[j]).var(ddof=1) for j in (1, 2)]))
    needed = []
    for deviation, freedom, paired in ((apart, 6, False), (pairs, 4, True)):
        for difference in (0.05, 0.1):
            ends = [seeds(difference, deviation * np.sqrt(freedom / stats.chi2.ppf(p, freedom)), paired) for p in (0.975, 0.025)]
            needed.append({"difference": difference, "paired": paired, "seeds": seeds(difference, deviation, paired), "interval": ends})
    return {"contrasts": out, "needed": needed}


def main():
    folder = pathlib.Path(sys.argv[1])
    paths = sorted([*folder.glob("*.parquet"), *folder.glob("arms/*.parquet")], key=lambda path: path.stem)
    runs = {path.stem: read(path) for path in paths}
    prompts = {prompt: i for i, prompt in enumerate(sorted({row[2] for run in runs.values() for row in run}))}
    tasks = sorted({row[1] for run in runs.values() for row in run})
    pairs = []
    for a, b in PAIRS:
        steps = sorted({row[0] for row in runs[a]} & {row[0] for row in runs[b]})
        for window, at in windows(steps).items():
            for metric, name in enumerate(METRICS):
                pairs.append({"runs": [a, b], "metric": name, "window": window, **two_runs(runs[a], runs[b], at, metric)})
    compact = {name: [[row[0], tasks.index(row[1]), prompts[row[2]], *row[3:]] for row in run] for name, run in runs.items()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows, separators=(',', ':'))}" for name, rows in compact.items())
    OUT.mkdir(exist_ok=True)
    (OUT / "groups.json").write_text(f'{{"tasks": {json.dumps(tasks)}, "runs": {{\n{lines}\n}}}}\n')
    listed = ",\n".join(json.dumps(pair) for pair in pairs)
    (OUT / "expected.json").write_text(f'{{"pairs": [\n{listed}\n], "methods": {json.dumps(methods(runs))}}}\n')


if __name__ == "__main__":
    main()
