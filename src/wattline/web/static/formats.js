/* Numbers, powers, times and dates as people read them; the same rules as in the printed tables. */
"use strict";
var wattline = {};
(function (w) {
  const HOUR_S = 3600, DAY_S = 86400;
  const SCALES = {
    power: [[1e6, 1e6, "MW"], [1e3, 1e3, "kW"], [0, 1, "W"]],
    time: [[3 * DAY_S, DAY_S, "d"], [2 * HOUR_S, HOUR_S, "h"], [120, 60, "min"], [0, 1, "s"]],
  };

  /** Three or more digits that count, thousands apart. */
  function numberText(value) {
    if (value === null || !isFinite(value)) return "-";
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
    return Math.abs(value) < 100 ? String(Number(value.toPrecision(3))) : value.toFixed(1);
  }

  function scaleOf(value, scales) {
    return scales.find(([least]) => Math.abs(value) >= least);
  }

  function withUnit(value, scales) {
    if (value === null || !isFinite(value)) return "-";
    const [, size, sign] = scaleOf(value, scales);
    return `${numberText(value / size)} ${sign}`;
  }

  /** A value of a chart in words, by what it is: power, share, or a count of something. */
  function valueText(value, quantity) {
    if (quantity === "power") return withUnit(value, SCALES.power);
    if (quantity === "share") {
      return value === null ? "-" : `${numberText(Math.round(1000 * value) / 10)} %`;
    }
    return numberText(value);
  }

  /** Ticks of an upright axis, in the unit of the highest. */
  function tickTexts(values, quantity) {
    if (quantity === "share") return values.map((value) => `${numberText(rounded(100 * value))} %`);
    if (quantity !== "power") return values.map(numberText);
    const [, size, sign] = scaleOf(Math.max(...values), SCALES.power);
    return values.map((value) => value ? `${numberText(rounded(value / size))} ${sign}` : "0");
  }

  function rounded(value) {
    return Number(value.toPrecision(6));
  }

  /** A moment: a date in UTC where the log has one, else the time since the first submission. */
  function momentText(x, dated, withSeconds) {
    if (dated) {
      const iso = new Date(1000 * x).toISOString();
      return `${iso.slice(0, 10)} ${iso.slice(11, withSeconds ? 19 : 16)}`;
    }
    const two = (number) => String(number).padStart(2, "0");
    const whole = Math.max(0, Math.floor(x));
    const days = Math.floor(whole / DAY_S), hours = Math.floor(whole / HOUR_S) % 24;
    const clock = `${two(hours)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
    return (days ? `${days} d ` : "") + clock;
  }

  w.formats = { numberText, valueText, tickTexts, momentText,
    timeText: (value) => withUnit(value, SCALES.time) };
})(wattline);
