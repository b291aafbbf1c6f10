// Live thresholds: the mask of the engine, recomputed from the embedded candidates.
const stapo = (() => {
  const element = document.getElementById("data");
  if (!element) return null;
  const data = JSON.parse(element.textContent);
  function bytes(text) {
    const packed = atob(text);
    const unpacked = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i += 1) unpacked[i] = packed.charCodeAt(i);
    return unpacked.buffer;
  }
  const floats = (text) => new Float32Array(bytes(text));
  const logprob = floats(data.logprob);
  const entropy = floats(data.entropy);
  const norm = floats(data.norm);
  const name = new Uint16Array(bytes(data.name));
  const cases = {
    batch: data.cases.batch,
    logprob: floats(data.cases.logprob),
    entropy: floats(data.cases.entropy),
  };

  // numpy's linear quantile of sorted values, from the nearer end.
  function quantile(sorted, q) {
    if (sorted.length === 0) return null;
    const position = (sorted.length - 1) * q;
    const index = Math.floor(position);
    const part = position - index;
    const below = sorted[index];
    const above = index + 1 < sorted.length ? sorted[index + 1] : below;
    const difference = above - below;
    return part >= 0.5 ? above - difference * (1 - part) : below + difference * part;
  }

  // Tokens with A > 0 and p below tau, from the histogram.
  function rareBelow(tau) {
    const x = Math.log10(tau);
    let [edge, count] = [-Infinity, 0];
    for (const [right, sum] of data.rare) {
      if (x < right) {
        const part = Number.isFinite(edge) ? (x - edge) / (right - edge) : 1;
        return count + (sum - count) * part;
      }
      [edge, count] = [right, sum];
    }
    return count;
  }

  function mask(tau, q) {
    const result = { tau, q, candidates: 0, silenced: 0, energy: 0, names: new Map(), tauH: [], flags: [], exact: true };
    let start = 0;
    for (let batch = 0; batch < data.sizes.length; batch += 1) {
      const end = start + data.sizes[batch];
      const found = [];
      for (let i = start; i < end; i += 1) if (Math.exp(logprob[i]) < tau) found.push(i);
      const cut = data.byQuantile ? quantile(found.map((i) => entropy[i]), q) : data.tauH[batch];
      result.tauH.push(cut);
      for (const i of found) {
        const silenced = cut !== null && entropy[i] < cut;
        result.flags.push([i, silenced]);
        if (silenced) {
          result.silenced += 1;
          result.energy += norm[i] * norm[i];
          result.names.set(name[i], (result.names.get(name[i]) || 0) + 1);
        }
      }
      result.candidates += found.length;
      start = end;
    }
    if (tau > data.exactBelow) {
      result.exact = false;
      const seen = result.candidates;
      result.candidates = Math.max(seen, Math.round(rareBelow(tau)));
      const share = seen > 0 ? result.silenced / seen : q || 0;
      result.energy *= seen > 0 ? result.candidates / seen : 0;
      result.silenced = Math.round(result.candidates * share);
    }
    return result;
  }
  return { data, cases, logprob, entropy, mask };
})();

