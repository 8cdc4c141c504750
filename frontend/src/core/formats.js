/* Figures as people read them, with their unit; the same rules as in the printed tables. */

const HOUR_S = 3600, DAY_S = 86400;
/** Less is not told in digits: it would read as nothing. */
const LEAST_MONEY = 0.0001;
const SCALES = {
  power: [[1e9, "GW"], [1e6, "MW"], [1e3, "kW"], [0, "W"]].map(([size, sign]) =>
    [size, size || 1, sign]),
  energy: [[3.6e15, 3.6e15, "TWh"], [3.6e12, 3.6e12, "GWh"], [3.6e9, 3.6e9, "MWh"],
    [3.6e6, 3.6e6, "kWh"], [3600, 3600, "Wh"], [0, 1, "J"]],
  time: [[3 * DAY_S, DAY_S, "d"], [2 * HOUR_S, HOUR_S, "h"], [120, 60, "min"], [0, 1, "s"]],
  carbon: [[1e6, 1e6, "t CO₂"], [1e3, 1e3, "kg CO₂"], [0, 1, "g CO₂"]],
};

/** Three or more digits that count, thousands apart. */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Math.abs(value) < 100 ? Number(value.toPrecision(3)) : Number(value.toFixed(1)));
}

function missing(value) {
  return value === null || value === undefined || !Number.isFinite(value);
}

function scaled(value, scales) {
  if (missing(value)) return "–";
  const [, size, sign] = scales.find(([least]) => Math.abs(value) >= least);
  return `${number(value / size)} ${sign}`;
}

export const power = (value) => scaled(value, SCALES.power);
export const energy = (value) => scaled(value, SCALES.energy);
export const time = (value) => scaled(value, SCALES.time);
export const carbon = (value) => scaled(value, SCALES.carbon);

export function share(value) {
  return missing(value) ? "–" : `${number(Math.round(1000 * value) / 10)} %`;
}

export function money(cost) {
  if (cost === null || cost === undefined) return "–";
  if (typeof cost === "number") return number(cost);
  if (missing(cost.amount)) return "–";
  const size = Math.abs(cost.amount);
  const digits = size >= 1e5 ? 0 : size >= 0.1 || size === 0 ? 2 : 4;
  const amount = cost.amount.toLocaleString("en-US", { minimumFractionDigits: digits,
    maximumFractionDigits: digits });
  const shown = size > 0 && size < LEAST_MONEY ? `below ${LEAST_MONEY}` : amount;
  return `${shown} ${cost.currency ?? ""}`.trim();
}

const KINDS = { power, energy, time, share, carbon, money, count: number, number };

/** A value in words, by the quantity it is of. */
export function value(of, quantity) {
  return (KINDS[quantity] ?? number)(of);
}

/** Ticks of an upright axis, all in the unit of the highest. */
export function ticks(values, quantity) {
  const known = values.filter((one) => one !== null);
  if (quantity === "share") return values.map((one) => `${number(rounded(100 * one))} %`);
  const scales = SCALES[quantity];
  if (!scales || !known.length) return values.map((one) => number(one));
  const most = Math.max(...known.map(Math.abs));
  const [, size, sign] = scales.find(([least]) => most >= least);
  return values.map((one) => one ? `${number(rounded(one / size))} ${sign}` : "0");
}

function rounded(of) {
  return Number(of.toPrecision(6));
}

/** A change against a first figure: "+12.3 %", or a difference where the first is nothing. */
export function change(from, to) {
  if (missing(from) || missing(to)) return "–";
  if (from === to) return "same";
  if (from === 0) return `+${number(to)}`;
  const part = 100 * (to / from - 1);
  if (Math.abs(part) < 0.05) return "same";
  const sign = part > 0 ? "+" : "−";
  return `${sign}${number(Math.round(10 * Math.abs(part)) / 10)} %`;
}

/** The time of day, in UTC where the epoch is known, else since the beginning. */
export function clock(time_s, epoch_s, withSeconds = true) {
  if (missing(time_s)) return "–";
  if (!missing(epoch_s)) {
    const iso = new Date(1000 * (epoch_s + time_s)).toISOString();
    return iso.slice(11, withSeconds ? 19 : 16);
  }
  return passed(time_s);
}

/** What to say of figures that are not of the moment that the page shows. */
export function asOf(time_s, now) {
  return missing(time_s) || !now || time_s === now.time_s ? ""
    : ` As of ${clock(time_s, now.epoch_s)}.`;
}

export function moment(time_s, epoch_s) {
  if (missing(time_s)) return "–";
  if (missing(epoch_s)) return passed(time_s);
  const iso = new Date(1000 * (epoch_s + time_s)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** A time since the beginning: "2 d 03:04:05". */
export function passed(time_s) {
  const two = (of) => String(of).padStart(2, "0");
  const whole = Math.floor(Math.abs(time_s));
  const days = Math.floor(whole / DAY_S), hours = Math.floor(whole / HOUR_S) % 24;
  const text = `${two(hours)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return (time_s < 0 ? "−" : "") + (days ? `${days} d ` : "") + text;
}

/** The reader's own time of day, for what happens on this screen (not on the machine). */
export function wallClock(date) {
  return date.toTimeString().slice(0, 8);
}
