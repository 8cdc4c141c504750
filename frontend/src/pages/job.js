/* One job: what it drew and cost, how sure that is, how it ran and how else it could have. */
import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { tile } from "../parts/bars.js";
import { Chart } from "../parts/chart.js";
import { AsOf, assumptions, empty, Filled, unknown } from "../parts/states.js";
import { facts, table } from "../parts/table.js";
import { knownBy, knownText } from "../parts/known.js";
import { stateText } from "./jobs.js";

const MOST_NODES = 24;

export const job = { name: "job", title: "Job", under: "jobs", show(root, place, { live }) {
  let id = place.rest[0] ?? "";
  const body = h("div");
  const title = h("h1", {}, `Job ${id}`);
  const filled = new Filled(body, { lines: 10, label: "Loading the job" });
  let chart = null;
  const asOf = new AsOf(live, () => load());
  root.append(h("div", { class: "pagehead" }, title, h("a", { href: "#/jobs" }, "All jobs")),
    asOf.element, body);
  const load = () => filled.fill((signal) => get(`jobs/${encodeURIComponent(id)}`, {}, signal),
    (found) => {
      chart?.destroy();
      const epoch_s = live.now?.epoch_s ?? null;
      chart = profileChart(found);
      const made = shown(found, chart, epoch_s);
      asOf.at(answeredAt_s(found.job));
      requestAnimationFrame(() => drawProfile(chart, found, epoch_s));
      return made;
    });
  load();
  document.title = `Job ${id} · Wattline`;
  return { refresh: load, destroy: () => { filled.stop(); asOf.destroy(); chart?.destroy(); },
    change(to) {
      id = to.rest[0] ?? "";
      title.textContent = `Job ${id}`;
      document.title = `Job ${id} · Wattline`;
      filled.shown = false;
      load();
      return true;
    } };
} };

/** Of when an answer is, by how long the job has run or waited; null of one that is over. */
function answeredAt_s({ submit_s, wait_s, start_s, elapsed_s, end_s }) {
  if (end_s !== null) return null;
  const since = start_s === null ? [submit_s, wait_s] : [start_s, elapsed_s];
  return since.includes(null) ? null : since[0] + since[1];
}

function profileChart(found) {
  return found.profile?.time_s?.length
    ? new Chart({ title: "Power over time", height: 14, level: "h2" }) : null;
}

function drawProfile(chart, found, epoch_s) {
  chart?.set(found.profile.time_s, [{ name: "power", values: found.profile.power_w,
    colour: "series-0", fill: true }], { epoch_s });
}

function shown(found, chart, epoch_s) {
  const row = found.job;
  const measured = found.coverage !== null && found.coverage !== undefined;
  return [
    found.explanation && h("p", { class: "lead" }, found.explanation),
    h("div", { class: "tiles" },
      tile("State", stateText(row.state), row.why),
      tile("Energy", formats.energy(found.energy_j), knownText(found)),
      tile("Cost", formats.money(found.cost), found.cost ? "of its energy" : "no price is known"),
      tile("Carbon", formats.carbon(found.carbon_g), found.carbon_g === null
        ? "no intensity is known" : "of its energy"),
      tile("Mean power", formats.power(row.power_w), `${formats.number(row.nodes)} node${row.nodes === 1 ? "" : "s"}`),
      tile("Ran", formats.time(row.elapsed_s), `waited ${formats.time(row.wait_s)}`)),
    h("div", { class: "columns" },
      h("section", { class: "card two" }, chart ? chart.element
        : [h("h2", {}, "Power over time"), empty("There is no profile of this job."),
          unknown(found.missing.energy_j)]),
      h("section", { class: "card" }, h("h2", {}, "How it ran"), facts([
        ["user", row.user], ["account", row.account], ["application", row.application],
        ["configuration", found.configuration || null],
        ["nodes", nodeText(found.node_names ?? [], row.nodes)],
        ["submitted", formats.moment(row.submit_s, epoch_s)],
        ["started", row.start_s === null ? "not yet" : formats.moment(row.start_s, epoch_s)],
        ["ended", row.end_s === null ? "not yet" : formats.moment(row.end_s, epoch_s)],
        ["asked for", row.requested_s === null ? null : formats.time(row.requested_s)],
        ["coverage", measured ? `${formats.share(found.coverage)} of its node seconds`
          : "nothing was measured"],
      ]), knownBy(found),
      ["cost", "carbon_g"].map((name) => unknown(found.missing[name])))),
    h("section", { class: "card" }, h("h2", {}, "How else it could have run"),
      alternativesTable(found.alternatives ?? [], found.missing.alternatives),
      unknown(found.missing.alternative_ranges)),
    assumptions(found.assumptions),
  ].filter(Boolean);
}

function nodeText(names, count) {
  if (!names.length) return formats.number(count);
  const more = names.length - MOST_NODES;
  return names.slice(0, MOST_NODES).join(", ") + (more > 0 ? ` and ${formats.number(more)} more` : "");
}

function range(ends, format) {
  return ends ? `${format(ends[0])} to ${format(ends[1])}` : "–";
}

function alternativesTable(rows, why) {
  if (!rows.length) return [empty("No other configuration of it is known."), unknown(why)];
  const chosen = rows.find((row) => row.chosen);
  const against = (row, key) => !chosen || row === chosen ? ""
    : formats.change(chosen[key], row[key]);
  const known = (key) => rows.some((row) => row[key] !== null && row[key] !== undefined);
  const mixed = rows.some((row) => !row.chosen && row.basis !== "predicted");
  const said = mixed ? "known" : "predicted";
  const columns = [
    { head: "nodes", number: true, cell: (row) => h("span", {}, row.chosen
      ? h("strong", {}, `${formats.number(row.nodes)} (as it ran)`) : formats.number(row.nodes)) },
    known("cores") && { head: "cores", number: true, cell: (row) => formats.number(row.cores) },
    known("cap_w") && { head: "cap per node", number: true, cell: (row) => formats.power(row.cap_w) },
    known("frequency_ghz") && { head: "frequency", number: true,
      cell: (row) => row.frequency_ghz === null ? "–" : `${formats.number(row.frequency_ghz)} GHz` },
    known("speed") && { head: "frequency", number: true, cell: (row) => formats.share(row.speed) },
    { head: `${said} time`, number: true, cell: (row) => formats.time(row.time_s) },
    chosen && { head: "change", number: true, cell: (row) => against(row, "time_s") },
    known("time_range_s") && { head: "range", number: true, cell: (row) =>
      range(row.time_range_s, formats.time) },
    { head: `${said} energy`, number: true, cell: (row) => formats.energy(row.energy_j) },
    chosen && { head: "change", number: true, cell: (row) => against(row, "energy_j") },
    known("energy_range_j") && { head: "range", number: true, cell: (row) =>
      range(row.energy_range_j, formats.energy) },
    mixed && { head: "known by", cell: (row) => row.basis },
    rows.some((row) => row.range_means) && { head: "the range is", cell: (row) => row.range_means
      || "not known" },
  ].filter(Boolean);
  return [h("p", { class: "soft" }, mixed ? "Of the whole job, as it was measured or is predicted."
    : "Predicted by the models, for the whole job under one setting."),
    table({ caption: `Configurations with their ${said} time and energy`, rows, columns,
      rowClass: (row) => row.chosen ? "chosen" : "" })];
}
