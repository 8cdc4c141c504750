/* Nodes (or racks, where nodes are thousands) as a map: a cell each, coloured by watts or state.
 *
 * State is not told by colour alone: each has a mark of its own. The map is one place for the Tab
 * key; arrow keys walk from cell to cell, Enter opens, and what is under the walker is read out. */
import { h, setText, svg } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { css, inkOn, viridis } from "../core/scale.js";
import { colour, onTheme, onWall } from "../core/theme.js";

/** How a state is drawn: its colour by name, and its mark. */
export const STATES = {
  idle: ["state-idle", "ring"], busy: ["state-busy", "full"], allocated: ["state-busy", "full"],
  capped: ["state-capped", "half"], reserved: ["state-reserved", "bar"],
  waking: ["state-waking", "dot"], off: ["state-off", "none"], sleeping: ["state-off", "none"],
  down: ["state-down", "cross"], unknown: ["state-unknown", "query"],
};

export function stateLook(state) {
  return STATES[state] ?? STATES.unknown;
}

export class NodeMap {
  /** onopen(index) is called by Enter and by a click. */
  constructor({ label, onopen, describe }) {
    this.describe = describe;
    this.onopen = onopen;
    this.by = "power";
    this.cells = [];
    this.at = 0;
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": label,
      "aria-roledescription": "map", onkeydown: (event) => this.key(event),
      onmousemove: (event) => this.hover(event), onmouseleave: () => this.leave(),
      onclick: (event) => this.click(event), onfocus: () => this.walk(this.at),
      onblur: () => this.leave() });
    this.readout = h("p", { class: "readout", "aria-live": "polite" });
    this.legend = h("div", { class: "map-legend" });
    this.box = h("div", { class: "map" }, this.canvas);
    this.element = h("div", {}, this.box, this.readout, this.legend);
    this.offTheme = onTheme(() => this.draw());
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.box);
  }

  /** cells: [{name, power_w, state, part}] with part the place of its power on the scale, 0 to 1. */
  set(cells, { low_w, high_w, unit = "node" }) {
    this.cells = cells;
    this.low_w = low_w;
    this.high_w = high_w;
    this.unit = unit;
    this.draw();
    this.showLegend();
  }

  colourBy(by) {
    this.by = by;
    this.draw();
    this.legendKey = null;
    this.showLegend();
  }

  /** Columns and the side of a cell so that all fit into a box that is not too high. */
  layout() {
    const root = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const width = Math.max(this.box.clientWidth, 100), count = Math.max(this.cells.length, 1);
    const room = (onWall() ? 11 : 17) * root;
    let side = Math.sqrt(width * room / count);
    side = Math.max(5, Math.min(side, 2.6 * root));
    while (side > 5 && Math.ceil(count / Math.floor(width / side)) * side > room) side -= 0.5;
    const columns = Math.max(1, Math.floor(width / side));
    return { side: width / columns < 2.6 * root ? width / columns : side, columns, width,
      rows: Math.ceil(count / columns) };
  }

  draw() {
    if (!this.cells.length) return;
    const { side, columns, width, rows } = this.shape = this.layout();
    const ratio = window.devicePixelRatio || 1, height = Math.ceil(rows * side);
    if (this.canvas.width !== Math.round(width * ratio)
      || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.cells.forEach((cell, at) => this.cell(pen, cell, (at % columns) * side,
      Math.floor(at / columns) * side, side));
    if (document.activeElement === this.canvas || this.pointed !== undefined) this.ring(pen);
  }

  cell(pen, cell, x, y, side) {
    const gap = side > 8 ? 1.5 : 0.5, inner = side - 2 * gap;
    const [name, mark] = stateLook(cell.state);
    const dark = cell.state === "off" || cell.state === "down" || cell.part === null;
    const fill = this.by === "power" && !dark ? css(viridis(cell.part)) : colour(name);
    pen.fillStyle = fill;
    pen.fillRect(x + gap, y + gap, inner, inner);
    if (dark || this.by === "state") {
      pen.strokeStyle = colour("edge");
      pen.lineWidth = 1;
      pen.strokeRect(x + gap + 0.5, y + gap + 0.5, inner - 1, inner - 1);
    }
    if ((this.by === "state" || dark) && side > 7) {
      this.mark(pen, mark, x + side / 2, y + side / 2, side, colour(`${name}-ink`) || "#000");
    }
    if (cell.text && side > 30 && this.by === "power") {
      pen.fillStyle = dark ? colour("ink") : inkOn(viridis(cell.part));
      pen.font = `${Math.round(side / 3.4)}px sans-serif`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(cell.text, x + side / 2, y + side / 2, inner - 2);
    }
  }

  mark(pen, kind, x, y, side, ink) {
    const r = side * 0.22;
    pen.strokeStyle = pen.fillStyle = ink;
    pen.lineWidth = Math.max(1, side / 12);
    pen.beginPath();
    if (kind === "ring") pen.arc(x, y, r, 0, 2 * Math.PI);
    if (kind === "half") { pen.moveTo(x - r, y + r); pen.lineTo(x + r, y - r); }
    if (kind === "bar") { pen.moveTo(x - r, y); pen.lineTo(x + r, y); }
    if (kind === "cross") {
      pen.moveTo(x - r, y - r); pen.lineTo(x + r, y + r);
      pen.moveTo(x - r, y + r); pen.lineTo(x + r, y - r);
    }
    if (kind === "dot") { pen.arc(x, y, r / 2, 0, 2 * Math.PI); pen.fill(); return; }
    if (kind === "query") { pen.font = `${Math.round(side * 0.7)}px sans-serif`;
      pen.textAlign = "center"; pen.textBaseline = "middle"; pen.fillText("?", x, y); return; }
    pen.stroke();
  }

  ring(pen) {
    const { side, columns } = this.shape;
    const at = this.pointed ?? this.at;
    const x = (at % columns) * side, y = Math.floor(at / columns) * side;
    pen.lineWidth = 3;
    pen.strokeStyle = colour("paper");
    pen.strokeRect(x, y, side, side);
    pen.lineWidth = 2;
    pen.strokeStyle = colour("ink");
    pen.strokeRect(x, y, side, side);
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect(), { side, columns } = this.shape;
    const column = Math.floor((event.clientX - box.left) / side);
    const at = Math.floor((event.clientY - box.top) / side) * columns + column;
    return column < columns && at >= 0 && at < this.cells.length ? at : undefined;
  }

  hover(event) {
    this.pointed = this.hit(event);
    this.tellAt(this.pointed);
    this.draw();
  }

  leave() {
    this.pointed = undefined;
    setText(this.readout, "");
    this.draw();
  }

  click(event) {
    const at = this.hit(event);
    if (at !== undefined) { this.at = at; this.onopen(at); }
  }

  key(event) {
    const columns = this.shape?.columns ?? 1;
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns,
      Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.onopen(this.at);
    }
    if (move === undefined) return;
    event.preventDefault();
    this.walk(this.at + move);
  }

  walk(to) {
    this.pointed = undefined;
    this.at = Math.min(Math.max(to, 0), this.cells.length - 1);
    this.tellAt(this.at);
    this.draw();
  }

  tellAt(at) {
    setText(this.readout, at === undefined || !this.cells[at] ? "" : this.describe(at));
  }

  showLegend() {
    const counts = new Map();
    for (const { state } of this.cells) counts.set(state, (counts.get(state) ?? 0) + 1);
    const key = JSON.stringify([this.by, this.low_w, this.high_w, [...counts]]);
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.legend.replaceChildren(this.by === "power" ? this.powerLegend() : "",
      this.unit === "node" ? this.stateLegend(counts) : "");
  }

  powerLegend() {
    const stops = Array.from({ length: 24 }, (_, i) => svg("rect", { x: `${i * 100 / 24}%`,
      width: `${100 / 24 + 0.2}%`, height: "100%", fill: css(viridis(i / 23)) }));
    return h("div", { class: "ramp" }, h("span", {}, formats.power(this.low_w)),
      svg("svg", { "aria-hidden": "true" }, stops), h("span", {}, formats.power(this.high_w)),
      h("span", { class: "soft" }, `per node, dark to light`));
  }

  stateLegend(counts) {
    return h("ul", { class: "legend states" }, [...counts].sort((a, b) => b[1] - a[1]).map(
      ([state, count]) => h("li", {}, stateSwatch(state), `${state} ${formats.number(count)}`)));
  }

  destroy() {
    this.offTheme();
    this.watch.disconnect();
  }
}

function stateSwatch(state) {
  const [name, mark] = stateLook(state);
  const shapes = { ring: svg("circle", { cx: 7, cy: 7, r: 3, fill: "none" }),
    half: svg("path", { d: "M4 10 10 4" }), bar: svg("path", { d: "M4 7h6" }),
    cross: svg("path", { d: "M4 4 10 10M4 10 10 4" }), dot: svg("circle", { cx: 7, cy: 7, r: 1 }),
    query: svg("path", { d: "M5 5q2-3 4 0q0 2-2 3v2" }) };
  return svg("svg", { class: `state-swatch ${name}`, viewBox: "0 0 14 14", "aria-hidden": "true" },
    svg("rect", { x: 0.5, y: 0.5, width: 13, height: 13 }), shapes[mark] ?? null);
}
