"""Norm against probability, as docs/framework.md shows it: the band of equation 3, and a run's cells of the probability ×
entropy plane, each at the norm that its p and H stand for, shaded by entropy.

usage: framework_chart.py out/tables/plane.parquet VOCABULARY > docs/framework.svg   (numpy, scipy, pyarrow)
"""
import sys

import numpy as np
import pyarrow.parquet as pq
from scipy.optimize import brentq

POINT_FRACTION = 0.15  # crates/framework/src/norm.rs
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 420, 60, 20, 20, 50
LEAST_EXPONENT, LARGEST_NORM, FEWEST = -6.0, 1.5, 5


def binary_entropy(x):
    return -sum(v * np.log(v) for v in (x, 1 - x) if v > 0)


def collision(entropy, outcomes):
    """The smallest and the largest chance that two draws of the other tokens agree."""
    entropy = min(max(entropy, 0.0), np.log(outcomes))
    heavy = lambda x: binary_entropy(x) + (1 - x) * np.log(outcomes - 1) - entropy
    x = brentq(heavy, 1 / outcomes, 1 - 1e-15) if heavy(1 - 1e-15) < 0 < heavy(1 / outcomes + 1e-12) else 1.0
    largest = x * x + (1 - x) ** 2 / (outcomes - 1)
    k = int(np.exp(entropy))
    light = lambda x: -k * x * np.log(x) - (1 - k * x) * np.log(max(1 - k * x, 1e-300)) - entropy
    low, high = 1 / (k + 1), 1 / k
    x = brentq(light, low, high - 1e-15) if light(low) > 0 > light(high - 1e-15) else high
    return k * x * x + (1 - k * x) ** 2, largest


def norm(p, entropy, outcomes):
    q = 1 - p
    least, largest = collision((entropy - binary_entropy(p)) / q, outcomes)
    return q * np.sqrt(1 + least + POINT_FRACTION * (largest - least))


def x_of(exponent):
    return LEFT + (exponent - LEAST_EXPONENT) / -LEAST_EXPONENT * (WIDTH - LEFT - RIGHT)


def y_of(value):
    return HEIGHT - BOTTOM - value / LARGEST_NORM * (HEIGHT - TOP - BOTTOM)


def main():
    plane, outcomes = pq.read_table(sys.argv[1]).to_pandas(), int(sys.argv[2]) - 1
    plane["tokens"] = plane.positive + plane.negative + plane.zero
    largest_entropy = 8.0
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    exponents = np.linspace(LEAST_EXPONENT, 0, 121)
    band = [(x_of(e), y_of(np.sqrt(2) * (1 - 10**e))) for e in exponents]
    band += [(x_of(e), y_of(1 - 10**e)) for e in exponents[::-1]]
    out.append(f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in band)}" fill="#e4e4e0"/>')
    cells = plane[(plane.log10_prob_from >= LEAST_EXPONENT) & (plane.tokens >= FEWEST)].sort_values(["tokens", "log10_prob_from", "entropy_from"])
    for cell in cells.itertuples():
        exponent, entropy = (cell.log10_prob_from + cell.log10_prob_to) / 2, (cell.entropy_from + cell.entropy_to) / 2
        p = min(10**exponent, 1 - 1e-6)
        if entropy < binary_entropy(p) or not np.isfinite(entropy):
            continue
        shade = 1 - min(entropy / largest_entropy, 1)
        colour = "#" + "".join(f"{round(a + (b - a) * shade):02x}" for a, b in ((20, 250), (60, 190), (120, 60)))
        radius = 1.0 + 0.5 * np.log10(cell.tokens)
        out.append(
            f'<circle cx="{x_of(exponent):.1f}" cy="{y_of(norm(p, entropy, outcomes)):.1f}" r="{radius:.1f}" fill="{colour}"/>'
        )
    for exponent in range(int(LEAST_EXPONENT), 1):
        label = "1" if exponent == 0 else f'10<tspan dy="-4" font-size="9">−{-exponent}</tspan>'
        out.append(f'<text x="{x_of(exponent):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label}</text>')
    for value in (0, 0.5, 1, 1.5):
        out.append(f'<text x="{LEFT - 8}" y="{y_of(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    base = y_of(0)
    out += [
        f'<path d="M{LEFT} {TOP}V{base}H{WIDTH - RIGHT}" fill="none" stroke="#444"/>',
        f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">probability of the sampled token</text>',
        f'<text transform="translate(16 {HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">gradient norm at weight 1</text>',
        f'<text x="{LEFT + 12}" y="{y_of(1.44):.0f}">√2 q: the others agree</text>',
        f'<text x="{LEFT + 12}" y="{y_of(0.93):.0f}">q: the others are spread out</text>',
        f'<circle cx="{WIDTH - 190}" cy="30" r="4" fill="#fabe3c"/><text x="{WIDTH - 180}" y="34">H near 0</text>',
        f'<circle cx="{WIDTH - 110}" cy="30" r="4" fill="#143c78"/><text x="{WIDTH - 100}" y="34">H of 8 nats</text>',
        "</svg>",
    ]
    print("\n".join(out))


main()
