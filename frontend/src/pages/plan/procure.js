/* Fewer new nodes, or more older ones, for the same watts and money. */
import { h } from "../../core/dom.js";
import * as formats from "../../core/formats.js";
import { tile } from "../../parts/bars.js";
import { Chart } from "../../parts/chart.js";
import { table } from "../../parts/table.js";

const SWEPT = { cost_ratio: ["price of a new node, in old ones", "number"],
  power_w: ["power budget", "power"], speed_ratio: ["time that a new node saves", "share"] };

export const procure = {
  key: "procure", title: "Buy nodes",
  about: "Fewer new nodes at full power, or more of the older kind below it, for the same budget.",
  fields: (choices) => [
    { key: "budget_power_w", label: "Power budget", unit: "kW", scale: 1000, value: 7000 },
    { key: "node_power_w_max", label: "Highest power of a new node", unit: "W", value: 380 },
    { key: "node_power_w_min", label: "Idle power of an old node", unit: "W", value: 180 },
    { key: "cost_ratio", label: "Price of a new node, in old ones", value: 1.7 },
    { key: "speed_ratio", label: "Time that a new node saves", unit: "%", scale: 0.01, value: 0.27 },
    { key: "scaling", label: "Workload (measured line)", options: choices.scalings,
      value: "LU-MZ" },
  ],
  show(answer) {
    const charts = answer.sweeps.map((sweep) => {
      const [label, kind] = SWEPT[sweep.parameter] ?? [sweep.parameter, "number"];
      const chart = new Chart({ title: `Speedup over the ${label}`, kind, labelX: label,
        quantity: "number", height: 12, from0: false, stepped: sweep.in_steps });
      requestAnimationFrame(() => drawSweep(chart, sweep, label, kind));
      return chart;
    });
    const faster = answer.s_ovp > 1;
    return { charts, elements: [
      h("div", { class: "tiles" },
        tile("Speedup of the older nodes", `× ${formats.number(answer.s_ovp)}`, faster
          ? "more older nodes are faster" : "fewer new nodes are faster", { wide: true }),
        tile("New nodes", formats.number(answer.n_wc), formats.time(answer.t_wc_s)),
        tile("Older nodes", formats.number(answer.n_ovp), formats.time(answer.t_ovp_s)),
        tile("The power can feed", formats.number(answer.n_lim), "older nodes")),
      h("section", { class: "card" }, h("h2", {}, "Where the choice turns"), table({
        caption: "Break-even of each parameter", rows: answer.sweeps, columns: [
          { head: "parameter", cell: (sweep) => SWEPT[sweep.parameter]?.[0] ?? sweep.parameter },
          { head: "here", number: true, cell: (sweep) => shown(sweep, sweep.here) },
          { head: "both are equal at", number: true, cell: (sweep) => sweep.break_even === null
            ? "nowhere in the range" : shown(sweep, sweep.break_even) }] })),
      h("div", { class: "three" }, charts.map((chart) =>
        h("section", { class: "card" }, chart.element))),
    ] };
  },
};

function shown(sweep, value) {
  return formats.value(value, SWEPT[sweep.parameter]?.[1] ?? "number");
}

function drawSweep(chart, sweep, label, kind) {
  const here = formats.value(sweep.here, kind);
  chart.set(sweep.value, [
    { name: "speedup of the older nodes", values: sweep.s_ovp, colour: "series-0" },
    { name: "equal", values: sweep.value.map(() => 1), colour: "soft", dash: [6, 4] }],
  { summary: `Here the ${label} is ${here}. ` + (sweep.break_even === null
    ? "Nowhere in this range are both equal."
    : `Both are equal at ${formats.value(sweep.break_even, kind)}.`) });
}
