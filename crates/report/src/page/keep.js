// What a reader has opened, moved and scrolled to stays when the page is loaded again in the same tab.
(() => {
  const shelf = `stapo ${location.pathname}`;
  const controls = () => [...document.querySelectorAll("input[id], select[id]")];
  const folds = new Map();
  const namesakes = new Map();
  for (const fold of document.querySelectorAll("details")) {
    const summary = fold.querySelector("summary");
    const name = `${fold.closest("section[id]")?.id ?? ""} ${fold.id} ${summary ? summary.textContent : ""}`;
    const number = namesakes.get(name) ?? 0;
    namesakes.set(name, number + 1);
    folds.set(`${name} ${number}`, { fold, open: fold.open });
  }
  const first = new Map(controls().map((c) => [c.id, c.type === "checkbox" ? c.checked : c.value]));

  function restore() {
    const state = JSON.parse(sessionStorage.getItem(shelf));
    if (!state) return;
    for (const [key, open] of state.folds) if (folds.has(key)) folds.get(key).fold.open = open;
    for (const [id, value] of state.values) {
      const control = document.getElementById(id);
      if (!control) continue;
      if (control.type === "checkbox") control.checked = value;
      else control.value = value;
      for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
    }
    const anchor = document.getElementById(state.anchor);
    if (location.hash || !anchor) return;
    history.scrollRestoration = "manual";
    scrollTo({ top: scrollY + anchor.getBoundingClientRect().top - state.above, behavior: "instant" });
  }

  // The last element with a name above the middle of the window: what is before it may have grown.
  function place() {
    let found = null;
    for (const element of document.querySelectorAll("section[id], figure[id], h3[id]")) {
      if (element.getBoundingClientRect().top < innerHeight / 2) found = element;
    }
    return { anchor: found?.id, above: found?.getBoundingClientRect().top };
  }

  function save() {
    const moved = controls().map((c) => [c.id, c.type === "checkbox" ? c.checked : c.value]);
    const unfolded = [...folds].map(([key, { fold, open }]) => [key, fold.open, open]);
    sessionStorage.setItem(shelf, JSON.stringify({
      ...(scrollY > 0 ? place() : {}),
      values: moved.filter(([id, value]) => first.get(id) !== value),
      folds: unfolded.filter(([, now, before]) => now !== before).map(([key, now]) => [key, now]),
    }));
  }

  let waiting = 0;
  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(keep, 100);
  }
  // Some browsers give pages of the disk no storage.
  function keep() { try { save(); } catch { /* then nothing is kept */ } }
  try { restore(); } catch { /* then nothing was kept */ }
  for (const event of ["input", "change", "toggle", "click"]) document.addEventListener(event, soon, true);
  addEventListener("scroll", soon, { passive: true });
  addEventListener("pagehide", keep);
})();
