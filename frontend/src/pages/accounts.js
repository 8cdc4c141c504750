/* Who used which joules: by user or account, the budget as it burns down, the bill. */
import { get } from "../core/api.js";
import { download, h } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { address, replaceFields } from "../core/router.js";
import { bar, choice } from "../parts/bars.js";
import { Chart } from "../parts/chart.js";
import { assumptions, empty, Filled, unknown } from "../parts/states.js";
import { sortable, table } from "../parts/table.js";

const NOT_YOURS = "the budget is that of the whole machine: it is shown to viewers and operators";
const NOBODY = "(not said)";
const NAMES = { energy_j: "Energy:", cost: "Cost:", carbon_g: "Carbon:", fairshare: "Fair-share:" };

export const accounts = { name: "accounts", title: "Accounts", show(root, place, { live, session }) {
  const own = session.me.role === "owner";
  let by = place.fields.by === "account" ? "account" : "user";
  const places = [h("div"), h("div"), h("div")];
  const [use, budget, bill] = places.map((element) => new Filled(element, { lines: 6 }));
  const charts = [];
  const epoch = () => live.now?.epoch_s ?? null;

  const loadBy = () => {
    use.fill((signal) => get("accounts", { by }, signal), (found) => useTable(found, by));
    bill.fill((signal) => get("bill", { by }, signal), (found) => billTable(found, by, epoch()));
  };
  const loadBudget = () => budget.fill((signal) => get("budget", {}, signal), (found) => {
    charts.splice(0).forEach((chart) => chart.destroy());
    if (!found.periods.length) {
      return [empty("No budget is set.", "A budget is a number of joules for a period of time."),
        ...found.assumptions.map((why) => unknown(why))];
    }
    const made = found.periods.map((period) => {
      const chart = burnDown(period, epoch());
      charts.push(chart);
      requestAnimationFrame(() => drawBurnDown(chart, period, epoch()));
      return chart.element;
    });
    return [...made, assumptions(found.assumptions)].filter(Boolean);
  });
  root.append(...[
    h("div", { class: "pagehead" }, h("h1", {}, "Accounts"), choice("Rows",
      [["user", "by user"], ["account", "by account"]], by, (key) => {
        by = key;
        replaceFields("accounts", { by });
        loadBy();
      })),
    own && h("p", { class: "soft own" }, "You see the energy of your own jobs alone."),
    h("section", { class: "card" }, h("h2", {}, "Energy and cost"), places[0]),
    h("section", { class: "card" }, h("h2", {}, "Budget"), places[1]),
    h("section", { class: "card" }, h("h2", {}, "Bill"), places[2])].filter(Boolean));
  const load = () => {
    loadBy();
    if (own) places[1].replaceChildren(unknown(NOT_YOURS)); // the server would refuse it
    else loadBudget();
  };
  load();
  return { refresh: load,
    destroy: () => { [use, budget, bill].forEach((one) => one.stop());
      charts.forEach((chart) => chart.destroy()); } };
} };

function useTable(found, by) {
  const missing = Object.entries(NAMES).filter(([column]) => column !== "energy_j"
    || !found.rows.length).map(([column, name]) => unknown(found.missing[column], name));
  if (!found.rows.length) return [empty("Nobody has used energy yet."), ...missing,
    assumptions(found.assumptions)].filter(Boolean);
  const most = Math.max(...found.rows.map((row) => row.energy_j), 1);
  const total = found.rows.reduce((sum, row) => sum + row.energy_j, 0);
  const known = (key) => found.rows.some((row) => row[key] !== null && row[key] !== undefined);
  const columns = [
    { head: by, sort: "name", key: (row) => row.name, cell: (row) => h("a", { href:
      address("jobs", { [by]: row.name, sort: "energy_j", descending: true }),
      title: row.name === NOBODY ? `Jobs of which nobody said the ${by}` : null }, row.name) },
    { head: "energy", sort: "energy_j", number: true, key: (row) => row.energy_j,
      cell: (row) => formats.energy(row.energy_j) },
    { head: "share", number: true, cell: (row) => h("span", { class: "withbar" },
      bar(row.energy_j / most), formats.share(total ? row.energy_j / total : null)) },
    known("cost") && { head: "cost", sort: "cost", number: true, key: (row) => row.cost?.amount,
      cell: (row) => formats.money(row.cost) },
    known("carbon_g") && { head: "carbon", sort: "carbon_g", number: true,
      key: (row) => row.carbon_g, cell: (row) => formats.carbon(row.carbon_g) },
    { head: "jobs", sort: "jobs", number: true, key: (row) => row.jobs,
      cell: (row) => formats.number(row.jobs) },
    { head: "node hours", sort: "node_s", number: true, key: (row) => row.node_s,
      cell: (row) => formats.number(row.node_s / 3600) },
    known("fairshare") && { head: "fair-share", sort: "fairshare", number: true,
      key: (row) => row.fairshare, cell: (row) => formats.number(row.fairshare),
      hint: "1: has used nothing of its share; 0.5: exactly its share; near 0: far more" },
  ].filter(Boolean);
  return [sortable({ caption: `Energy and cost by ${by}`, rows: found.rows, columns },
    { by: "energy_j", descending: true }), ...missing,
  assumptions(found.assumptions)].filter(Boolean);
}

