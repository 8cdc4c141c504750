/* A surface over two quantities as cells from dark to light, with words and a table beside it. */
import { freshId, h, setText, svg } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { css, viridis } from "../core/scale.js";
import { table } from "./table.js";

const LEFT = 70, BELOW = 44, WIDTH = 640, HEIGHT = 320, TICKS = 6;

/** cells: [{x, y, value, fits, why}]; labels: {x, y, value}; show: {x, y, value} as text. */
export function surface({ title, cells, chosen, labels, show, summary }) {
  const id = freshId("surface");
  const xs = [...new Set(cells.map((cell) => cell.x))].sort((a, b) => a - b);
  const ys = [...new Set(cells.map((cell) => cell.y))].sort((a, b) => a - b);
  const known = cells.filter((cell) => cell.fits && Number.isFinite(cell.value))
    .map((cell) => cell.value);
  const low = Math.min(...known), high = Math.max(...known);
  const readout = h("p", { class: "readout", "aria-live": "polite" });
  const wide = (WIDTH - LEFT) / xs.length, tall = (HEIGHT - BELOW) / ys.length;
  const drawn = cells.map((cell) => {
    const x = LEFT + xs.indexOf(cell.x) * wide;
    const y = HEIGHT - BELOW - (ys.indexOf(cell.y) + 1) * tall;
    const part = high > low ? (cell.value - low) / (high - low) : 0.5;
    const bad = !cell.fits || !Number.isFinite(cell.value);
    const tell = () => setText(readout, `${labels.x} ${show.x(cell.x)}, ${labels.y} `
      + `${show.y(cell.y)}: ${bad ? cell.why || "cannot be held" : show.value(cell.value)}`);
    const best = chosen && cell.x === chosen.x && cell.y === chosen.y;
    return svg("g", { onmouseenter: tell },
      svg("rect", { x, y, width: wide + 0.3, height: tall + 0.3, class: bad ? "cannot" : "",
        fill: bad ? null : css(viridis(part)) }),
      bad && svg("path", { class: "cross", d: `M${x + wide * 0.3} ${y + tall * 0.3}l${wide * 0.4} `
        + `${tall * 0.4}m0 ${-tall * 0.4}l${-wide * 0.4} ${tall * 0.4}` }),
      best && svg("circle", { class: "best", cx: x + wide / 2, cy: y + tall / 2,
        r: Math.max(4, Math.min(wide, tall) / 3) }));
  });
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
      `${title}. ${summary}` }, drawn, ticks(xs, wide, show.x, true), ticks(ys, tall, show.y, false),
    svg("text", { x: LEFT + (WIDTH - LEFT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, labels.x),
    svg("text", { x: 14, y: (HEIGHT - BELOW) / 2, "text-anchor": "middle",
      transform: `rotate(-90 14 ${(HEIGHT - BELOW) / 2})` }, labels.y)),
    readout, known.length ? ramp(show.value(low), show.value(high), labels.value) : "",
    h("figcaption", {}, h("p", { class: "summary" }, summary)), tablePlace);
}

function ticks(values, step, show, across) {
  const every = Math.max(1, Math.ceil(values.length / TICKS));
  return values.filter((_, at) => at % every === 0).map((value) => {
    const middle = (values.indexOf(value) + 0.5) * step;
    return across
      ? svg("text", { x: LEFT + middle, y: HEIGHT - BELOW + 16, "text-anchor": "middle" }, show(value))
      : svg("text", { x: LEFT - 6, y: HEIGHT - BELOW - middle + 4, "text-anchor": "end" }, show(value));
  });
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
    { head: "", cell: (cell) => cell.fits ? "" : cell.why || "cannot be held" }] });
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
