/* Which job ran where: a picture of units over time, and what lies under the pointer. */
"use strict";
(function (w) {
  class JobMap extends w.Chart {
    constructor(place, spec, view) {
      super(place, { ...spec, runs: [] }, view);
      // Other users have two shades, so that neighbours differ: the legend has the first of them.
      const names = spec.colours.map(([, name]) => name);
      const named = spec.colours.filter(([, name], at) => names.indexOf(name) === at);
      this.legend.append(...named.map(([colour, name]) => {
        const row = document.createElement("li");
        row.append(this.swatch(() => colour), name);
        return row;
      }));
      const image = new Image();
      image.onload = () => {
        this.image = image;
        this.pixels = JobMap.pixelsOf(image);
        this.plot.redraw();
      };
      image.src = spec.image;
    }

    static pixelsOf(image) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    }

    /** Axes have a range only where something is drawn by them: a line that is not seen. */
    data() {
      return [...super.data(), this.shown.x.map(() => 0)];
    }

    options() {
      const found = super.options();
      found.series.push({ stroke: "transparent", points: { show: false } });
      return found;
    }

    hooks() {
      return { drawAxes: [(u) => this.paint(u)] };
    }

    paint(u) {
      if (!this.image) return;
      const { from, to } = this.view, { left, top, width, height } = u.bbox;
      const [begin, end] = this.spec.span;
      const perX = this.image.width / (end - begin);
      u.ctx.save();
      u.ctx.imageSmoothingEnabled = false;
      u.ctx.drawImage(this.image, (from - begin) * perX, 0, (to - from) * perX,
        this.image.height, left, top, width, height);
      u.ctx.restore();
    }

    say(u) {
      const { left, top } = u.cursor;
      if (!this.pixels || !(left >= 0) || !(top >= 0)) {
        this.readout.textContent = this.rangeText();
        return;
      }
      const x = u.posToVal(left, "x"), unit = Math.floor(u.posToVal(top, "y"));
      this.readout.textContent = `${this.momentText(x)}, ${this.spec.unit} `
        + `${w.formats.numberText(Math.max(0, unit))}: ${this.nameAt(x, unit)}`;
    }

    nameAt(x, unit) {
      const { width, height } = this.image, [begin, end] = this.spec.span;
      const within = (value, most) => Math.max(0, Math.min(most - 1, Math.floor(value)));
      const column = within(width * (x - begin) / (end - begin), width);
      const row = within(height * (1 - (unit + 0.5) / this.spec.top), height);
      const [red, green, blue, alpha] = this.pixels.subarray(4 * (row * width + column));
      if (!alpha || x < begin || x > end) return "free";
      const two = (part) => part.toString(16).padStart(2, "0");
      const hex = `#${two(red)}${two(green)}${two(blue)}`;
      return (this.spec.colours.find(([colour]) => colour === hex) || ["", "a job"])[1];
    }
  }

  w.JobMap = JobMap;
})(wattline);
