"use strict";
const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const data = (id) => (byId(id) ? JSON.parse(byId(id).textContent) : null);
const make = (tag, text, properties = {}) => Object.assign(document.createElement(tag), { textContent: text }, properties);

// Tabs: a link to anything opens the tab and the folds that it stands in.
const panels = all(".panel");
const tabs = all(".tabs a");
function open(panel) {
  for (const other of panels) other.classList.toggle("open", other === panel);
  for (const tab of tabs) {
    const chosen = tab.hash === `#${panel.id}`;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
}
function reveal(element) {
  const panel = element.closest(".panel");
  if (panel) open(panel);
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}
function follow() {
  const id = decodeURIComponent(location.hash.slice(1));
  const element = id && byId(id);
  if (element) {
    reveal(element);
    if (!tabs.some((tab) => tab.hash === location.hash)) element.scrollIntoView();
  } else if (id && browser) browser.open(id);
}
for (const [i, tab] of tabs.entries()) {
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs.at(to % tabs.length);
    next.focus();
    open(byId(next.hash.slice(1)));
  });
}

// The first screen as Markdown.
byId("copy").addEventListener("click", async ({ currentTarget: button }) => {
  const text = data("copied");
  const before = [...button.childNodes];
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const area = make("textarea", "", { value: text });
    document.body.append(area);
    area.select();
    button.textContent = document.execCommand("copy") ? "Copied" : "Not allowed";
    area.remove();
  }
  setTimeout(() => button.replaceChildren(...before), 1500);
});

// Responses: places of texts and three shades a token.
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const browser = (() => {
  const store = data("responses");
  if (!store || !store.list.length) return null;
  const [box, shade, step, order, place] = ["response", "shade", "at-step", "order", "place"].map(byId);
  byId("browse").hidden = false;
  const texts = (of) => {
    of.texts ??= [...new Uint16Array(bytes(of.codes).buffer)].map((code) => store.texts[code] ?? "…");
    return of.texts;
  };
  const value = (level, k) => (level / 255) * store.largest[k];
  const rounded = (v) => Number(v.toPrecision(2));
  let current = 0;
  let list = store.list;
  function show(index) {
    current = (index + list.length) % list.length;
    const of = list[current];
    const shades = bytes(of.shades);
    const n = texts(of).length;
    const marks = new Map(of.marks);
    const words = make("pre", "");
    const wanted = search.value.trim().toLowerCase();
    for (const [i, text] of texts(of).entries()) {
      const [surprisal, entropy, gradient] = [0, 1, 2].map((k) => value(shades[k * n + i], k));
      const level = Math.ceil((shades[shade.selectedIndex * n + i] / 255) * 5);
      const token = make("i", text, { title: `probability ${rounded(Math.exp(-surprisal) * 100)} %, entropy ${rounded(entropy)}, gradient ${rounded(gradient)}, position ${of.first + i}` });
      token.className = [level && `k${level}`, ["", "silenced", "exploratory"][marks.get(i) ?? 0], of.untrained.some(([a, b]) => i >= a && i < b) && "untrained", wanted && text.toLowerCase().includes(wanted) && "hit"].filter(Boolean).join(" ");
      words.append(token, of.spaced ? "" : " ");
    }
    const head = make("h4", "");
    head.append(make("a", of.title, { href: `#${of.id}` }));
    const about = [of.name && `answer ${of.name}`, of.ending, n < of.length ? `tokens ${of.first} to ${of.first + n - 1} of ${of.length}` : `${of.length} tokens`];
    box.replaceChildren(head, make("small", about.filter(Boolean).join(", ")));
    if (of.prompt !== null) box.append(make("p", store.prompts[of.prompt]));
    box.append(words);
    place.textContent = `${current + 1} of ${list.length}`;
  }
  function choose() {
    const orders = [() => 0, (a, b) => b.reward - a.reward, (a, b) => a.reward - b.reward, (a, b) => b.length - a.length];
    list = store.list.filter((of) => step.value === "" || String(of.step) === step.value).sort(orders[order.selectedIndex]);
    show(0);
  }
  for (const s of [...new Set(store.list.map((of) => of.step))].sort((a, b) => a - b)) step.append(make("option", s));
  shade.addEventListener("change", () => show(current));
  for (const select of [step, order]) select.addEventListener("change", choose);
  byId("before").addEventListener("click", () => show(current - 1));
  byId("after").addEventListener("click", () => show(current + 1));
  return {
    start: () => show(Math.max(0, list.findIndex((of) => of.id === store.first))),
    holding: (wanted) => store.list.filter((of) => texts(of).join(of.spaced ? "" : " ").toLowerCase().includes(wanted) || (of.prompt !== null && store.prompts[of.prompt].toLowerCase().includes(wanted))),
    open(id) {
      list = store.list;
      step.value = "";
      const at = list.findIndex((of) => of.id === id);
      if (at < 0) return;
      show(at);
      reveal(box);
      box.scrollIntoView();
    },
  };
})();

