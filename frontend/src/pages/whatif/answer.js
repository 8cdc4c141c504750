/* The answer to a what-if: figures against the baseline, curves, who is hurt, what is assumed. */
import { h } from "../../core/dom.js";
import * as formats from "../../core/formats.js";
import { aligned } from "../../core/steps.js";
import { tile } from "../../parts/bars.js";
import { Chart } from "../../parts/chart.js";
import { assumptions, empty } from "../../parts/states.js";
import { sortable, table } from "../../parts/table.js";

/** Rows of the table: where it lies, its name, its quantity, and which way is better. */
const ROWS = [
  [["wait_s", "mean"], "mean wait", "time", "less"], [["wait_s", "p95"], "95 % wait less than",
    "time", "less"],
  [["turnaround_s", "mean"], "mean turnaround", "time", "less"],
  [["bounded_slowdown", "mean"], "mean bounded slowdown", "number", "less"],
  [["utilisation"], "utilisation", "share", null], [["makespan_s"], "makespan", "time", "less"],
  [["energy_j"], "energy of the machine", "energy", "less"],
  [["job_energy_j"], "energy of jobs", "energy", "less"],
  [["power_w", "mean"], "mean power", "power", null],
  [["power_w", "peak"], "highest power", "power", null],
  [["time_above_cap_s"], "time above the cap", "time", "less"],
  [["energy_above_cap_j"], "energy above the cap", "energy", "less"],
  [["jobs", "completed"], "jobs completed", "count", "more"],
  [["jobs", "killed"], "jobs killed at their limit", "count", "less"],
  [["jobs", "not_run"], "jobs that never ran", "count", "less"],
];

function at(metrics, path) {
  let found = metrics;
  for (const part of path) found = found?.[part];
  return typeof found === "number" ? found : null;
}

const LOOKS = [{ name: "baseline", colour: "soft", width: 1.5 },
  { name: "what if", colour: "series-0" }, { name: "cap", colour: "cap", dash: [8, 4] }];

const line = (curve, name) => ({ time_s: curve.time_s, values: curve[name] });

export class AnswerView {
  constructor() {
    this.tiles = h("div", { class: "tiles" });
    this.power = new Chart({ title: "Power", height: 14, axisWidth: 4 });
    this.queue = new Chart({ title: "Jobs that wait", quantity: "count", height: 9,
      axisWidth: 4 });
    this.metrics = h("div");
    this.hurt = h("div");
    this.rests = h("div");
    this.element = h("div", { class: "answer" }, this.tiles,
      h("section", { class: "card" }, this.power.element, this.queue.element),
      h("section", { class: "card" }, h("h2", {}, "Against the baseline"), this.metrics),
      h("section", { class: "card" }, h("h2", {}, "Who is hurt"), this.hurt), this.rests);
  }

  /** `cap`: that of the question, `{ part, of }`, null without one. */
  show(answer, cap = null) {
    this.curves = answer.curves;
    this.cap = cap;
    this.showTiles(answer);
    this.showCurves(answer.curves);
    this.metrics.replaceChildren(...metricsTable(answer));
    this.hurt.replaceChildren(...hurtTables(answer));
    this.rests.replaceChildren(...[assumptions(answer.assumptions, "What this assumes"),
      assumptions(answer.remarks, "Remarks")].filter(Boolean));
  }

  showTiles({ baseline, variant, counts }) {
    const change = (path) => formats.change(at(baseline.metrics, path), at(variant.metrics, path));
    const was = (path, quantity) => `was ${formats.value(at(baseline.metrics, path), quantity)}`;
    const now = (path, quantity) => formats.value(at(variant.metrics, path), quantity);
    const figure = (name, path, quantity) => tile(name, now(path, quantity),
      `${change(path)} · ${was(path, quantity)}`);
    this.tiles.replaceChildren(
      figure("Mean wait", ["wait_s", "mean"], "time"),
      figure("Energy", ["energy_j"], "energy"),
      figure("Highest power", ["power_w", "peak"], "power"),
      tile("Later than before", formats.number(counts?.hurt ?? null),
        counts ? `of ${formats.number(counts.compared)} jobs · ${formats.number(counts.gained)} `
          + "sooner" : "jobs"));
  }

