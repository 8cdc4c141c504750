/* One chart: lines, bands, caps or stacked areas; hover, zoom and a legend that hides and shows. */
"use strict";
(function (w) {
  const COLOURS = 7, MOST_BANDS = 2, COLUMN_PX = 1.5;
  const DASHES = [[], [9, 4], [3, 3], [10, 3, 2, 3], [6, 2], [12, 5], [2, 2]];
  const PER_RUN = 3;  // series of a run: mean, lowest, highest

  function element(tag, name, text = "") {
    const made = document.createElement(tag);
    made.className = name;
    made.textContent = text;
    return made;
  }

  function button(text, label, act) {
    const made = element("button", "", text);
    made.type = "button";
    made.title = label;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }

  class Chart {
    constructor(place, spec, view) {
      this.spec = spec;
      this.view = view;
      this.runs = spec.runs.map((run) => run.mean ? { ...run, ...w.reduce.unpacked(run) } : run);
      this.caps = (spec.caps || []).map((cap) => ({ ...cap, ...w.reduce.unpacked(cap) }));
      this.visible = this.runs.map(() => true);
      this.place = place;
      this.furnish();
      this.build();
      view.charts.push(this);
      w.theme.onChange(() => this.build());
      let width = this.canvas.clientWidth;
      new ResizeObserver(() => {
        if (this.canvas.clientWidth === width) return;
        width = this.canvas.clientWidth;
        this.build();
      }).observe(this.canvas);
    }

    /* What stands around the plot. */

    furnish() {
      const tools = element("div", "tools");
      this.back = button("Show all", "Show the whole range", () => this.view.showAll());
      this.back.className = "whole";
      tools.append(button("+", "Zoom in", () => this.view.zoom(0.5)),
        button("−", "Zoom out", () => this.view.zoom(2)),
        button("←", "Move to the left", () => this.view.move(-0.5)),
        button("→", "Move to the right", () => this.view.move(0.5)), this.back);
      this.canvas = element("div", "canvas");
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute("role", "application");
      this.canvas.setAttribute("aria-label", `${this.spec.title}: chart. Left and right read the `
        + "values, plus and minus zoom, Escape shows the whole range.");
      this.canvas.addEventListener("keydown", (event) => this.key(event));
      this.readout = element("p", "readout");
      this.readout.setAttribute("aria-live", "polite");
      this.legend = element("ul", "legend");
      this.swatches = [];
      this.values = this.runs.map((run, number) => this.legendRow(run, number));
      this.capValues = this.caps.map((cap) => this.capRow(cap));
      this.place.append(tools, this.canvas, this.readout, this.legend);
    }

    legendRow(run, number) {
      const row = element("li", ""), toggle = button("", `Hide or show ${run.name}`,
        () => this.toggle(number, toggle));
      toggle.setAttribute("aria-pressed", "true");
      toggle.append(this.swatch(() => this.runColour(run, number)), run.name);
      const value = element("span", "value");
      row.append(toggle, value);
      this.legend.append(row);
      return value;
    }

    capRow(cap) {
      const row = element("li", ""), name = element("span", "cap");
      name.append(this.swatch(() => {
        const colour = this.capColour(cap);
        return `repeating-linear-gradient(90deg, ${colour} 0 5px, transparent 5px 8px)`;
      }), cap.name);
      const value = element("span", "value");
      row.append(name, value);
      this.legend.append(row);
      return value;
    }

    /** A sample of a colour, which is asked for again when the theme changes. */
    swatch(colour) {
      const made = element("i", "swatch");
      const paint = () => { made.style.background = colour(); };
      this.swatches.push(paint);
      paint();
      return made;
    }

    runColour(run, number) {
      if (!run.colour) return w.theme.colour(`series-${number % COLOURS}`);
      return w.theme.current() === "dark" ? run.dark : run.colour;
    }

    /** Of several caps each has the colour of its run, and is dashed. */
    capColour(cap) {
      return w.theme.colour(cap.run === undefined ? "cap" : `series-${cap.run % COLOURS}`);
    }

    toggle(number, toggle) {
      this.visible[number] = !this.visible[number];
      toggle.setAttribute("aria-pressed", String(this.visible[number]));
      this.build();
    }

    /* What is drawn. */

    get stacked() {
      return this.spec.form === "stack";
    }

    get banded() {
      return this.spec.kind === "time" && !this.stacked
        && this.visible.filter(Boolean).length <= MOST_BANDS;
    }

    /** What the columns of the screen show: their places, and the values of each run and cap. */
    reduced() {
      const count = Math.max(50, Math.floor(this.canvas.clientWidth / COLUMN_PX));
      const { from, to } = this.view;
      const x = this.view.places(count);
      const closed = (values) => [...values, values[values.length - 1]];
      const steps = (found) => {
        const { mean, low, high } = w.reduce.columns(found, from, to, count);
        return { mean: closed(mean), low: closed(low), high: closed(high) };
      };
      const curve = (run) => {
        const mean = x.map((at) => w.reduce.sampled(run, at, this.spec.kind === "share"));
        return { mean, low: mean, high: mean };
      };
      return { x, runs: this.runs.map((run) => run.edge ? steps(run) : curve(run)),
        caps: this.caps.map((cap) => steps(cap).low) };
    }

    data() {
      this.shown = this.reduced();
      this.top = this.highest();
      const none = this.shown.x.map(() => null);
      const drawn = this.stacked ? this.piled() : this.shown.runs;
      const lines = drawn.flatMap(({ mean, low, high }) =>
        this.banded ? [mean, low, high] : [mean, none, none]);
      return [this.shown.x, ...lines, ...this.shown.caps];
    }

    /** Layers upon those that follow: the first is drawn first, behind the others. */
    piled() {
      const below = this.shown.x.map(() => 0);
      return [...this.shown.runs].map((run, i) => [run, i]).reverse().map(([run, i]) => {
        if (this.visible[i]) run.mean.forEach((value, at) => { below[at] += value || 0; });
        return { mean: [...below], low: below, high: below };
      }).reverse();
    }

    /** The top of the axis: above what is seen, and above caps that are not far beyond it. */
    highest() {
      if (this.spec.top) return this.spec.top;
      let top = 0;
      this.shown.runs.forEach((run, i) => {
        if (this.visible[i]) for (const value of run.high) top = Math.max(top, value);
      });
      for (const cap of this.shown.caps) {
        const most = Math.max(0, ...cap.filter((value) => value !== null));
        if (most < 2.5 * top) top = Math.max(top, most);
      }
      return 1.06 * top || 1;
    }

    seriesOf(run, number) {
      const stroke = run.colour ? w.theme.colour("soft") : this.runColour(run, number);
      const show = this.visible[number];
      const paths = uPlot.paths.stepped({ align: 1 });
      const edge = { show, paths, stroke: "transparent", width: 0, points: { show: false } };
      const dash = this.spec.kind === "time" ? undefined : DASHES[number % DASHES.length];
      // The first lines are wider, so that they are seen behind later ones that coincide.
      const width = run.colour ? 0.5
        : this.runs.length === 1 ? 1.6 : Math.max(1.4, 2.8 - 0.6 * number);
      return [{ show, paths, stroke, dash, width, points: { show: false },
        fill: run.colour && this.runColour(run, number) }, edge, edge];
    }

    bands() {
      return this.banded ? this.runs.map((run, number) => ({
        series: [PER_RUN * number + 3, PER_RUN * number + 2],
        fill: w.theme.colour(`series-${number % COLOURS}`) + "40",
      })) : [];
    }

    options() {
      const { spec, view } = this;
      // Whole pixels: uPlot reads the height of a line from the digits before "px".
      const root = getComputedStyle(document.documentElement);
      const size = Math.round(0.8 * parseFloat(root.fontSize));
      const width = this.canvas.clientWidth;
      const cap = (each) => ({ stroke: this.capColour(each), dash: [7, 5], width: 1.6,
        paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } });
      return {
        width, height: Math.round(Math.max(16 * size, Math.min(0.36 * width, 33 * size))),
        legend: { show: false },
        tzDate: (at) => uPlot.tzDate(new Date(1000 * at), "Etc/UTC"),
        scales: {
          x: { time: spec.kind === "time" && spec.dated, distr: spec.kind === "wait" ? 3 : 1,
            range: () => [view.from, view.to] },
          y: { range: () => [0, this.top] },
        },
        axes: [w.axes.along(spec.kind, spec.dated, size), w.axes.upright(spec.quantity, size)],
        series: [{}, ...this.runs.flatMap((run, i) => this.seriesOf(run, i)),
          ...this.caps.map(cap)],
        bands: this.bands(),
        cursor: {
          y: false, points: { show: false }, drag: { x: true, y: false, setScale: false },
          sync: spec.kind === "time" ? { key: "time", setSeries: false,
            filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } } : undefined,
        },
        hooks: { setSelect: [(u) => this.selected(u)], setCursor: [(u) => this.say(u)],
          ...this.hooks() },
      };
    }

    /** For charts that draw more. */
    hooks() {
      return {};
    }

    build() {
      if (this.plot) this.plot.destroy();
      this.swatches.forEach((paint) => paint());
      this.plot = new uPlot(this.options(), this.data(), this.canvas);
      this.plot.over.addEventListener("dblclick", () => this.view.showAll());
      this.told();
    }

    refresh() {
      this.plot.setData(this.data());
      this.told();
    }

    told() {
      this.back.disabled = this.view.isWhole;
      this.place.dataset.from = this.view.from;
      this.place.dataset.to = this.view.to;
      this.say(this.plot);
    }

    /* What a person does. */

    selected(u) {
      if (u.select.width < 3) return;
      const { left, width } = u.select;
      const from = u.posToVal(left, "x"), to = u.posToVal(left + width, "x");
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      this.view.show(from, to);
    }

    key(event) {
      const steps = { ArrowLeft: -1, ArrowRight: 1 };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in steps && event.shiftKey) this.view.move(0.5 * steps[event.key]);
      else if (event.key in steps) this.stepCursor(steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.view.zoom(0.5);
      else if (event.key === "-") this.view.zoom(2);
      else if (event.key === "Escape") this.view.showAll();
      else return;
      event.preventDefault();
    }

    stepCursor(step) {
      const width = this.plot.over.clientWidth;
      const left = this.plot.cursor.left >= 0 ? this.plot.cursor.left : width / 2;
      this.plot.setCursor({ top: 0,
        left: Math.max(0, Math.min(width - 1, left + step * Math.max(COLUMN_PX, width / 100))) });
    }

    /* What is read off. */

    say(u) {
      const at = u.cursor.idx;
      const nowhere = at === null || at === undefined || !this.shown || u.cursor.left < 0;
      this.readout.textContent = nowhere ? this.rangeText() : this.placeText(at);
      this.values.forEach((value, number) => {
        value.textContent = nowhere || !this.visible[number] ? "" : this.runText(number, at);
      });
      this.capValues.forEach((value, number) => {
        value.textContent = nowhere ? ""
          : w.formats.valueText(this.shown.caps[number][at], this.spec.quantity);
      });
    }

    runText(number, at) {
      const { mean, low, high } = this.shown.runs[number];
      const text = (value) => w.formats.valueText(value, this.spec.quantity);
      if (low[at] === high[at] || this.stacked) return text(mean[at]);
      return `mean ${text(mean[at])}, ${text(low[at])} to ${text(high[at])}`;
    }

    momentText(x) {
      const column = (this.view.to - this.view.from) / this.shown.x.length;
      return w.formats.momentText(x, this.spec.dated, column < 60);
    }

    placeText(at) {
      const x = this.shown.x[at];
      if (this.spec.kind === "share") {
        return `for ${w.formats.valueText(x, "share")} of the time at least`;
      }
      if (this.spec.kind === "wait") return `waited at most ${w.formats.timeText(x)}`;
      return this.momentText(x) + (this.spec.dated ? " UTC" : "");
    }

    rangeText() {
      if (this.spec.kind !== "time") return " ";
      const moment = (x) => this.momentText(x);
      return `${moment(this.view.from)} to ${moment(this.view.to)}`
        + (this.spec.dated ? " UTC" : " since the first submission");
    }
  }

  w.Chart = Chart;
})(wattline);
