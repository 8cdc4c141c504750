/* A surface over two quantities as cells from dark to light, with words and a table beside it. */
import { freshId, h, setText, svg } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { css, viridis } from "../core/scale.js";
import { table } from "./table.js";

const LEFT = 84, BELOW = 44, WIDTH = 760, HEIGHT = 340, TICKS = 6;

/** Cells around each value of a column, or dots where the values lie anywhere. */
function places(cells) {
  const columns = new Map();
  for (const cell of cells) columns.set(cell.x, [...(columns.get(cell.x) ?? []), cell]);
  const xs = [...columns.keys()].sort((a, b) => a - b);
  const dotted = cells.length < 2 * xs.length;
  const half = xs.length > 1 ? (xs.at(-1) - xs[0]) / (xs.length - 1) / 2 : 1;
  const placed = [];
  for (const x of xs) {
    const column = columns.get(x).sort((a, b) => a.y - b.y);
    const edge = (at) => at < 0 ? 1.5 * column[0].y - 0.5 * (column[1] ?? column[0]).y
      : at >= column.length - 1 ? 1.5 * column.at(-1).y - 0.5 * (column.at(-2) ?? column[0]).y
        : (column[at].y + column[at + 1].y) / 2;
    column.forEach((cell, at) => placed.push({ cell, left: x - half, right: x + half,
      low: dotted ? cell.y : edge(at - 1), high: dotted ? cell.y : edge(at) }));
  }
  return { placed, dotted };
}

function scaleOf(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values);
  return { low, high, at: (value) => from + (value - low) / (high - low || 1) * (to - from) };
}

/** Round figures between two others. */
function roundTicks({ low, high }) {
  const raw = (high - low) / TICKS, ten = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((n) => n * ten).find((size) => size >= raw) ?? ten;
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high; at += 1) found.push(at * step);
  return found;
}

/** cells: [{x, y, value, fits, why}]; labels: {x, y, value}; show: {x, y, value} as text. */
export function surface({ title, cells, chosen, labels, show, summary }) {
  const id = freshId("surface");
  const readout = h("p", { class: "readout", "aria-live": "polite" });
  const { placed, dotted } = places(cells);
  const x = scaleOf(placed.flatMap((one) => [one.left, one.right]), LEFT, WIDTH - 4);
  const y = scaleOf(placed.flatMap((one) => [one.low, one.high]), HEIGHT - BELOW, 6);
  const colours = scaleOf(cells.map((cell) => cell.value).filter(Number.isFinite), 0, 1);
  const drawn = placed.map((one) => {
    const { cell } = one;
    const unknown = !Number.isFinite(cell.value), part = unknown ? 0 : colours.at(cell.value);
    const tell = () => setText(readout, `${labels.x} ${show.x(cell.x)}, ${labels.y} `
      + `${show.y(cell.y)}: ${show.value(cell.value)}${cell.fits ? "" : `, ${reason(cell)}`}`);
    const [cx, cy] = [x.at(cell.x), y.at(cell.y)];
    const look = unknown ? { class: "cannot" } : { fill: css(viridis(part)) };
    const [left, top] = [x.at(one.left), y.at(one.high)];
    return svg("g", { onmouseenter: tell }, dotted ? svg("circle", { cx, cy, r: 7, ...look })
      : svg("rect", { x: left, y: top, width: x.at(one.right) - left - 1,
        height: Math.max(1, y.at(one.low) - top - 1), ...look }),
    !cell.fits && svg("path", { class: part < 0.6 ? "cross light" : "cross",
      d: `M${cx - 4} ${cy - 4}l8 8m0 -8l-8 8` }));
  });
  const best = chosen && svg("circle", { class: "best", cx: x.at(chosen.x), cy: y.at(chosen.y),
    r: 10 });
  const tablePlace = h("div", { hidden: true });
  const button = h("button", { type: "button", class: "quiet", "aria-expanded": "false",
    onclick: () => {
      tablePlace.hidden = !tablePlace.hidden;
      button.setAttribute("aria-expanded", String(!tablePlace.hidden));
      if (!tablePlace.childElementCount) tablePlace.append(cellTable(title, cells, labels, show));
    } }, "Table");
  return h("figure", { class: "chart surface", "aria-labelledby": id },
    h("div", { class: "heading" }, h("h2", { id }, title), h("div", { class: "tools" }, button)),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label":
      `${title}. ${summary}` }, drawn, best,
    roundTicks(x).map((value) => svg("text", { x: x.at(value), y: HEIGHT - BELOW + 16,
      "text-anchor": "middle" }, show.x(value))),
    roundTicks(y).map((value) => svg("text", { x: LEFT - 8, y: y.at(value) + 4,
      "text-anchor": "end" }, show.y(value))),
    svg("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, labels.x),
    svg("text", { x: 12, y: (HEIGHT - BELOW) / 2, "text-anchor": "middle",
      transform: `rotate(-90 12 ${(HEIGHT - BELOW) / 2})` }, labels.y)),
    readout, ramp(show.value(colours.low), show.value(colours.high), labels.value),
    h("figcaption", {}, h("p", { class: "summary" }, summary)), tablePlace);
}

