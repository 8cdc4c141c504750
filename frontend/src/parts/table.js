/* Tables: columns say their heading, their cell, and whether one can sort by them. */
import { h, setText } from "../core/dom.js";

/** columns: [{head, cell(row) -> text or element, number, sort, hint}]; sorted: {by, descending} */
export function table({ columns, rows, caption, sorted = null, onsort = null, rowClass = null,
  hidden = true, foot = null, tall = false }) {
  const head = h("tr", {}, columns.map((column) => heading(column, sorted, onsort)));
  const body = rows.map((row) => h("tr", { class: rowClass?.(row) || null },
    columns.map((column, at) => h(at === 0 ? "th" : "td",
      { class: column.number ? "number" : null, scope: at === 0 ? "row" : null },
      column.cell(row)))));
  return sidewaysBox(h("div", { class: tall ? "scroll tall" : "scroll", role: "region",
    "aria-label": caption, tabindex: "0" },
    h("table", {},
      h("caption", { class: hidden ? "unseen" : null }, caption),
      h("thead", {}, head), h("tbody", {}, body),
      foot && h("tfoot", {}, h("tr", {}, foot.map((cell, at) => h(at === 0 ? "th" : "td",
        { class: columns[at].number ? "number" : null, scope: at === 0 ? "row" : null }, cell)))))));
}

/** Around what may be wider than the screen: where there is more, a shadow and a button say so. */
function sidewaysBox(scroll) {
  const more = h("button", { type: "button", class: "quiet more", hidden: true, onclick: () => {
    const step = 0.8 * scroll.clientWidth;
    scroll.scrollBy({ left: box.dataset.more === "left" ? -scroll.scrollWidth : step });
  } });
  const box = h("div", { class: "tablebox", "data-more": "" }, more,
    h("div", { class: "frame" }, scroll));
  const look = () => {
    const left = scroll.scrollLeft > 1;
    const right = scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1;
    box.dataset.more = right ? "right" : left ? "left" : "";
    more.hidden = !right && !left;
    setText(more, right ? "More columns to the right →" : "← Back to the first columns");
  };
  scroll.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(scroll);
  return box;
}

function heading(column, sorted, onsort) {
  const properties = { scope: "col", class: column.number ? "number" : null, title: column.hint };
  if (!column.sort || !onsort) return h("th", properties, column.head);
  const here = sorted?.by === column.sort;
  const order = here ? (sorted.descending ? "descending" : "ascending") : null;
  return h("th", { ...properties, "aria-sort": order },
    h("button", { type: "button", class: "sort", "data-sort": column.sort,
      onclick: () => onsort(column.sort, here ? !sorted.descending : Boolean(column.number)) },
    column.head, h("span", { "aria-hidden": "true", class: "arrow" },
      here ? (sorted.descending ? "▼" : "▲") : "↕")));
}

/** Rows that are all here, sorted on the page. */
export function sortable(options, first = null) {
  const place = h("div");
  let sorted = first;
  const show = () => {
    const column = options.columns.find((one) => one.sort === sorted?.by);
    const rows = column ? [...options.rows].sort((a, b) => order(a, b, column)) : options.rows;
    place.replaceChildren(table({ ...options, rows, sorted, onsort: (by, descending) => {
      sorted = { by, descending };
      show();
      place.querySelector(`[data-sort="${CSS.escape(by)}"]`)?.focus();
    } }));
  };
  const order = (a, b, column) => {
    const [x, y] = [column.key(a), column.key(b)];
    if (x === null || x === undefined) return 1; // what is missing comes last, both ways
    if (y === null || y === undefined) return -1;
    const way = sorted.descending ? -1 : 1;
    return way * (typeof x === "string" ? x.localeCompare(y) : x - y);
  };
  show();
  return place;
}

/** "1 to 50 of 5,000" and buttons to the pages around. */
export function pager({ total, offset, limit, go, noun = "rows" }) {
  const last = Math.min(offset + limit, total);
  const text = total ? `${(offset + 1).toLocaleString("en-US")} to ${last.toLocaleString("en-US")} of `
    + `${total.toLocaleString("en-US")} ${noun}` : `No ${noun}`;
  const step = (label, to, possible) => h("button", { type: "button", disabled: !possible,
    onclick: () => go(to) }, label);
  return h("nav", { class: "pager", "aria-label": `Pages of ${noun}` },
    h("span", { class: "soft" }, text),
    step("First", 0, offset > 0), step("Previous", Math.max(0, offset - limit), offset > 0),
    step("Next", offset + limit, last < total),
    step("Last", Math.max(0, Math.floor((total - 1) / limit) * limit), last < total));
}

/** Fields with their values, as a list of terms. */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null
    && value !== undefined).map(([name, value]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
