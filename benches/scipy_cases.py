"""Writes crates/base/tests/data/scipy.json: p-values that the tests hold ours against.

Needs SciPy 1.17 and statsmodels 0.14: python benches/scipy_cases.py > crates/base/tests/data/scipy.json
"""

import json
import warnings

import numpy as np
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

warnings.simplefilter("ignore")
random = np.random.default_rng(20260)


def rounded(values, digits):
    return [round(float(v), digits) for v in values]


def sample(n, digits, shift=0.0):
    # Few digits make ties and zeros.
    return rounded(random.normal(shift, 1.0, n), digits)


cases = {"wilcoxon": [], "holm": []}
for n in list(range(1, 61)) + [75, 120]:
    for digits, shift in [(6, 0.0), (6, 0.6), (1, 0.2), (0, 0.4)]:
        if n > 20 and n % 4 and digits != 6:
            continue
        d = sample(n, digits, shift)
        if any(v != 0 for v in d):
            cases["wilcoxon"].append([d, float(wilcoxon(d).pvalue)])
for n in [1, 2, 5, 24]:
    p = rounded(random.uniform(0, 1, n) ** 3, 4)
    cases["holm"].append([p, rounded(multipletests(p, method="holm")[1], 12)])
lines = [f'"{name}":[\n' + ",\n".join(json.dumps(c, separators=(",", ":")) for c in table) + "\n]" for name, table in cases.items()]
print("{" + ",\n".join(lines) + "}")
