// The case list: live flags, filter, sorting, one list or by step.
(() => {
  const groups = document.getElementById("case-groups");
  const controls = document.getElementById("case-controls");
  if (groups && controls) whenNear(document.getElementById("cases"), start);
  function start() {
    const [filter, sort, down, flat, count] = ["filter", "sort", "down", "flat", "count"].map((id) =>
      document.getElementById(`case-${id}`),
    );
    controls.addEventListener("submit", (event) => event.preventDefault());
    const rows = [...groups.querySelectorAll("tbody tr")];
    const home = new Map(rows.map((row) => [row, row.parentNode]));
    const number = (row) => Number(row.id.slice(1));
    rows.sort((a, b) => number(a) - number(b));
    const order = new Map(rows.map((row, index) => [row, index]));
    const off = new Set();
    let everything = null;

    const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    function value(row, column) {
      const text = row.cells[column].textContent;
      if (column < 2 || (column === 11 && !/^\d+$/.test(text))) return text;
      const plain = text
        .replace("·10", "e")
        .replace("⁻", "-")
        .replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]/g, (c) => raised.indexOf(c))
        .replace("−", "-")
        .replace(/,/g, "");
      const found = parseFloat(plain);
      return Number.isNaN(found) ? -Infinity : found;
    }

    function place() {
      const column = sort.value === "" ? null : Number(sort.value);
      const sign = down.checked ? -1 : 1;
      const compare = (a, b) => {
        if (column !== null) {
          const [x, y] = [value(a, column), value(b, column)];
          if (x < y) return -sign;
          if (x > y) return sign;
        }
        return order.get(a) - order.get(b);
      };
      const sorted = [...rows].sort(compare);
      if (flat.checked && !everything) {
        everything = groups.querySelector("details.step").cloneNode(true);
        everything.removeAttribute("id");
        everything.open = true;
        everything.querySelector("summary").textContent = "All steps";
        everything.querySelector("tbody").replaceChildren();
        groups.prepend(everything);
      }
      for (const row of sorted) (flat.checked ? everything.querySelector("tbody") : home.get(row)).append(row);
      for (const head of groups.querySelectorAll("th")) {
        head.ariaSort = head.cellIndex === column ? (down.checked ? "descending" : "ascending") : null;
      }
      refresh();
    }

    function refresh() {
      const wanted = filter.value.toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const token = row.cells[1].textContent.toLowerCase();
        row.hidden = off.has(row) || (wanted !== "" && !token.includes(wanted));
        if (!row.hidden) shown += 1;
      }
      for (const step of groups.querySelectorAll("details.step")) {
        step.hidden = !step.querySelector("tbody tr:not([hidden])");
        if (wanted !== "" && !step.hidden) step.open = true;
      }
      count.value = `${shown} of ${rows.length} shown`;
    }

    for (const head of groups.querySelectorAll("th")) {
      if (head.cellIndex === 2) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
    }
    groups.addEventListener("click", (event) => {
      const head = event.target.closest("th");
      if (!head || head.cellIndex === 2) return;
      const column = String(head.cellIndex);
      down.checked = sort.value === column ? !down.checked : true;
      sort.value = column;
      place();
    });
    filter.addEventListener("input", refresh);
    for (const control of [sort, down, flat]) control.addEventListener("change", place);

    if (stapo) {
      stapo.onmask = (result) => {
        for (const row of rows) {
          const i = number(row);
          const rare = Math.exp(stapo.cases.logprob[i]) < result.tau;
          const cut = result.tauH[stapo.cases.batch[i]];
          const silenced = rare && cut !== null && cut !== undefined && stapo.cases.entropy[i] < cut;
          row.className = silenced ? "sp" : "ex";
          row.cells[0].textContent = silenced ? "spurious" : "exploratory";
          if (cut !== null && cut !== undefined) row.cells[6].textContent = significant(cut, 3);
          if (rare) off.delete(row);
          else off.add(row);
        }
        refresh();
      };
    }
    if (stapo?.latest) stapo.onmask(stapo.latest);
    else refresh();
  }

  // A link into something folded unfolds it.
  function unfold() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  unfold();
})();
