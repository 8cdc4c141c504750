/* A chart of series over time (or over another quantity), with words and a table for who does not
 * see it: a heading, the drawing, what lies under the pointer, a legend, a summary, the table. */
import uPlot from "uplot";
import { freshId, h, setText } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { colour, onTheme, onWall } from "../core/theme.js";
import { along, upright } from "./axes.js";
import { table } from "./table.js";

const TABLE_ROWS = 200;
const DENSE = 1000;
/** Seconds beside a value that is the only one so far. */
const BEFORE_S = 3, AFTER_S = 57;
const steps = uPlot.paths.stepped({ align: 1 });

/** series: [{name, colour, dash, width, fill, quantity, points}];
 *  options: {title, kind: "time" or a quantity, dated (epoch_s or null), quantity, height, from0} */
export class Chart {
  constructor(options) {
    this.options = { kind: "time", quantity: "power", height: 15, from0: true, level: "h2",
      stepped: true, ...options };
    this.hiddenSeries = new Set();
    this.data = null;
    this.build();
    this.offTheme = onTheme(() => this.redraw());
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(this.canvas);
  }

  build() {
    const title = freshId("chart");
    this.canvas = h("div", { class: "canvas", tabindex: "0", role: "img",
      "aria-label": this.options.title, onkeydown: (event) => this.key(event),
      onblur: () => this.readoutText("") });
    this.readout = h("p", { class: "readout", "aria-live": "polite" }, "");
    this.legend = h("ul", { class: "legend" });
    this.summary = h("p", { class: "summary" });
    this.tablePlace = h("div", { hidden: true });
    this.tableButton = h("button", { type: "button", class: "quiet", "aria-expanded": "false",
      onclick: () => this.toggleTable() }, "Table");
    this.whole = h("button", { type: "button", class: "quiet", hidden: true,
      onclick: () => this.showAll() }, "Whole range");
    this.element = h("figure", { class: "chart", "aria-labelledby": title },
      h("div", { class: "heading" }, h(this.options.level, { id: title }, this.options.title),
        h("div", { class: "tools" }, this.options.tools, this.whole, this.tableButton)),
      this.canvas, this.readout, this.legend,
      h("figcaption", {}, this.summary, this.options.note
        && h("p", { class: "soft" }, this.options.note)), this.tablePlace);
  }

  /** x: numbers; series as in the constructor with `values`, null where nothing is known. */
  set(x, series, { epoch_s = null, summary = null } = {}) {
    this.data = { x, series, epoch_s };
    this.zoomed = false;
    this.whole.hidden = true;
    this.redraw();
    const text = summary ?? this.describe();
    setText(this.summary, text);
    this.canvas.setAttribute("aria-label", `${this.options.title}. ${text} `
      + "Arrow keys read the values.");
    this.showLegend();
    if (!this.tablePlace.hidden) this.showTable();
  }

  size() {
    const root = parseFloat(getComputedStyle(document.documentElement).fontSize);
    return { root, type: Math.round(0.78 * root), width: Math.max(this.canvas.clientWidth, 120),
      height: Math.round(root * (onWall() ? Math.min(12.2, this.options.height)
        : this.options.height)) };
  }

  /** Where the axis below begins for each x: uPlot draws dates from seconds of the epoch. */
  shifted() {
    const { x, epoch_s } = this.data;
    return this.options.kind === "time" && epoch_s !== null && epoch_s !== undefined
      ? x.map((at) => at + epoch_s) : x;
  }

  redraw() {
    if (!this.data) return;
    const { type, width, height } = this.size();
    this.plot?.destroy();
    const { series } = this.data;
    this.plot = new uPlot({
      width, height, legend: { show: false },
      // Half of the longest time under the end of the axis, which would be cut off.
      padding: [null, Math.round(2.6 * type), null, null], tzDate: (at) => uPlot.tzDate(
        new Date(1000 * at), "Etc/UTC"),
      cursor: { drag: { x: true, y: false, setScale: true }, points: { size: 7 } },
      scales: { x: { time: this.options.kind === "time" && this.dated(),
        range: this.options.rangeX ?? this.rangeOfOne() },
      y: { range: (u, low, high) => this.rangeY(low, high) } },
      axes: [along(this.options.kind, this.dated(), type, this.options.labelX),
        upright(this.options.quantity, type, this.options.axisWidth)],
      series: [{}, ...series.map((one) => this.style(one))],
      hooks: { setCursor: [(u) => this.pointed(u)],
        setSelect: [(u) => this.selected(u)] },
    }, [this.shifted(), ...series.map((one) => one.values)], this.canvas);
  }

  dated() {
    return this.data.epoch_s !== null && this.data.epoch_s !== undefined;
  }

  isOneMoment() {
    return this.data.x.length > 0 && this.data.x[0] === this.data.x.at(-1);
  }

  /** The axis of a first value: the minute that it begins. */
  rangeOfOne() {
    return this.options.kind === "time" && this.isOneMoment()
      ? (u, at) => [at - BEFORE_S, at + AFTER_S] : undefined;
  }

  rangeY(low, high) {
    if (low === null || high === null) return [0, 1];
    const floor = this.options.from0 ? Math.min(0, low) : low;
    const room = 0.06 * (high - floor || Math.abs(high) || 1);
    return [this.options.from0 ? floor : low - room, high + room];
  }

