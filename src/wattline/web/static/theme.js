/* Light or dark: as the system says, until the switch says otherwise; kept for the next visit. */
"use strict";
(function (w) {
  const KEY = "wattline-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];

  function kept() {
    try { return localStorage.getItem(KEY); } catch (error) { return null; }
  }

  function keep(theme) {
    try { localStorage.setItem(KEY, theme); } catch (error) { /* not for pages without storage */ }
  }

  function current() {
    return document.documentElement.dataset.theme || (system.matches ? "dark" : "light");
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  function changed(button) {
    button.textContent = current() === "dark" ? "Light colours" : "Dark colours";
    listeners.forEach((listener) => listener());
  }

  function start(button) {
    const last = kept();
    if (last === "light" || last === "dark") document.documentElement.dataset.theme = last;
    button.addEventListener("click", () => {
      document.documentElement.dataset.theme = current() === "dark" ? "light" : "dark";
      keep(current());
      changed(button);
    });
    system.addEventListener("change", () => changed(button));
    changed(button);
  }

  w.theme = { start, colour, current, onChange: (listener) => listeners.push(listener) };
})(wattline);
