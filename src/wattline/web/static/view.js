/* The part of an axis that is shown; charts of one axis are zoomed together. */
"use strict";
(function (w) {
  const CLOSEST = 1e-6;

  class View {
    constructor(from, to, logarithmic) {
      // To the scale on which the screen is even, and back.
      [this.even, this.back] = logarithmic ? [Math.log, Math.exp] : [(x) => x, (x) => x];
      this.whole = [from, to];
      [this.from, this.to] = this.whole;
      this.charts = [];
    }

    get isWhole() {
      return this.from === this.whole[0] && this.to === this.whole[1];
    }

    /** Places along the shown part, evenly on the screen. */
    places(count) {
      const a = this.even(this.from), b = this.even(this.to);
      const found = Array.from({ length: count + 1 },
        (_, i) => this.back(a + (b - a) * i / count));
      found[0] = this.from;
      found[count] = this.to;
      return found;
    }

    show(from, to) {
      const [low, high] = this.whole;
      from = Math.max(low, from);
      to = Math.min(high, to);
      const least = CLOSEST * (this.even(high) - this.even(low));
      if (!(this.even(to) - this.even(from) > least)) return;
      [this.from, this.to] = [from, to];
      this.charts.forEach((chart) => chart.refresh());
    }

    showAll() {
      this.show(...this.whole);
    }

    zoom(factor) {
      const a = this.even(this.from), b = this.even(this.to);
      const half = factor * (b - a) / 2, middle = (a + b) / 2;
      const [low, high] = this.whole.map(this.even);
      if (2 * half >= high - low) this.showAll();
      else this.between(middle - half, middle + half);
    }

    /** Move by a part of what is shown; at an end the width stays. */
    move(part) {
      const a = this.even(this.from), b = this.even(this.to);
      this.between(a + part * (b - a), b + part * (b - a));
    }

    between(a, b) {
      const [low, high] = this.whole.map(this.even);
      const shift = Math.max(0, low - a) - Math.max(0, b - high);
      this.show(this.back(a + shift), this.back(b + shift));
    }
  }

  w.View = View;
})(wattline);
