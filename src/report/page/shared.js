"use strict";
document.documentElement.classList.add("scripted");

// Charts for small windows lie in the page as templates: only a small window lays them out.
(() => {
  const small = matchMedia("(max-width: 560px)");
  function place() {
    if (!small.matches) return;
    for (const template of document.querySelectorAll("template.small-chart")) {
      const box = document.createElement("div");
      box.className = "narrow";
      box.append(template.content);
      template.replaceWith(box);
    }
  }
  small.addEventListener("change", place);
  place();
})();

// Starts what takes time once its element comes near the window; returns how to start it at once.
function whenNear(element, start) {
  let watcher = null;
  function begin() {
    if (element.dataset.ready) return;
    element.dataset.ready = "yes";
    watcher?.disconnect();
    start();
  }
  watcher = new IntersectionObserver((seen) => seen.some((e) => e.isIntersecting) && begin(), { rootMargin: "900px" });
  watcher.observe(element);
  addEventListener("beforeprint", begin);
  return begin;
}
