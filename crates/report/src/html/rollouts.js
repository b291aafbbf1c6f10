
// The browser of responses: filter, pick one, see its prompt, its heat map and its siblings.
(() => {
  const element = document.getElementById("rollouts-data");
  const byId = (id) => document.getElementById(`rollout-${id}`);
  const list = byId("list");
  if (!element || !list) return;
  const asked = () => /^#rollout-(\d+)$/.exec(location.hash)?.[1];
  const begin = whenNear(document.getElementById("rollouts"), start);
  addEventListener("hashchange", () => asked() && begin());
  if (asked()) begin();

  function start() {
    const data = JSON.parse(element.textContent);
    const [search, step, group, outcome, low, high, count, shown, command] = [
      "search", "step", "group", "outcome", "low", "high", "count", "shown", "command",
    ].map(byId);
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    const LIMIT = 200;

    const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
    const advantages = (of) => (of.advantages ??= typeof of.a === "string" ? new Float32Array(bytes(of.a)) : [of.a ?? NaN]);
    // Unpacked when first needed.
    function tokens(of) {
      if (!of.tokens) {
        const advantage = typeof of.a === "string" ? advantages(of) : null;
        of.tokens = {
          codes: new Uint16Array(bytes(of.codes)),
          s: new Float32Array(bytes(of.s)),
          h: new Float32Array(bytes(of.h)),
          g: new Float32Array(bytes(of.g)),
          a: (i) => (advantage ? advantage[i] : of.a ?? NaN),
        };
      }
      return of.tokens;
    }
    const firstAdvantage = (of) => advantages(of).find((a) => Number.isFinite(a) && a !== 0) ?? 0;
    const outcomes = {
      "": () => true,
      pass: (of) => of.reward > 0,
      fail: (of) => of.reward !== null && of.reward <= 0,
      cut: (of) => of.for.includes("truncated"),
      spurious: (of) => of.flags.some((f) => f[1]),
      positive: (of) => firstAdvantage(of) > 0,
      negative: (of) => firstAdvantage(of) < 0,
      group: (of) => of.for.includes("group"),
    };
    const number = (value) => {
      if (value === null || value === undefined || !Number.isFinite(value)) return "–";
      if (value === 0) return "0";
      const size = Math.abs(value);
      return String(size >= 1e-4 && size < 1e9 ? Number(value.toPrecision(3)) : value.toExponential(2)).replace("-", "−");
    };
    const make = (tag, text, properties = {}) => Object.assign(document.createElement(tag), { textContent: text }, properties);
    const name = (of) => of.sample ?? `row ${of.row}`;

    function describe(of) {
      const parts = [`step ${of.step}`];
      if (of.group !== null) parts.push(`group ${of.group}`);
      parts.push(`${of.length} tokens`);
      if (of.reward !== null) parts.push(`reward ${number(of.reward)}`);
      parts.push(`A ${number(firstAdvantage(of))}`);
      if (of.ending !== null) parts.push(of.ending);
      const spurious = of.flags.filter((f) => f[1]).length;
      if (spurious) parts.push(`◆ ${spurious}`);
      return parts.join(" · ");
    }

    function heatMap(of) {
      const t = tokens(of);
      const flags = new Map(of.flags);
      const text = make("p", "", { className: "text" });
      const untrained = (i) => of.untrained.some(([from, to]) => i >= from && i < to);
      const level = (value, most) => (Number.isFinite(value) ? Math.round(Math.min(value / most, 1) * 7) : 0);
      const wanted = search.value.trim().toLowerCase();
      t.codes.forEach((code, i) => {
        const token = make("i", data.texts[code] ?? "…");
        const shades = ["s", "h", "g"].map((k, n) => [k, level(t[k][i], data.most[n])]);
        token.className = shades.filter((s) => s[1] > 0).map((s) => s[0] + s[1]).join(" ");
        if (flags.has(i)) {
          token.classList.add(flags.get(i) ? "sp" : "ex");
          token.tabIndex = 0;
        } else if (untrained(i)) token.classList.add("un");
        const id = data.ids[code];
        const found = wanted !== "" && (String(id) === wanted || token.textContent.toLowerCase().includes(wanted));
        if (found) token.classList.add("found");
        const facts = `p ${number(Math.exp(-t.s[i]))} · H ${number(t.h[i])} · A ${number(t.a(i))} · ‖g‖ ${number(t.g[i])}`;
        token.dataset.t = `${facts}${id === null ? "" : ` · id ${id}`} · position ${of.first + i}`;
        text.append(token, of.gap);
      });
      return text;
    }

    function card(of, current) {
      const box = make("article", "", { className: current ? "current" : "" });
      const head = make("h4", "");
      head.append(make("a", name(of), { href: `#rollout-${of.row}` }), ` ${describe(of)}`);
      box.append(head);
      const part = tokens(of).codes.length;
      if (part < of.length) box.append(make("p", `Tokens ${of.first} to ${of.first + part - 1} of ${of.length}.`, { className: "note" }));
      box.append(heatMap(of));
      return box;
    }

    let current = null;
    function show(of) {
      current = of;
      shown.replaceChildren();
      if (of.prompt !== null) {
        shown.append(make("h4", "Prompt"), make("p", data.prompts[of.prompt], { className: "prompt" }));
      }
      shown.append(card(of, true));
      const siblings = data.list.filter(
        (o) => o !== of && o.group !== null && o.group === of.group && o.step === of.step && o.update === of.update,
      );
      if (siblings.length) {
        shown.append(make("h4", `The same prompt: ${siblings.length} other ${siblings.length === 1 ? "response" : "responses"} on this page`));
        const side = make("div", "", { className: "siblings" });
        side.append(...siblings.map((o) => card(o, false)));
        shown.append(side);
      }
      const quoted = (text) => (/^[\w.:-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
      // An option and its value stay on one line.
      command.textContent = `stapo-analyze show ${quoted(command.dataset.run)}`;
      for (const [name, value] of [["step", of.step], ["group", of.group], ["sample", of.sample]]) {
        if (value !== null) command.append(" ", make("span", `--${name} ${quoted(String(value))}`, { className: "o" }));
      }
      for (const item of list.children) item.classList.toggle("current", item.dataset.row === String(of.row));
    }

    function matches(of) {
      const wanted = search.value.trim().toLowerCase();
      if (step.value !== "" && String(of.step) !== step.value) return false;
      if (group.value !== "" && of.group !== group.value) return false;
      if (low.value !== "" && !(of.reward >= Number(low.value) && of.reward !== null)) return false;
      if (high.value !== "" && !(of.reward <= Number(high.value) && of.reward !== null)) return false;
      if (!outcomes[outcome.value](of)) return false;
      if (wanted === "") return true;
      if (of.text === undefined) {
        const codes = [...tokens(of).codes];
        of.text = codes.map((c) => data.texts[c] ?? "…").join(of.gap).toLowerCase();
        of.ids = new Set(codes.map((c) => data.ids[c]));
      }
      const inPrompt = of.prompt !== null && data.prompts[of.prompt].toLowerCase().includes(wanted);
      return of.text.includes(wanted) || inPrompt || (/^\d+$/.test(wanted) && of.ids.has(Number(wanted)));
    }

    function refresh() {
      const found = data.list.filter(matches);
      list.replaceChildren();
      for (const of of found.slice(0, LIMIT)) {
        const item = make("li", "");
        item.dataset.row = of.row;
        item.append(make("a", name(of), { href: `#rollout-${of.row}` }), make("small", ` ${describe(of)}`));
        list.append(item);
      }
      count.value = `${found.length} of ${data.list.length} responses`;
      if (found.length && !found.includes(current)) show(found[0]);
      else if (current) show(current);
      if (!found.length) shown.replaceChildren(make("p", "No response on this page is like that."));
    }

    function follow() {
      const row = asked();
      const of = row && data.list.find((o) => String(o.row) === row);
      if (!of) return;
      show(of);
      document.getElementById("rollouts").scrollIntoView();
    }

    const options = (select, values) => {
      for (const value of values) select.append(make("option", value, { value }));
    };
    options(step, [...new Set(data.list.map((o) => o.step))].sort((a, b) => a - b));
    const groups = [...new Set(data.list.map((o) => o.group).filter((g) => g !== null))];
    options(group, groups.sort((a, b) => a.localeCompare(b, "en", { numeric: true })));
    for (const input of [search, step, group, outcome, low, high]) input.addEventListener("input", refresh);
    addEventListener("hashchange", follow);
    refresh();
    follow();
  }
})();
