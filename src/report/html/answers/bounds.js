// Live bounds of corrections, from tokens in bins of the engine difference.
(() => {
  const element = document.getElementById("bounds-data");
  const low = document.getElementById("bound-low");
  if (!element || !low) return;
  const data = JSON.parse(element.textContent);
  const high = document.getElementById("bound-high");
  const width = (2 * data.largest) / data.tokens.length;
  const ratio = data.tokens.map((_, i) => Math.exp(-data.largest + (i + 0.5) * width));
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const [tokens, energy, spurious] = [sum(data.tokens), sum(data.energy), sum(data.spurious)];
  const percent = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toPrecision(3)} %` : "–");
  const put = (id, text) => { document.getElementById(`bound-${id}`).textContent = text; };
  // Σ over bins of a weight's power times what the bin holds.
  const weighted = (of, weight, power) => sum(of.map((value, i) => value * weight(ratio[i]) ** power));
  function effective(weight) {
    const square = weighted(data.tokens, weight, 2);
    return percent(weighted(data.tokens, weight, 1) ** 2 / tokens, square);
  }
  function show() {
    const [from, to] = [Math.exp(Number(low.value)), Math.exp(Number(high.value))];
    put("low-value", from.toPrecision(3));
    put("high-value", to.toPrecision(3));
    const inside = (r) => (r >= from && r <= to ? 1 : 0);
    const icepop = (r) => inside(r) * r;
    const tis = (r) => Math.min(r, to);
    put("mis", percent(tokens - weighted(data.tokens, inside, 1), tokens));
    put("mis-energy", percent(weighted(data.energy, inside, 2), energy));
    put("mis-spurious", percent(spurious - weighted(data.spurious, inside, 1), spurious));
    put("icepop", effective(icepop));
    put("icepop-energy", percent(weighted(data.energy, icepop, 2), energy));
    put("tis", (weighted(data.tokens, tis, 1) / tokens).toPrecision(3));
    put("tis-ess", effective(tis));
  }
  low.addEventListener("input", show);
  high.addEventListener("input", show);
  show();
})();
