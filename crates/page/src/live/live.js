"use strict";
// Asks for the state of the watch and shows a new report when there is one.
(() => {
  const line = document.getElementById("live-state");
  let frame = document.getElementById("live-report");
  let shown = 0;
  let latest = null;

  const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString();
  function tell() {
    if (!latest) return;
    const silent = Date.now() / 1000 - latest.looked > 3 * latest.every + 60;
    const running = latest.ended ? "the watch has ended" : silent ? "nobody is watching any more" : `next look within ${latest.every} s`;
    // The report below says it all; here the first lines of it are enough.
    line.textContent = `Last look ${clock(latest.looked)}; ${running}. ${latest.sentence}`;
    line.title = latest.sentence;
    line.className = latest.ended || silent ? "live quiet" : `live ${latest.state}`;
  }

  function show(version) {
    // The new one takes the place of the old one when it is ready: nothing flickers, and it finds the
    // place of the reader itself.
    const next = document.createElement("iframe");
    next.className = "live coming";
    next.title = "report";
    next.src = `report.html?${version}`;
    next.addEventListener("load", () => {
      next.className = "live";
      frame.remove();
      frame = next;
      frame.id = "live-report";
    });
    document.body.append(next);
  }

  globalThis.stapoLive = (state) => {
    latest = state;
    if (state.version > 0 && state.version !== shown) {
      shown = state.version;
      show(state.version);
    }
    tell();
  };

  function ask() {
    const script = document.createElement("script");
    script.src = `live.js?${Date.now()}`;
    const done = () => { script.remove(); tell(); };
    script.addEventListener("load", done);
    script.addEventListener("error", done);
    document.head.append(script);
    setTimeout(ask, latest ? Math.min(latest.every, 10) * 1000 : 2000);
  }
  ask();
})();
