/* The part of an axis that is shown; charts of one axis are zoomed together. */
"use strict";
(function (w) {
  const CLOSEST = 1e-6;

  class View {
    constructor(from, to, logarithmic) {
      [this.to_, this.from_] = logarithmic ? [Math.log, Math.exp] : [(x) => x, (x) => x];
      this.whole = [from, to];
      [this.from, this.to] = this.whole;
      this.charts = [];
    }

    get isWhole() {
      return this.from === this.whole[0] && this.to === this.whole[1];
    }

    /** Places along the shown part, evenly on the screen. */
    places(count) {
      const a = this.to_(this.from), b = this.to_(this.to);
      const found = Array.from({ length: count + 1 }, (_, i) => this.from_(a + (b - a) * i / count));
      found[0] = this.from;
      found[count] = this.to;
      return found;
    }

    show(from, to) {
      const [low, high] = this.whole;
      from = Math.max(low, from);
      to = Math.min(high, to);
      const least = CLOSEST * (this.to_(high) - this.to_(low));
      if (!(this.to_(to) - this.to_(from) > least)) return;
      [this.from, this.to] = [from, to];
      this.charts.forEach((chart) => chart.refresh());
    }

    showAll() {
      this.show(...this.whole);
    }

    zoom(factor) {
      const a = this.to_(this.from), b = this.to_(this.to);
      const half = factor * (b - a) / 2, middle = (a + b) / 2;
      if (factor > 1 && 2 * half >= this.to_(this.whole[1]) - this.to_(this.whole[0])) this.showAll();
      else this.between(middle - half, middle + half);
    }

    /** Move by a part of what is shown; at an end the width stays. */
    move(part) {
      const a = this.to_(this.from), b = this.to_(this.to);
      this.between(a + part * (b - a), b + part * (b - a));
    }

    between(a, b) {
      const low = this.to_(this.whole[0]), high = this.to_(this.whole[1]);
      const shift = Math.max(0, low - a) - Math.max(0, b - high);
      this.show(this.from_(a + shift), this.from_(b + shift));
    }
  }

  w.View = View;
})(wattline);
