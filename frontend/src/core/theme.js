/* Light or dark: as the system says, until the switch says otherwise; kept for the next visit. */
import { h } from "./dom.js";

const KEY = "wattline-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

function kept() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function keep(theme) {
  try { localStorage.setItem(KEY, theme); } catch { /* pages without storage forget */ }
}

export function current() {
  return document.documentElement.dataset.theme || (system.matches ? "dark" : "light");
}

const read = new Map();

/** A colour of the sheet by its name. Read once per theme: asking the sheet is slow. */
export function colour(name) {
  const key = `${current()} ${name}`;
  if (!read.has(key)) {
    read.set(key, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return read.get(key);
}

export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the page is read from across a room. */
export function onWall() {
  return document.documentElement.classList.contains("wall");
}

export function themeSwitch() {
  const last = kept();
  if (last === "light" || last === "dark") document.documentElement.dataset.theme = last;
  const button = h("button", { type: "button", class: "quiet theme" });
  const changed = () => {
    const other = current() === "dark" ? "Light" : "Dark";
    button.textContent = other === "Light" ? "☀" : "☾";
    button.setAttribute("aria-label", `${other} colours`);
    button.title = `${other} colours`;
    listeners.forEach((listener) => listener());
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = current() === "dark" ? "light" : "dark";
    keep(current());
    changed();
  });
  system.addEventListener("change", changed);
  changed();
  return button;
}
