/* The axes of a chart: time as dates or as time passed, waits on a logarithmic scale, values. */
"use strict";
(function (w) {
  const MIN = 60, HOUR = 3600, DAY = 86400;
  const PASSED = [1, 2, 5, 10, 15, 30, MIN, 2 * MIN, 5 * MIN, 10 * MIN, 15 * MIN, 30 * MIN, HOUR,
    2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 5 * DAY, 7 * DAY, 10 * DAY, 20 * DAY,
    50 * DAY, 100 * DAY, 200 * DAY, 365 * DAY, 730 * DAY, 1825 * DAY, 3650 * DAY];
  // The first of these are kept where there is no room for all.
  const WAITS = [
    [1, "≤ 1 s"], [HOUR, "1 h"], [DAY, "1 d"], [MIN, "1 min"], [30 * DAY, "30 d"],
    [10 * MIN, "10 min"], [10, "10 s"], [6 * HOUR, "6 h"], [7 * DAY, "7 d"], [365 * DAY, "365 d"],
    [100 * DAY, "100 d"], [2 * DAY, "2 d"], [4 * DAY, "4 d"], [14 * DAY, "14 d"], [2 * HOUR, "2 h"],
    [3 * HOUR, "3 h"], [12 * HOUR, "12 h"], [30 * MIN, "30 min"], [2 * MIN, "2 min"],
    [5 * MIN, "5 min"], [20 * MIN, "20 min"], [2, "2 s"], [5, "5 s"], [20, "20 s"], [30, "30 s"],
  ];
  // uPlot's table: least step, text, and what a second line adds at a new year, day or hour.
  const DATES = [
    [365 * DAY, "{YYYY}", null, null, null, null, null, null, 1],
    [28 * DAY, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [DAY, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [MIN, "{HH}:{mm}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
  ];

  function look(size) {
    const { colour } = w.theme;
    return {
      stroke: colour("ink"), font: `${size}px ${getComputedStyle(document.body).fontFamily}`,
      grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
    };
  }

  function passedTexts(splits, step) {
    const [unit, sign] = step >= DAY ? [DAY, "d"] : step >= HOUR ? [HOUR, "h"]
      : step >= MIN ? [MIN, "min"] : [1, "s"];
    return splits.map((split) => `${w.formats.numberText(split / unit)} ${sign}`);
  }

  /** Ticks that lie far enough apart, the first of the list before the others. */
  function waitSplits(u, from, to, space) {
    const kept = [];
    for (const [x] of WAITS) {
      if (x < from || x > to) continue;
      const position = u.valToPos(x, "x");
      if (kept.every((other) => Math.abs(u.valToPos(other, "x") - position) >= space)) kept.push(x);
    }
    return kept.sort((a, b) => a - b);
  }

  const ALONG = {
    time: (dated, size) => dated
      ? { values: DATES, space: 5 * size }
      : { incrs: PASSED, space: 5 * size,
        values: (u, splits, i, room, step) => passedTexts(splits, step) },
    share: (dated, size) => ({ space: 4 * size,
      values: (u, splits) => w.formats.tickTexts(splits, "share") }),
    wait: (dated, size) => ({
      splits: (u, i, from, to) => waitSplits(u, from, to, 4.5 * size),
      filter: (u, splits) => splits,
      values: (u, splits) => splits.map((split) => WAITS.find(([x]) => x === split)[1]),
    }),
  };

  function along(kind, dated, size) {
    return { ...look(size), size: kind === "time" && dated ? 4 * size : 2.4 * size,
      ...ALONG[kind](dated, size) };
  }

  function upright(quantity, size) {
    return {
      ...look(size), space: 2.6 * size,
      incrs: quantity === "count" ? [1, 2, 5].flatMap((n) =>
        Array.from({ length: 12 }, (_, i) => n * 10 ** i)).sort((a, b) => a - b) : undefined,
      values: (u, splits) => w.formats.tickTexts(splits, quantity),
      size: (u, texts) =>
        size * (1.4 + 0.6 * Math.max(2, ...(texts || []).map((text) => text.length))),
    };
  }

  w.axes = { along, upright };
})(wattline);
