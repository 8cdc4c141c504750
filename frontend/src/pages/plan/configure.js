/* The configuration space of an application under a bound of power. */
import { h } from "../../core/dom.js";
import * as formats from "../../core/formats.js";
import { tile } from "../../parts/bars.js";
import { Chart } from "../../parts/chart.js";
import { table } from "../../parts/table.js";

export const configure = {
  key: "configure", title: "Configure an application",
  about: "How many nodes, cores and watts each make an application fastest under a bound of power.",
  fields: (choices) => [
    { key: "application", label: "Application", options: choices.applications, value: "BT-MZ" },
    { key: "power_w", label: "Bound of power", unit: "kW", scale: 1000, value: 4000 },
    { key: "nodes", label: "Nodes there are", optional: true, whole: true },
    { key: "margin", label: "Margin kept free", unit: "%", scale: 0.01, value: 0, optional: true },
  ],
  show(answer) {
    const chart = new Chart({ title: "Every configuration: time over power", quantity: "time",
      kind: "power", labelX: "power of the job", height: 18 });
    requestAnimationFrame(() => draw(chart, answer));
    const { best } = answer;
    return { charts: [chart], elements: [
      best && h("div", { class: "tiles" },
        tile("Fastest", formats.time(best.time_s), setting(best)),
        tile("It draws", formats.power(best.power_w), `of ${formats.power(answer.bound_w)}`),
        tile("Against all nodes at full power", share(answer.gain_over_worst_case),
          "less time than the worst case is planned for"),
        tile("Overprovisioning", `× ${formats.number(answer.degree_of_overprovisioning)}`,
          "nodes, against the worst case")),
      h("section", { class: "card" }, chart.element),
      h("section", { class: "card" }, h("h2", {}, "The best for each number of nodes"),
        rowsTable(answer.by_nodes ?? [], answer.best)),
      h("section", { class: "card" }, h("h2", {}, "Named choices"), table({
        caption: "Named choices", rows: NAMED.filter(([key]) => answer[key]), columns: [
          { head: "choice", cell: ([, text]) => text },
          ...columns.map((column) => ({ ...column, cell: ([key]) => column.cell(answer[key]) }))] })),
    ] };
  },
};

const NAMED = [["best", "fastest under the bound"], ["packed_max", "all cores, full power"],
  ["packed_min", "all cores, least power"], ["spread_max", "few cores, full power"],
  ["spread_min", "few cores, least power"],
  ["worst_case", "as many nodes as the bound can feed at their highest power"]];
const columns = [
  { head: "nodes", number: true, cell: (row) => formats.number(row.nodes) },
  { head: "cores", number: true, cell: (row) => formats.number(row.cores) },
  { head: "cap", number: true, cell: (row) => formats.power(row.cap_w) },
  { head: "time", number: true, cell: (row) => formats.time(row.time_s) },
  { head: "power", number: true, cell: (row) => formats.power(row.power_w) },
  { head: "energy", number: true, cell: (row) => formats.energy(row.time_s * row.power_w) }];

function share(value) {
  return value === null || value === undefined ? "–" : formats.share(value);
}

function setting(row) {
  const parts = [`${formats.number(row.nodes)} nodes`];
  if (row.cores !== undefined) parts.push(`${formats.number(row.cores)} cores each`);
  if (row.cap_w !== undefined) parts.push(`cap ${formats.power(row.cap_w)}`);
  return parts.join(", ");
}

function rowsTable(rows, best) {
  return table({ caption: "The fastest configuration for each number of nodes", rows, columns,
    rowClass: (row) => best && row.nodes === best.nodes ? "chosen" : "" });
}

function draw(chart, { space, best, bound_w }) {
  const order = space.power_w.map((_, at) => at).sort((a, b) => space.power_w[a] - space.power_w[b]);
  const pick = (wanted) => order.map((at) => space.fits[at] === wanted ? space.time_s[at] : null);
  const series = [{ name: "fits", values: pick(true), colour: "series-0", points: true }];
  if (space.fits.includes(false)) {
    series.push({ name: "needs more than the bound", values: pick(false), colour: "soft",
      points: true });
  }
  const x = order.map((at) => space.power_w[at]);
  if (best) {
    series.push({ name: "fastest", colour: "series-1", points: true, large: true,
      values: order.map((at) => space.power_w[at] === best.power_w
        && space.time_s[at] === best.time_s ? best.time_s : null) });
  }
  const fit = space.fits.filter(Boolean).length;
  chart.set(x, series, { summary: `${formats.number(fit)} of ${formats.number(x.length)} `
    + `configurations fit into ${formats.power(bound_w)}. ` + (best
      ? `The fastest takes ${formats.time(best.time_s)} on ${setting(best)}.` : "") });
}
