/* Power of parts (classes, racks, feeds) as bars, with a mark where their cap lies. */
import { h, setText, svg } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { onWall } from "../core/theme.js";

/** One bar of a part of `most`, with a mark; the text beside it says the same. */
export function bar(part, mark = null) {
  const percent = (of) => `${(100 * Math.min(Math.max(of, 0), 1)).toFixed(2)}%`;
  return svg("svg", { class: "bar", "aria-hidden": "true", focusable: "false" },
    svg("rect", { class: "ground", width: "100%", height: "100%" }),
    svg("rect", { class: mark !== null && part > mark ? "over" : "filled", width: percent(part),
      height: "100%" }),
    mark !== null && svg("line", { class: "mark", x1: percent(mark), x2: percent(mark), y1: "0",
      y2: "100%" }));
}

/** parts: [{name, power_w, cap_w}], the strongest first where there are many. */
export function powerBars(parts, most = 12) {
  const known = parts.map((part) => Math.max(part.power_w ?? 0, part.cap_w ?? 0));
  const scale = Math.max(...known, 1);
  const shown = parts.length > most
    ? [...parts].sort((a, b) => (b.power_w ?? 0) - (a.power_w ?? 0)).slice(0, most) : parts;
  const carries = (part) => part.cap_w === null || part.cap_w === undefined ? ""
    : `of ${formats.power(part.cap_w)}`;
  // The wall has no room for a column more: there the cap stands below.
  const rows = shown.map((part) => h("tr", {},
    h("th", { scope: "row" }, part.name),
    h("td", { class: "wide" }, bar((part.power_w ?? 0) / scale,
      part.cap_w === null || part.cap_w === undefined ? null : part.cap_w / scale)),
    h("td", { class: "number" }, formats.power(part.power_w),
      onWall() && carries(part) && h("small", { class: "soft" }, carries(part))),
    !onWall() && h("td", { class: "number soft" }, carries(part))));
  const rest = parts.length - shown.length;
  return h("div", {}, h("table", { class: "bars" },
    h("caption", { class: "unseen" }, "Power of each part, with its cap where it has one"),
    h("thead", {}, h("tr", {}, ["part", "bar", "power", !onWall() && "cap"].filter(Boolean).map((head) =>
      h("th", { scope: "col" }, h("span", { class: "unseen" }, head))))), h("tbody", {}, rows)),
  rest > 0 && h("p", { class: "soft" }, `and ${formats.number(rest)} more`));
}

/** A figure with its name and what it means, as a tile. */
export function tile(name, value, more = null, { tone = "", wide = false, key = null } = {}) {
  return h("div", { class: `tile ${tone} ${wide ? "wide" : ""}`, "data-tile": key ?? name },
    h("p", { class: "name" }, name), h("p", { class: "value" }, value),
    h("p", { class: "more" }, more));
}

/** Tiles that change in place while they are the same ones, so that what is read stays put. */
export function putTiles(place, made) {
  const names = (tiles) => [...tiles].map((one) => one.dataset?.tile).join("|");
  if (names(place.children) !== names(made)) {
    place.replaceChildren(...made);
    return;
  }
  made.forEach((tile, at) => {
    const old = place.children[at];
    old.className = tile.className;
    [...old.children].forEach((line, row) => setText(line, tile.children[row].textContent));
  });
}

/** A row of buttons of which one is chosen. */
export function choice(label, options, chosen, onchange) {
  const group = h("div", { class: "choice", role: "group", "aria-label": label });
  const show = (value) => group.replaceChildren(...options.map(([key, text]) => h("button",
    { type: "button", "aria-pressed": String(key === value), "data-key": key, onclick: () => {
      show(key);
      group.querySelector(`[data-key="${CSS.escape(String(key))}"]`).focus();
      onchange(key);
    } }, text)));
  show(chosen);
  return group;
}