if (stapo) {
  const { data } = stapo;
  const byId = (id) => document.getElementById(id);
  const [tauSlider, qSlider] = [byId("tau-p"), byId("quantile")];
  function percent(share) {
    if (!Number.isFinite(share)) return "–";
    const value = share * 100;
    return `${value >= 99.95 ? value.toFixed(0) : significant(value, value >= 10 ? 3 : 2)} %`;
  }
  const grouped = (value) => value.toLocaleString("en-US");

  function median(values) {
    const known = values.filter((v) => v !== null).sort((a, b) => a - b);
    if (known.length === 0) return null;
    const half = Math.floor(known.length / 2);
    return known.length % 2 ? known[half] : (known[half - 1] + known[half]) / 2;
  }

  function show(result) {
    const middle = median(result.tauH);
    const about = result.exact ? "" : "≈ ";
    byId("tau-p-value").value = result.tau;
    byId("quantile-value").value = data.byQuantile ? result.q.toFixed(2) : "–";
    byId("live-tau").textContent = result.tau;
    byId("live-q").textContent = data.byQuantile ? result.q : "–";
    byId("live-tau-h").textContent = middle === null ? "–" : significant(middle, 3);
    byId("live-candidates").textContent = about + grouped(result.candidates);
    byId("live-silenced").textContent = about + grouped(result.silenced);
    byId("live-exploratory").textContent = about + grouped(result.candidates - result.silenced);
    byId("live-fraction").textContent = about + percent(result.silenced / data.tokens);
    byId("live-energy").textContent = about + percent(result.energy / data.energy);
    byId("live-exact").textContent = result.exact
      ? "Exact: from every candidate of the run."
      : `Approximate: candidates are complete up to τₚ = ${significant(data.exactBelow, 3)}; beyond it, counts come from the histogram.`;
    const list = byId("live-tokens");
    list.replaceChildren();
    const most = [...result.names].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 8);
    for (const [code, count] of most) {
      const item = document.createElement("code");
      item.textContent = `${code < data.names.length ? data.names[code] : "other ids"}\u200e × ${grouped(count)}`;
      list.append(item, " ");
    }
    if (most.length === 0) list.textContent = "none";
    draw(result, middle);
  }

  // Marks and cuts on the plane.
  function draw(result, middle) {
    for (const svg of document.querySelectorAll("svg[data-frame]")) drawOn(svg, result, middle);
  }

  function drawOn(svg, result, middle) {
    const [x0, y0, x1, y1] = svg.dataset.frame.split(" ").map(Number);
    const [left, low, right, high] = svg.dataset.range.split(" ").map(Number);
    const clamp = (v, a, b) => Math.min(Math.max(v, a), b);
    const px = (v) => x0 + ((clamp(v, left, right) - left) / (right - left)) * (x1 - x0);
    const py = (v) => y0 + ((clamp(v, low, high) - low) / (high - low)) * (y1 - y0);
    const live = svg.querySelector(".layer-live");
    live.replaceChildren();
    svg.querySelector(".layer-marks").style.display = "none";
    svg.querySelector(".layer-cuts").style.display = "none";
    const add = (tag, attributes) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      live.append(node);
      return node;
    };
    const line = { class: "s-text", "stroke-width": 1.3, "stroke-dasharray": "8 4" };
    const x = px(Math.log10(result.tau));
    add("path", { ...line, d: `M${x} ${y0}L${x} ${y1}` });
    const label = (text, left, top) =>
      add("text", { x: left, y: top, "font-size": 12, class: "f-text" }).append(text);
    label("τₚ", x + 6, y1 + 12);
    if (middle !== null) {
      add("path", { ...line, d: `M${x0} ${py(middle)}L${x1} ${py(middle)}` });
      label("τₕ", x0 + 5, py(middle) - 5);
    }
    for (const kind of [false, true]) {
      const of = result.flags.filter((f) => f[1] === kind);
      const shown = Math.min(of.length, 350);
      for (let k = 0; k < shown; k += 1) {
        const i = of[Math.floor((k * of.length) / shown)][0];
        const [cx, cy] = [px(stapo.logprob[i] / Math.LN10), py(stapo.entropy[i])];
        if (kind) add("path", { class: "f-spurious", opacity: 0.9, d: `M${cx} ${cy - 4}l4 4l-4 4l-4 -4z` });
        else add("circle", { class: "s-exploratory", "stroke-width": 1.4, opacity: 0.9, cx, cy, r: 3.2 });
      }
    }
  }

  let moved = false;
  function update() {
    const tau = data.stops[Number(tauSlider.value)];
    const own = Math.round(data.q * 100);
    const q = Number(qSlider.value) === own ? data.q : Number(qSlider.value) / 100;
    const result = stapo.mask(tau, q);
    if (moved) show(result);
    stapo.latest = result;
    stapo.onmask?.(result);
  }
  function reset() {
    tauSlider.value = data.stops.indexOf(data.tauP);
    qSlider.value = Math.round((data.q ?? 0) * 100);
  }
  stapo.refresh = () => {
    moved = true;
    update();
  };
  tauSlider.addEventListener("input", stapo.refresh);
  qSlider.addEventListener("input", stapo.refresh);
  byId("tune-reset").addEventListener("click", () => {
    reset();
    stapo.refresh();
  });
  reset();
  show(stapo.mask(data.tauP, data.q));
}
