/* The axes of charts: time of day or time passed, and values with their unit. */
import * as formats from "../core/formats.js";
import { colour } from "../core/theme.js";

const MIN = 60, HOUR = 3600, DAY = 86400;
const PASSED = [1, 2, 5, 10, 15, 30, MIN, 2 * MIN, 5 * MIN, 10 * MIN, 15 * MIN, 30 * MIN, HOUR,
  2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 5 * DAY, 7 * DAY, 10 * DAY, 20 * DAY,
  50 * DAY, 100 * DAY, 200 * DAY, 365 * DAY, 730 * DAY];
// uPlot's table: least step, text, and what a second line adds at a new year, day or hour.
const DATES = [
  [365 * DAY, "{YYYY}", null, null, null, null, null, null, 1],
  [28 * DAY, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [DAY, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [MIN, "{HH}:{mm}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
];

function look(size) {
  return {
    stroke: colour("soft"), font: `${size}px ${getComputedStyle(document.body).fontFamily}`,
    grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
  };
}

/** In one unit where that is short; as "1 d 06:30", like the tables, where minutes would be many. */
function passedTexts(splits, step) {
  const most = Math.max(...splits.map(Math.abs));
  if ((step < DAY && most > DAY) || (step < HOUR && most >= 2 * HOUR)) {
    return splits.map((split) => formats.passed(split).slice(0, step < MIN ? undefined : -3));
  }
  const [unit, sign] = step >= DAY ? [DAY, "d"] : step >= HOUR ? [HOUR, "h"]
    : step >= MIN ? [MIN, "min"] : [1, "s"];
  return splits.map((split) => `${formats.number(split / unit)} ${sign}`);
}

/** The axis below: "time" with dates or without, or the quantity of what is along it. */
export function along(kind, dated, size, label) {
  if (kind === "time" && dated) {
    return { ...look(size), size: 4.4 * size, values: DATES, space: 5.5 * size };
  }
  const values = kind === "time"
    ? { incrs: PASSED, space: 7 * size, values: (u, splits, i, room, step) => passedTexts(splits, step) }
    : { values: (u, splits) => formats.ticks(splits, kind) };
  return { ...look(size), size: 2.2 * size, space: 5.5 * size, ...values,
    ...(label ? { label, labelGap: 3, labelSize: 1.8 * size, labelFont: look(size).font } : {}) };
}

const ROUND = [1, 2, 5].flatMap((n) => Array.from({ length: 16 }, (_, i) => n * 10 ** i))
  .sort((a, b) => a - b);
/** Steps that are round in the unit that is shown. */
const STEPS = { count: ROUND, energy: [...ROUND.filter((n) => n < 3600),
  ...ROUND.map((n) => 3600 * n)] };
const ruler = document.createElement("canvas").getContext("2d");

/** `least`: the least width of the axis in letters, so that charts one above the other line up. */
export function upright(quantity, size, least = 2) {
  const axis = look(size);
  return {
    ...axis, space: 2.8 * size, incrs: STEPS[quantity],
    values: (u, splits) => formats.ticks(splits, quantity),
    size: (u, texts) => {
      ruler.font = axis.font;
      return 1.4 * size + Math.max(least * size, ...(texts ?? []).map((text) =>
        ruler.measureText(text).width));
    },
  };
}