/** Why a cell cannot be held: the first reason, and how many more there are. */
function reason({ why }) {
  const [first, ...more] = (why || "cannot be held").split("; ");
  return first.replace(/ \(.*\)$/, "") + (more.length ? `, and ${more.length} more reasons` : "");
}

function ramp(low, high, label) {
  return h("div", { class: "map-legend" }, h("div", { class: "ramp" }, h("span", {}, low),
    svg("svg", { "aria-hidden": "true" }, Array.from({ length: 24 }, (_, i) => svg("rect",
      { x: `${i * 100 / 24}%`, width: `${100 / 24 + 0.2}%`, height: "100%",
        fill: css(viridis(i / 23)) }))), h("span", {}, high),
    h("span", { class: "soft" }, `${label}, dark to light`)),
  h("span", { class: "soft" }, "✕ cannot be held · ○ the best"));
}

function cellTable(title, cells, labels, show) {
  return table({ caption: `${title}, as a table`, rows: cells, columns: [
    { head: labels.x, number: true, cell: (cell) => show.x(cell.x) },
    { head: labels.y, number: true, cell: (cell) => show.y(cell.y) },
    { head: labels.value, number: true, cell: (cell) => show.value(cell.value) },
    { head: "can it be held?", cell: (cell) => cell.fits ? "yes" : reason(cell) }] });
}

/** Which job has which node: a cell each, with the job's letter. */
export function placementMap(jobs, count) {
  const owner = new Array(count).fill(-1);
  jobs.forEach((job, at) => job.nodes.forEach((node) => { owner[node] = at; }));
  const columns = 34, side = 20, rows = Math.ceil(count / columns);
  const letter = (at) => String.fromCharCode(65 + at % 26);
  return svg("svg", { viewBox: `0 0 ${columns * side} ${rows * side}`, role: "img", class: "placed",
    "aria-label": `Nodes of the network by job: ${jobs.map((job, at) =>
      `${letter(at)} ${job.name}, ${formats.number(job.nodes.length)} nodes`).join("; ")}` },
  owner.map((at, node) => {
    const x = (node % columns) * side, y = Math.floor(node / columns) * side;
    const fill = at < 0 ? null : viridis(jobs.length < 2 ? 0.35 : 0.15 + 0.8 * at / (jobs.length - 1));
    return svg("g", {}, svg("title", {}, `node ${node}${at < 0 ? ": free" : `: ${jobs[at].name}`}`),
      svg("rect", { x: x + 1, y: y + 1, width: side - 2, height: side - 2,
        class: at < 0 ? "free" : "", fill: fill && css(fill) }),
      at >= 0 && svg("text", { x: x + side / 2, y: y + 14, "text-anchor": "middle",
        class: fill[1] > 150 ? "dark" : "light" }, letter(at)));
  }));
}
