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

// A number of so many digits, as the program writes it: 0.239, 12.4, 1,230, 3.10·10⁻⁶.
function significant(value, digits) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const [mantissa, power] = size.toExponential(digits - 1).split("e");
  const [sign, exponent] = [value < 0 ? "−" : "", Number(power)];
  if (exponent < -4 || exponent > 8) {
    const raised = [...String(exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
    return `${sign}${mantissa}·10${raised.join("")}`;
  }
  if (exponent >= 3) return sign + Math.round(size).toLocaleString("en-US");
  return sign + size.toFixed(Math.max(0, digits - 1 - exponent));
}

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