  /** The cap line goes where the cap is asked for, before the answer has come. */
  moveCap(cap) {
    if (this.curves?.variant.cap_w && this.cap && cap && cap.of === this.cap.of) {
      this.showPower(this.curves, cap.part / this.cap.part);
    }
  }

  showCurves(curves) {
    this.showPower(curves, 1);
    const { baseline, variant } = curves;
    const queue = aligned([line(baseline, "queued"), line(variant, "queued")]);
    this.queue.set(queue.x, [0, 1].map((k) => ({ ...LOOKS[k], values: queue.values[k] })));
  }

  showPower({ baseline, variant }, factor) {
    const lines = [line(baseline, "power_w"), line(variant, "power_w")];
    if (variant.cap_w) {
      lines.push({ time_s: variant.time_s, values: variant.cap_w.map((watts) =>
        watts === null ? null : watts * factor) });
    }
    const power = aligned(lines);
    this.power.set(power.x, lines.map((_, k) => ({ ...LOOKS[k], values: power.values[k] })));
  }

  destroy() {
    this.power.destroy();
    this.queue.destroy();
  }
}

function metricsTable({ baseline, variant }) {
  const rows = ROWS.map(([path, name, quantity, better]) => ({ name, quantity, better,
    was: at(baseline.metrics, path), is: at(variant.metrics, path) }))
    .filter((row) => row.was !== null || row.is !== null);
  return [h("p", { class: "soft" }, `Baseline: ${baseline.said ?? "without a cap"}.`),
    table({ caption: "Metrics against the baseline", rows, columns: [
      { head: "metric", cell: (row) => row.name },
      { head: "baseline", number: true, cell: (row) => formats.value(row.was, row.quantity) },
      { head: "what if", number: true, cell: (row) => formats.value(row.is, row.quantity) },
      { head: "change", number: true, cell: (row) => judged(row) }] })];
}

/** The change with a word, not a colour alone, for which way it goes. */
function judged({ was, is, better }) {
  const text = formats.change(was, is);
  if (!better || text === "same" || text === "–") return text;
  const good = better === "less" ? is < was : is > was;
  return h("span", { class: good ? "better" : "worse" },
    `${text} ${good ? "better" : "worse"}`);
}

function hurtTables({ hurt, hurt_users: users, counts }) {
  const said = counts ? `${formats.number(counts.hurt)} of ${formats.number(counts.compared)} jobs `
    + `end later, ${formats.number(counts.gained)} sooner`
    + (counts.lost ? `; ${formats.number(counts.lost)} never run any more` : "") + "." : "";
  if (!hurt.length) return [h("p", {}, said), empty("No job waits longer.")];
  const plus = (value) => value === null || value === undefined ? "–"
    : `${value < 0 ? "−" : "+"}${formats.time(Math.abs(value))}`;
  const column = (head, key, show, number = true) => ({ head, sort: key, number,
    key: (row) => row[key], cell: (row) => show(row[key]) });
  const made = [h("p", {}, said)];
  if (users?.length) {
    made.push(h("h3", {}, "Users, by their mean wait"), sortable({ caption: "Users that wait longer",
      rows: users, columns: [column("user", "user", String, false),
        column("jobs", "jobs", formats.number), column("of them later", "hurt", formats.number),
        column("mean wait", "wait_change_s", plus), column("mean end", "later_s", plus)] },
    { by: "wait_change_s", descending: true }));
  }
  made.push(h("h3", {}, "Jobs that wait longest"), sortable({ caption: "Jobs that wait longer",
    rows: hurt, columns: [column("job", "job", String, false), column("user", "user",
      (user) => user ?? "–", false), column("nodes", "nodes", formats.number),
    column("wait", "wait_change_s", plus), column("end", "later_s", plus)] },
  { by: "wait_change_s", descending: true }));
  return made;
}