  style(one) {
    const stroke = colour(one.colour);
    const shape = one.points
      ? { paths: () => null, points: { show: true, size: one.large ? 13 : 6,
        fill: stroke, stroke } }
      : { paths: this.options.stepped ? steps : undefined,
        points: { show: this.isOneMoment(), size: 8, fill: stroke, stroke } };
    const thick = onWall() ? this.size().root / 14 : 1; // seen from across the room
    const width = this.data.x.length > DENSE && !one.dash && !onWall()
      ? Math.min(1, one.width ?? 1) : one.width ?? 2;
    return { stroke, width: thick * width, dash: one.dash?.map((length) => thick * length), spanGaps: false,
      show: !this.hiddenSeries.has(one.name),
      fill: one.fill ? `${stroke}22` : undefined, ...shape };
  }

  resize() {
    if (!this.plot) return;
    const { width, height } = this.size();
    if (width !== this.plot.width || height !== this.plot.height) this.plot.setSize({ width, height });
  }

  selected(u) {
    if (u.select.width > 2) { this.zoomed = true; this.whole.hidden = false; }
  }

  showAll() {
    this.zoomed = false;
    this.redraw();
    this.whole.hidden = true;
    this.canvas.focus();
  }

  placeText(at) {
    const x = this.data.x[at];
    if (this.options.kind !== "time") {
      return `${this.options.labelX ?? "at"}: ${formats.value(x, this.options.kind)}`;
    }
    return this.dated() ? formats.moment(x, this.data.epoch_s) : formats.passed(x);
  }

  pointed(u) {
    const at = u.cursor.idx;
    if (at === null || at === undefined || u.cursor.left < 0) { this.readoutText(""); return; }
    const parts = this.data.series.filter((one) => !this.hiddenSeries.has(one.name))
      .map((one) => `${one.name} ${formats.value(one.values[at], this.quantityOf(one))}`);
    this.readoutText(`${this.placeText(at)}: ${parts.join(" · ")}`);
  }

  readoutText(text) {
    setText(this.readout, text);
  }

  quantityOf(one) {
    return one.quantity ?? this.options.quantity;
  }

  key(event) {
    const move = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    const ends = { Home: 0, End: Infinity }[event.key];
    if ((move === undefined && ends === undefined) || !this.plot || !this.data.x.length) return;
    event.preventDefault();
    const last = this.data.x.length - 1;
    const from = this.plot.cursor.idx ?? 0;
    const to = Math.min(last, Math.max(0, ends ?? from + move));
    const left = this.plot.valToPos(this.plot.data[0][to], "x");
    this.plot.setCursor({ left, top: this.plot.over.clientHeight / 2 });
  }

  showLegend() {
    const names = this.data.series.map((one) => one.name).join("|");
    if (this.legendOf === names) return;
    this.legendOf = names;
    this.legend.replaceChildren(...this.data.series.map((one) => this.entry(one)));
  }

  entry(one) {
    const swatch = h("span", { class: `swatch ${one.colour} ${one.dash ? "dashed" : ""} `
      + `${one.points ? "dot" : ""}`, "aria-hidden": "true" });
    if (this.data.series.length < 2) return h("li", {}, swatch, one.name);
    const button = h("button", { type: "button", class: "quiet", "aria-pressed":
      String(!this.hiddenSeries.has(one.name)), title: "Show or hide", onclick: () => {
      if (!this.hiddenSeries.delete(one.name)) this.hiddenSeries.add(one.name);
      button.setAttribute("aria-pressed", String(!this.hiddenSeries.has(one.name)));
      this.redraw();
    } }, swatch, one.name);
    return h("li", {}, button);
  }

  /** Each series in words: from where to where, and what it is at the end. */
  describe() {
    if (!this.data.x.length) return "Nothing was recorded yet.";
    return this.data.series.map((one) => {
      const known = one.values.filter((value) => value !== null && value !== undefined);
      if (!known.length) return `${one.name}: not known.`;
      let low = Infinity, high = -Infinity;
      for (const value of known) { low = Math.min(low, value); high = Math.max(high, value); }
      const show = (value) => formats.value(value, this.quantityOf(one));
      if (this.isOneMoment()) return `${one.name}: ${show(known.at(-1))}, the only value so far.`;
      return low === high ? `${one.name}: ${show(low)} all the time.`
        : `${one.name}: ${show(low)} to ${show(high)}, last ${show(known.at(-1))}.`;
    }).join(" ");
  }

  toggleTable() {
    this.tablePlace.hidden = !this.tablePlace.hidden;
    this.tableButton.setAttribute("aria-expanded", String(!this.tablePlace.hidden));
    if (!this.tablePlace.hidden && this.data) this.showTable();
  }

  showTable() {
    const every = Math.max(1, Math.ceil(this.data.x.length / TABLE_ROWS));
    const rows = [];
    for (let at = 0; at < this.data.x.length; at += every) rows.push(at);
    const along = this.options.labelX ?? (this.options.kind === "time" ? "time" : "at");
    this.tablePlace.replaceChildren(
      every > 1 ? h("p", { class: "soft" }, `Every ${every}th of ${this.data.x.length} values.`) : "",
      table({ caption: `${this.options.title}, as a table`, rows, columns: [
        { head: along, cell: (at) => this.options.kind === "time" ? this.placeText(at)
          : formats.value(this.data.x[at], this.options.kind) },
        ...this.data.series.map((one) => ({ head: one.name, number: true,
          cell: (at) => formats.value(one.values[at], this.quantityOf(one)) })),
      ] }));
  }

  destroy() {
    this.offTheme();
    this.watch.disconnect();
    this.plot?.destroy();
  }
}