function burnDown(period, epoch_s) {
  return new Chart({ title: `${formats.moment(period.from_s, epoch_s)} to `
    + formats.moment(period.to_s, epoch_s), quantity: "energy", height: 13, level: "h3",
  stepped: false });
}

/** What is left of the budget, and what would be left if it were used evenly. */
function drawBurnDown(chart, period, epoch_s) {
  const { from_s, to_s, budget_j, used_j } = period;
  const x = [...period.time_s], left = period.used_series_j.map((used) => budget_j - used);
  if (!x.length || x[0] > from_s) { x.unshift(from_s); left.unshift(budget_j); }
  if (x.at(-1) < to_s) { x.push(to_s); left.push(null); }
  const even = x.map((at) => budget_j * (1 - (at - from_s) / Math.max(to_s - from_s, 1)));
  const last_s = period.time_s.at(-1) ?? from_s;
  const fair_j = budget_j * Math.min(1, (last_s - from_s) / Math.max(to_s - from_s, 1));
  const pace = used_j > budget_j ? "" : fair_j > 0
    ? `That is ${formats.share(used_j / fair_j)} of an even pace.` : "";
  chart.set(x, [
    { name: "left", values: left, colour: "series-0", width: 3 },
    { name: "at an even pace", values: even, colour: "soft", dash: [6, 4] },
  ], { epoch_s, summary: `${formats.energy(used_j)} of ${formats.energy(budget_j)} used `
    + `(${formats.share(used_j / budget_j)}), ${formats.energy(Math.abs(budget_j - used_j))} `
    + `${used_j > budget_j ? "too much" : "left"}. ${pace}` });
}

function billTable(found, by, epoch_s) {
  if (!found.lines.length) return [empty("There is nothing to bill yet."),
    assumptions(found.assumptions)].filter(Boolean);
  const priced = found.total_amount !== null;
  const money = (amount) => formats.money(amount === null ? null
    : { amount, currency: found.currency });
  const columns = [
    { head: by, cell: (row) => row.name },
    { head: "energy", number: true, cell: (row) => formats.energy(row.energy_j) },
    priced && { head: "amount", number: true, cell: (row) => money(row.amount) },
    found.total_carbon_g !== null && { head: "carbon", number: true,
      cell: (row) => formats.carbon(row.carbon_g) },
  ].filter(Boolean);
  const foot = ["total", formats.energy(found.total_j), priced && money(found.total_amount),
    found.total_carbon_g !== null && formats.carbon(found.total_carbon_g)].filter(Boolean);
  return [
    h("p", {}, `From ${formats.moment(found.from_s, epoch_s)} to `
      + `${formats.moment(found.to_s, epoch_s)}. The lines add up to the total.`),
    table({ caption: `Bill by ${by}`, rows: found.lines, columns, foot }),
    h("div", { class: "buttons" }, h("button", { type: "button",
      onclick: () => download(`bill-by-${by}.csv`, csv(found, by)) }, "Download as CSV")),
    assumptions(found.assumptions),
  ].filter(Boolean);
}

/** A table for spreadsheets; a leading sign that they would take for a formula is quoted away. */
function csv(found, by) {
  const cell = (value) => {
    const text = value === null ? "" : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [[by, "energy_j", `amount_${found.currency ?? "none"}`, "carbon_g"],
    ...found.lines.map((row) => [row.name, row.energy_j, row.amount, row.carbon_g]),
    ["total", found.total_j, found.total_amount, found.total_carbon_g]];
  return new Blob([lines.map((line) => line.map(cell).join(",")).join("\n") + "\n"],
    { type: "text/csv" });
}
