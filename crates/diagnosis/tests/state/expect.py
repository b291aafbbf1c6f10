"""Writes what the prototype of the state machine says of made-up runs, for the test `state`.

usage: expect.py FOLDER_OF_STATE_PY > expected.json

A run is told by numbers from which `runs.rs` and `values` below make the same responses, bit for bit."""

import json
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import state  # noqa: E402

state.round = lambda value, digits=0: value  # all digits of its hits
U = np.uint64
STEP = U(0x9E3779B97F4A7C15)


def mixed(x):
    x = (x ^ (x >> U(30))) * U(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U(27))) * U(0x94D049BB133111EB)
    return x ^ (x >> U(31))


def unit(seed, stream, at):
    """Numbers in [0, 1): splitmix64, entry `at` of a stream of a seed"""
    key = mixed(mixed(np.array([seed], U) + STEP) + U(stream) * STEP)
    return (mixed(key + (at.astype(U) + U(1)) * STEP) >> U(11)) / 2.0**53


def bell(seed, stream, at):
    u = [unit(seed, stream, 4 * at + i) for i in range(4)]
    return u[0] + u[1] + u[2] + u[3] - 2.0


def values(c):
    """A run -> the prototype's input"""
    n, G, m, seed = len(c["level"]), c["groups"], c["size"], c["seed"]
    g = np.arange(n * G)
    t = g // G
    level = np.array([row if len(row) > 1 else row * c["slices"] for row in c["level"]])
    if c["mix"]:
        k = (unit(seed, 0, g) < np.array(c["mix"])[t]).astype(int)
    else:
        k = (unit(seed, 0, g) * c["slices"]).astype(int)
    centre = level[t, k] + np.array(c["noise"])[t] + c["spread"] * bell(seed, 1, g)
    r = np.arange(n * G * m)
    g, t, k, centre = g[r // m], t[r // m], k[r // m], centre[r // m]
    right = unit(seed, 2, r) < centre
    u = unit(seed, 3, r)
    b = bell(seed, 4, r)
    x = {
        "right": lambda: np.where(right, 1.0, 0.0),
        "signed": lambda: np.where(right, 1.0, -1.0),
        "graded": lambda: np.minimum(np.floor(np.clip(centre, 0, 1) * 4.0 + u), 4.0) / 4.0,
        "bounded": lambda: np.where(right, 1.0 - 0.4 * u, 0.3 * u),
        "zeros": lambda: np.where(right, u, 0.0),
        "bell": lambda: centre + b,
        "heavy": lambda: centre + b * b * b * b * b,
        "mean": lambda: centre,
    }[c["kind"]]()
    reward = x.copy()
    cols = {}
    for i, part in enumerate(c["parts"]):
        p = np.array(part["level"])[t] if part["level"] else x * 0
        v = {
            "copy": lambda: x,
            "own": lambda: np.where(unit(seed, 10 + i, r) < p, 1.0, 0.0),
            "bell": lambda: p + 0.3 * bell(seed, 10 + i, r),
            "price": lambda: -p * unit(seed, 10 + i, r),
            "absent": lambda: x * np.nan,
        }[part["kind"]]()
        cols[part["name"]] = v
        if part["kind"] != "absent":
            reward = reward + part["weight"] * v
    for kind, at, value in c["edits"]:
        late = t >= at
        if kind == "scale":
            reward = np.where(late, reward * value, reward)
        if kind == "zero":
            reward = np.where(late, 0.0, reward)
        if kind == "malus":
            reward = np.where(late & (x == 0) & (unit(seed, 5, r) < value), -1.0, reward)
    reward = np.where(unit(seed, 6, r) < c["missing"], np.nan, reward)
    names = np.array([f"task {i:02}" for i in range(c["slices"])]) if c["slices"] > 1 else np.array([""])
    single = lambda v: v.astype(np.float32).astype(float)
    return dict(
        step=t + c["first"],
        gid=g,
        task=names[k] if c["column"] else np.array([""] * len(k)),
        # The prototype fails on a part without any value; it is as if it were not there.
        cols={"reward": single(reward), **{name: single(v) for name, v in cols.items() if np.isfinite(v).any()}},
        start=c["first"] <= 1,
        scalar=c["curve"],
    )


def told(q):
    if q is None:
        return None
    if "changed" in q:
        return dict(changed=int(q["changed"]), before=told(q["before"]), after=told(q["after"]))
    keys = dict(a="start", b="end", g="share", gl="lower", gu="upper", z="z", mean="mean", sd="sd")
    return {name: (None if np.isinf(q[key]) else float(q[key])) for key, name in keys.items()}


def hits(found):
    return [[h[0], None if h[1] == "all" else h[1], float(h[2]), float(h[3]), int(h[4]), float(h[5])] for h in found]


def seg(n, *points):
    a = np.array(points)
    return [round(float(v), 4) for v in np.interp(np.linspace(0, 1, n), a[:, 0], a[:, 1])]


def run(R, level, groups=16, size=8, spread=0.5, tau=0.0, rho=0.0, kind="right", slices=1, mix=None, column=True, first=0, parts=(), edits=(), missing=0.0, curve=False):
    n = len(level)
    e, x = [], R.normal()
    for _ in range(n):
        x = rho * x + np.sqrt(1 - rho * rho) * R.normal()
        e.append(round(float(tau * x), 4))
    return dict(
        seed=int(R.integers(1 << 40)), level=[list(row) if isinstance(row, (list, tuple)) else [row] for row in level], noise=e, groups=groups, size=size,
        spread=spread, kind=kind, slices=slices, mix=mix, column=column, first=first, parts=[dict(name=p[0], kind=p[1], level=p[2], weight=p[3]) for p in parts],
        edits=list(edits), missing=missing, curve=curve,
    )  # fmt: skip


def pairs(a, b):
    return [[x, y] for x, y in zip(a, b)]


def families(R):
    n = int(R.integers(6, 30))
    late = int(n * R.uniform(0.4, 0.7))
    a, b, c = (round(float(v), 3) for v in (R.uniform(0.02, 0.3), R.uniform(0.5, 0.9), R.uniform(0.0, 0.6)))
    tau = round(float(R.choice([0, 0.05, 0.15])), 3)
    learn = seg(n, (0, a), (0.7, b), (1, b + 0.05))
    fall = seg(n, (0, a), (0.5, b), (0.7, b), (0.8, c), (1, c))
    some = lambda *of: of[int(R.integers(len(of)))]
    G, m = some((16, 8), (8, 4), (24, 4), (4, 8), (2, 4), (32, 1))
    kind = some("right", "signed", "graded", "bounded", "zeros", "bell", "heavy")
    first = some(0, 1, 10)
    K = int(R.integers(2, 7))
    yield "learns", run(R, learn, G, m, tau=tau, kind=kind, first=first)
    yield "flat", run(R, [b] * n, G, m, tau=tau, rho=some(0, 0.9), kind=kind, first=first)
    yield "not learning", run(R, [a] * n, 16, 8, kind=some("right", "bell", "signed"))
    yield "rare", run(R, [round(a / 20, 4)] * n, G, m, first=first)
    yield "falls", run(R, fall, G, m, tau=tau, kind=kind, first=first)
    yield "falls, many", run(R, fall, 24, 8, kind=kind)
    yield "collapses", run(R, seg(n, (0, 0.2), (0.5, 0.7), (0.65, 0.0), (1, 0.0)), G, m, kind=some("right", "graded", "zeros"), spread=0.1)
    yield "slices", run(R, [[round(v * w, 4) for w in np.linspace(0.4, 1, K)] for v in some(learn, fall)], G, m, slices=K, tau=tau, column=some(True, True, False))
    yield "one slice falls", run(R, pairs(learn, fall), 16, 4, slices=2)
    yield "mix moves", run(R, pairs([b] * n, [a] * n), 16, 4, slices=2, mix=seg(n, (0, 0.1), (1, 0.9)), column=some(True, False), first=first)
    yield "easy then hard", run(R, pairs(learn, [a] * n), 12, 4, slices=2, mix=[float(i >= late) for i in range(n)])
    yield "late slice", run(R, pairs(learn, fall), 12, 4, slices=2, mix=[0.0 if i < 2 else 0.5 for i in range(n)])
    yield "price midway", run(R, learn, 16, 4, parts=[("reward/over_long", "price", [0.0] * late + [0.5] * (n - late), 1.0), ("reward/correct", "copy", None, 0.0)])
    yield "rescaled", run(R, some(learn, fall), 16, 8, edits=[("scale", late, some(0.5, 10.0))], kind=some("right", "graded"))
    yield "bad last step", run(R, learn, 16, 4, edits=[("zero", n - 1, 0)])
    yield "malus", run(R, fall, 16, 4, edits=[("malus", late, 0.8)])
    yield "brevity", run(R, learn, 16, 4, parts=[("reward/correct", "copy", None, 0.0), ("reward/conciseness", "bell", seg(n, (0, 0.7), (1, 0.2)), 0.2)])
    yield "hacked", run(R, seg(n, (0, a), (0.3, 0.0), (1, 0.0)), 16, 8, spread=0.1, parts=[("reward/correct", "copy", None, -0.8), ("reward/length", "bell", seg(n, (0, 0.3), (1, 0.9)), 1.0)])
    yield "soft part", run(R, learn, 16, 4, parts=[("reward/style", "own", fall, round(float(R.uniform(0, 0.3)), 2)), ("reward/absent", "absent", None, 0.0)])
    yield "gaps", run(R, some(learn, fall), 8, 4, missing=round(float(R.uniform(0.05, 0.9)), 2), slices=some(1, 2), kind=kind)
    yield "curve", run(R, some(learn, fall, [a] * n), 1, 1, spread=0.0, tau=round(float(R.uniform(0, 0.05)), 3), kind="mean", curve=True)


def cases():
    R = np.random.default_rng(20261119)
    for _ in range(11):
        for name, c in families(R):
            yield name, c
    yield "long", run(R, seg(200, (0, 0.1), (0.5, 0.7), (1, 0.8)), 4, 4)
    yield "long fall", run(R, seg(150, (0, 0.2), (0.5, 0.6), (0.9, 0.6), (0.95, 0.0), (1, 0.0)), 4, 4)
    yield "40 slices", run(R, seg(12, (0, 0.2), (0.5, 0.8), (0.7, 0.4), (1, 0.4)), 24, 4, slices=40)
    for n in (1, 2, 3, 4, 5):
        yield "short", run(R, seg(n, (0, 0.2), (1, 0.8)), 8, 4)
        yield "short fall", run(R, seg(n, (0, 0.9), (1, 0.1)), 8, 4, slices=2)
    yield "one value", run(R, [2.0] * 5, 4, 4)
    yield "no value", run(R, [0.5] * 5, 4, 4, missing=1.0)


def expected(c, **switches):
    outcome, found, q = state.verdict(values(c), {**state.M, **switches})
    if q and q.get("W") == 0:
        return None  # ends without a common slice: the prototype takes both for 0
    return dict(outcome=outcome, hits=hits(found), soft=hits((q or {}).get("soft", [])), gain=told(q))


SWITCHES = dict(
    curve="curvature", end="at_the_end", loo="without_the_lowest", goal="goals", rawscat="raw_scatter", robust="robust_range", common="own_ends", bins="bins",
    tail2="two_at_the_end", penalty="penalties", redefined="redefined", start="start", best="mean_at_best", slow="slow_rise", ntest="one_slice_once", phi_max="pooled_dispersion",
)  # fmt: skip


def rare_ones(R):
    yield "long", run(R, seg(50, (0, 0.1), (0.5, 0.7), (1, 0.5)), 4, 4)
    yield "good", run(R, seg(9, (0, 0.86), (0.15, 0.95), (1, 0.95)), 4, 4, spread=0.1)
    yield "recovers", run(R, seg(20, (0, 0.2), (0.3, 0.8), (0.4, 0.2), (0.8, 0.3), (0.85, 0.7), (1, 0.8)), 32, 4, spread=0.2)
    yield "drifts", run(R, seg(16, (0, 0.9), (1, 0.2)), 32, 4, first=10)
    yield "malus part", run(R, seg(12, (0, 0.2), (1, 0.9)), 16, 8, parts=[("reward/format_malus", "price", seg(12, (0, 0.1), (1, 0.9)), 0.0)])
    yield "slow", run(R, seg(40, (0, 0.02), (1, 0.09)), 32, 8, spread=0.05)


def ablated():
    """Runs on which a rule matters, told without it"""
    R = np.random.default_rng(7)
    for switch, rule in SWITCHES.items():
        some = (c for _ in range(6) for c in [*families(R), *rare_ones(R)])
        off = {switch: 10**9 if switch == "bins" else 0}
        kept = 0
        for name, c in some:
            without = expected(c, **off)
            with_it = expected(c)
            if not without or not with_it:
                continue
            if without["outcome"] != with_it["outcome"] or switch in ("bins", "ntest", "curve", "rawscat", "phi_max") and without != with_it:
                yield dict(name=name, **c, without=rule, expected=without)
                kept += 1
            if kept == 3:
                break
        if not kept:
            print('no run for', switch, file=sys.stderr)


out = [dict(name=name, **c, expected=expected(c)) for name, c in cases()] + list(ablated())
print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in out) + "\n]")
