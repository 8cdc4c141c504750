/* A bid for an hour of regulation service: mean power and reserve, and what each would cost. */
import { h } from "../../core/dom.js";
import * as formats from "../../core/formats.js";
import { tile } from "../../parts/bars.js";
import { surface } from "../../parts/surface.js";
import { table } from "../../parts/table.js";

export const bid = {
  key: "bid", title: "Bid to the grid", slow: true,
  about: "Which mean power and which reserve to offer for an hour of regulation service.",
  fields: (choices) => [
    { key: "workload", label: "Workload", options: choices.workloads, value: "W4" },
    { key: "servers", label: "Servers", whole: true, value: 100 },
    { key: "method", label: "Bids that are tried", options: ["grid", "closed_form", "empirical",
      "descent", "heuristic", "range"], value: "grid" },
    { key: "policy", label: "How the signal is followed", options: ["aqa", "qosg", "qoscap",
      "energyqare", "tracking"], value: "aqa" },
    { key: "level", label: "Quality of service", options: ["tight", "medium", "loose"],
      value: "medium" },
    { key: "hours", label: "Hours to plan on", whole: true, value: 2 },
  ],
  show(answer) {
    const money = (amount) => formats.money(amount === null ? null
      : { amount, currency: answer.currency });
    const shown = answer.participates ? answer : answer.nearest ?? {};
    const { surface: tried } = answer;
    const cells = tried.cost.map((value, at) => ({ x: tried.average_power_w[at],
      y: tried.reserve_w[at], value, fits: tried.feasible[at], why: tried.why[at] }));
    const late = Object.entries(answer.qos ?? {});
    return { charts: [], elements: [
      h("p", { class: "lead" }, answer.participates
        ? `Offer ${formats.power(answer.average_power_w)} with a reserve of `
          + `${formats.power(answer.reserve_w)}.`
        : sentence(answer.reason ?? "stay out: no bid can be held")),
      answer.remedy && h("p", { class: "notice" }, `With ${answer.remedy.what}: `
        + `${formats.power(answer.remedy.average_power_w)} with a reserve of `
        + `${formats.power(answer.remedy.reserve_w)} could be offered.`),
      h("div", { class: "tiles" },
        tile("Mean power", formats.power(shown.average_power_w ?? null),
          answer.participates ? "offered" : "the nearest that was tried"),
        tile("Reserve", formats.power(shown.reserve_w ?? null), "up and down"),
        tile("Cost of the hour", money(answer.cost), answer.participates ? "with the bid" : ""),
        tile("Saving", saved(answer.saving_against_uncontrolled), "of the bill without a contract"),
        tile("Published saving", saved(answer.saving), "of the energy bid for")),
      cells.length > 1 ? h("section", { class: "card" }, surface({ title: "Bids that were tried", cells,
        chosen: answer.participates ? { x: answer.average_power_w, y: answer.reserve_w } : null,
        labels: { x: "mean power", y: "reserve", value: "cost" },
        show: { x: formats.power, y: formats.power, value: money },
        summary: `${formats.number(cells.filter((cell) => cell.fits).length)} of `
          + `${formats.number(cells.length)} bids can be held.` })) : "",
      late.length ? h("section", { class: "card" }, h("h2", {}, "Quality of service"), table({
        caption: "Quality of service by type of job", rows: late, columns: [
          { head: "type of job", cell: ([name]) => name },
          { head: "share that is too late", number: true,
            cell: ([, of]) => formats.share(of.violation_share) },
          { head: "limit of delay", number: true,
            cell: ([, of]) => `${formats.number(of.threshold)} run times` }] })) : "",
    ].filter(Boolean) };
  },
};

function saved(share) {
  return share === null ? "–" : formats.share(share);
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}
