/* What a screen can show of a step function: columns with the exact mean, lowest and highest. */
"use strict";
(function (w) {
  /** Steps as they stand in the page: edges are listed, or regular from `from` by `span`. */
  function unpacked(packed) {
    const count = packed.mean.length;
    const edge = Array.isArray(packed.edge) ? packed.edge : regular(packed.edge, count);
    const { mean, low = mean, high = mean } = packed;
    return { edge, mean, low, high };
  }

  function regular({ from, span, to }, count) {
    const edge = Array.from({ length: count + 1 }, (_, i) => from + span * i);
    edge[count] = to;
    return edge;
  }

  /** The last index whose value is not beyond x; -1 where all are. */
  function lastUpTo(sorted, x) {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] <= x) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  /** The steps between two times in `count` columns; null where there are none. */
  function columns(steps, from, to, count) {
    const found = { mean: [], low: [], high: [] };
    const width = (to - from) / count;
    let first = Math.max(0, lastUpTo(steps.edge, from));
    for (let column = 0; column < count; column++) {
      const begin = from + column * width, end = begin + width;
      while (first < steps.mean.length - 1 && steps.edge[first + 1] <= begin) first++;
      const { mean, low, high } = columnOf(steps, first, begin, end);
      found.mean.push(mean); found.low.push(low); found.high.push(high);
    }
    return found;
  }

  function columnOf(steps, first, begin, end) {
    let sum = 0, length = 0, low = Infinity, high = -Infinity;
    for (let i = first; i < steps.mean.length && steps.edge[i] < end; i++) {
      const overlap = Math.min(steps.edge[i + 1], end) - Math.max(steps.edge[i], begin);
      if (overlap <= 0 || steps.mean[i] === null) continue;
      sum += steps.mean[i] * overlap;
      length += overlap;
      low = Math.min(low, steps.low[i]);
      high = Math.max(high, steps.high[i]);
    }
    if (!length) return { mean: null, low: null, high: null };
    return { mean: low === high ? low : sum / length, low, high };
  }

  /** A curve at x: of the points that are known, the one at or after it, or at or before it. */
  function sampled(curve, x, after) {
    const last = lastUpTo(curve.x, x);
    if (!after) return last < 0 ? 0 : curve.y[last];
    const next = last >= 0 && curve.x[last] === x ? last : last + 1;
    return curve.y[Math.min(next, curve.y.length - 1)];
  }

  w.reduce = { unpacked, columns, sampled };
})(wattline);
