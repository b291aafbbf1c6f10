"""Writes crates/base/tests/data/holm.json: adjusted p-values that the tests hold ours against.

Needs statsmodels 0.14: python benches/holm_cases.py > crates/base/tests/data/holm.json
"""

import json

import numpy as np
from statsmodels.stats.multitest import multipletests

random = np.random.default_rng(20260)
cases = []
for n in [1, 2, 5, 24]:
    p = [round(float(v), 4) for v in random.uniform(0, 1, n) ** 3]
    cases.append([p, [round(float(v), 12) for v in multipletests(p, method="holm")[1]]])
print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