// One search over all tabs and all responses; Enter goes to the next place.
const search = byId("search") ?? make("input", "");
let places = [];
let next = 0;
function find() {
  for (const hit of all(".hit")) hit.classList.remove("hit");
  const wanted = search.value.trim().toLowerCase();
  next = 0;
  places = [];
  if (wanted.length > 1) {
    const parts = all(".panel :is(p, tr, li, figcaption, summary, h3, dd)").filter((e) => !e.closest(".static, .browse"));
    places = parts.filter((e) => e.textContent.toLowerCase().includes(wanted));
    if (browser) places.push(...browser.holding(wanted).map((of) => of.id));
  }
  byId("found").textContent = wanted.length > 1 ? `${places.length} ${places.length === 1 ? "place" : "places"}` : "";
}
search.addEventListener("input", find);
search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !places.length) return;
  for (const hit of all(".hit")) hit.classList.remove("hit");
  const at = places[next % places.length];
  byId("found").textContent = `${(next % places.length) + 1} of ${places.length}`;
  next += 1;
  if (typeof at === "string") return browser.open(at);
  reveal(at);
  at.classList.add("hit");
  at.scrollIntoView({ block: "center" });
});

// Other thresholds for the mask: that of the engine, from the candidates one by one.
const masks = data("masks");
if (masks) {
  const [logprob, entropy, norm] = ["logprob", "entropy", "norm"].map((key) => new Float32Array(bytes(masks[key]).buffer));
  // Linear between neighbours, from the nearer end, as numpy has it.
  const quantileOf = (sorted, q) => {
    const at = (sorted.length - 1) * q;
    const [below, above] = [sorted[Math.floor(at)], sorted[Math.min(Math.floor(at) + 1, sorted.length - 1)]];
    const part = at % 1;
    return part >= 0.5 ? above - (above - below) * (1 - part) : below + (above - below) * part;
  };
  const mask = (tau, q) => {
    let [start, rare, silenced, energy] = [0, 0, 0, 0];
    for (const size of masks.sizes) {
      const found = [];
      for (let i = start; i < start + size; i += 1) if (Math.exp(logprob[i]) < tau) found.push(i);
      const cut = found.length ? quantileOf(found.map((i) => entropy[i]), q) : 0;
      for (const i of found) {
        if (entropy[i] >= cut) continue;
        silenced += 1;
        energy += norm[i] ** 2;
      }
      rare += found.length;
      start += size;
    }
    return { rare, silenced, energy };
  };
  const [tau, quantile] = ["tau-p", "quantile"].map(byId);
  const percent = (share) => `${Number((100 * share).toPrecision(2))} %`;
  byId("live").hidden = false;
  const say = () => {
    const [p, q] = [masks.p[tau.value], masks.q[quantile.value]];
    const { rare, silenced, energy } = mask(p, q);
    byId("masked").textContent = `Probability below ${p}, entropy below quantile ${q}: ${silenced.toLocaleString("en")} of ${rare.toLocaleString("en")} rare tokens, ${percent(silenced / masks.tokens)} of all, ${percent(energy / masks.energy)} of the gradient after clipping.`;
  };
  for (const slider of [tau, quantile]) slider.addEventListener("input", say);
  say();
}

// What a reader opened, moved and scrolled to is there again when the page is loaded anew, as a watch does.
const shelf = `stapo ${location.pathname}`;
const controls = () => all("input[id], select[id]");
// Folds by their words, and which of those with the same.
function folds() {
  const seen = new Map();
  return all("details").map((fold) => {
    const words = fold.querySelector("summary").textContent;
    seen.set(words, (seen.get(words) ?? 0) + 1);
    return [`${words} ${seen.get(words)}`, fold];
  });
}
function keep() {
  const state = {
    tab: panels.find((panel) => panel.classList.contains("open"))?.id,
    top: scrollY,
    values: controls().map((control) => [control.id, control.value]),
    folds: folds().map(([name, fold]) => [name, fold.open]),
  };
  try { sessionStorage.setItem(shelf, JSON.stringify(state)); } catch { /* pages of the disk may have no storage */ }
}
function restore() {
  let state = null;
  try { state = JSON.parse(sessionStorage.getItem(shelf)); } catch { /* then nothing was kept */ }
  if (!state) return;
  if (byId(state.tab)) open(byId(state.tab));
  const known = new Map(state.folds);
  for (const [name, fold] of folds()) fold.open = known.get(name) ?? fold.open;
  for (const [id, value] of state.values) {
    const control = byId(id);
    if (!control || control.value === value) continue;
    control.value = value;
    for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  if (location.hash) return;
  history.scrollRestoration = "manual";
  scrollTo({ top: state.top, behavior: "instant" });
}

if (panels.length) open(panels[0]);
browser?.start();
restore();
addEventListener("pagehide", keep);
addEventListener("hashchange", follow);
follow();
