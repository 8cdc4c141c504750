/* The machine at this moment: power against cap and target, nodes, queue, decisions, alarms. */
import { get } from "../core/api.js";
import { h, setText } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { onWall } from "../core/theme.js";
import { choice, powerBars, putTiles, tile } from "../parts/bars.js";
import { Chart } from "../parts/chart.js";
import { MachineMap } from "../parts/machine.js";
import { OperatorDialog, reservationText } from "../parts/operator.js";
import { Orders } from "../parts/orders.js";
import { assumptions, empty, Filled, skeleton, unknown } from "../parts/states.js";
import { pager, table } from "../parts/table.js";

const RANGES = [[900, "15 min"], [3600, "1 h"], [6 * 3600, "6 h"], [86400, "1 d"], [0, "All"]];
const MOST_POINTS = 2400;
const QUEUE_ROWS = 10;
const mostParts = () => onWall() ? 4 : 12;

class NowPage {
  constructor(root, { live, session }) {
    this.live = live;
    this.session = session;
    this.range_s = 3600 * (session.about.source.speed > 30 ? 24 : 1);
    this.queueOffset = 0;
    this.beats = 0;
    this.history = null;
    this.build(root);
    this.stop = live.listen((_, news) => news === "now" && this.beat());
    this.refresh();
    if (live.now) this.beat();
    else live.first().catch(() => {});
  }

  build(root) {
    const { about, me } = this.session;
    this.tiles = h("div", { class: "tiles" }, skeleton(2, "Loading the machine's figures"));
    this.chart = new Chart({ title: "Power", height: 20,
      tools: choice("Range of time", RANGES.map(([key, text]) => [key, text]), this.range_s,
        (key) => { this.range_s = key; this.loadHistory(); }) });
    this.parts = h("div", { class: "parts" }, skeleton(4, "Loading parts"));
    this.map = new MachineMap();
    this.alarms = h("div", { class: "alarms", "aria-live": "polite" });
    this.decisions = h("div");
    this.queue = h("div");
    this.queueFilled = new Filled(this.queue, { label: "Loading the queue", keeping: true });
    this.own = me.role === "owner";
    const actions = about.operator_actions ?? [];
    this.orders = me.role === "operator" && actions.length > 0 ? new Orders() : null;
    this.reserved = h("ul", { class: "reserved plainlist", hidden: true });
    const change = me.role === "operator" && actions.length > 0
      && h("button", { type: "button", class: "main change", onclick: () => this.operate(actions) },
        "Change the machine …");
    root.append(
      h("div", { class: "pagehead" }, h("h1", {}, "Now"), this.when = h("p", { class: "soft when" }),
        change),
      this.alarms, this.tiles, this.reserved,
      h("div", { class: "columns" },
        h("section", { class: "card two" }, this.chart.element),
        h("section", { class: "card" }, h("h2", {}, "Where it goes"), this.parts)),
      h("div", { class: "columns" },
        h("section", { class: "card two", "aria-label": "Nodes" }, this.map.element),
        h("section", { class: "card" }, h("h2", {}, "Last decisions"),
          this.own && h("p", { class: "soft" }, "About the machine and your own jobs."),
          this.decisions)),
      h("section", { class: "card queue" }, h("h2", {}, this.own ? "Your jobs in the queue" : "Queue"),
        this.queue, this.queueAge = h("p", { class: "summary" })),
      this.orders?.element ?? "",
      assumptions(about.assumptions) ?? "");
  }

  refresh() {
    this.loadHistory();
    this.loadQueue();
    this.map.load();
  }

  operate(actions) {
    new OperatorDialog({ actions, now: this.live.now, onapplied: () => { this.refresh(); this.orders?.load(); } }).open();
  }

  async loadHistory() {
    const round = this.historyRound = (this.historyRound ?? 0) + 1;
    try {
      const now = this.live.now ?? await get("now");
      const from_s = this.range_s ? Math.max(0, now.time_s - this.range_s) : null;
      const found = await get("history", { from_s, points: 800 });
      if (round !== this.historyRound) return;
      this.history = found;
      this.epoch_s = now.epoch_s;
      this.drawHistory();
    } catch (error) {
      if (round === this.historyRound) this.chart.readoutText(error.message);
    }
  }

  /** A beat adds its point; what became too long is asked for anew, in the server's own steps. While
   * the source is silent there is a gap, from its last word on: what it said then is no power of now. */
  append(now) {
    const { history } = this;
    if (!history || now.time_s <= (history.time_s.at(-1) ?? -1)) {
      // A demo that begins again, or a time that goes back: what was drawn is of another run.
      if (history && now.time_s < (history.time_s.at(-1) ?? 0) - 1) this.loadHistory();
      return;
    }
    const silent = now.stale_s > 0;
    const put = (values, value) => values?.push(silent ? null : value);
    if (silent) forget(history, now.time_s - now.stale_s);
    history.time_s.push(now.time_s);
    put(history.power_w, now.power_w);
    put(history.cap_w, now.cap_w);
    put(history.target_w, now.target_w);
    put(history.queued, now.queued);
    if (history.time_s.length > MOST_POINTS) this.loadHistory();
    else this.drawHistory();
  }

  drawHistory() {
    if (this.chart.zoomed) return; // whoever looks closer is not pulled away
    const { history, range_s } = this;
    const last = history.time_s.at(-1) ?? 0;
    const first = range_s ? history.time_s.findIndex((time_s) => time_s >= last - range_s) : 0;
    const cut = (values) => first > 0 ? values.slice(first) : values;
    const series = [{ name: "power", values: cut(history.power_w), colour: "series-0", fill: true }];
    if (history.cap_w.some((value) => value !== null)) {
      series.push({ name: "cap", values: cut(history.cap_w), colour: "cap", dash: [8, 4] });
    }
    if (history.target_w?.some((value) => value !== null)) {
      series.push({ name: "target", values: cut(history.target_w), colour: "series-2",
        dash: [2, 3] });
    }
    this.chart.set(cut(history.time_s), series, { epoch_s: this.epoch_s });
  }

  beat() {
    const { now } = this.live;
    this.beats += 1;
    setText(this.when, now.epoch_s === null ? `${formats.passed(now.time_s)} since the start`
      : `${formats.moment(now.time_s, now.epoch_s).slice(0, 10)} `
        + `${formats.clock(now.time_s, now.epoch_s)} UTC on the machine${modeText(now)}`);
    this.showTiles(now);
    this.showAlarms(now);
    this.showReserved(now);
    this.showParts(now);
    this.showDecisions(now);
    this.append(now);
    this.map.scale(now);
    if (document.visibilityState === "hidden") return;
    // Every third beat: hundreds of pages that asked with every beat would keep a server busy. What is
    // older than the figures above says of when it is; what is on its way is waited for, because giving
    // it up for the next would show nothing on a slow line.
    const due = this.beats % 3 === 0;
    if (due) this.map.load();
    else this.map.showAge();
    if (due && !this.queueFilled.busy) this.loadQueue();
    else this.showQueueAge();
  }

  showQueueAge() {
    setText(this.queueAge, formats.asOf(this.queueTime_s, this.live.now).trim());
  }

  showTiles(now) {
    const kind = now.measured ? "measured" : "by the books, not measured";
    const capped = now.cap_w !== null;
    const over = capped && now.power_w > now.cap_w;
    const made = [
      tile("Power", formats.power(now.power_w), capped
        ? `${over ? "above" : formats.share(now.power_w / now.cap_w) + " of"} the cap · ${kind}`
        : `${formats.share(now.power_w / now.max_w)} of the most it can draw · ${kind}`,
      { tone: over ? "bad" : "", wide: true }),
      tile("Cap", capped ? formats.power(now.cap_w) : "none", capped
        ? `${formats.power(Math.abs(now.cap_w - now.power_w))} ${over ? "over" : "free"}`
        : `at most ${formats.power(now.max_w)}`),
      now.target_w !== null && tile("Target", formats.power(now.target_w),
        `${formats.power(Math.abs(now.power_w - now.target_w))} off`),
      tile("Nodes busy", `${formats.number(now.busy_nodes)}`, `of ${formats.number(now.nodes)} · `
        + formats.share(now.busy_nodes / Math.max(now.nodes, 1))),
      tile("Running", formats.number(now.running), "jobs"),
      tile("Waiting", formats.number(now.queued), "jobs"),
    ];
    putTiles(this.tiles, made.filter(Boolean));
  }

  showAlarms(now) {
    const key = JSON.stringify(now.alarms);
    if (key === this.alarmKey) return;
    this.alarmKey = key;
    this.alarms.replaceChildren(...now.alarms.map((alarm) => h("p",
      { class: `alarm ${alarm.level}` },
      h("strong", {}, alarm.level === "critical" ? "Alarm" : "Warning"), " ", alarm.text,
      alarm.since_s !== null && h("span", { class: "soft" },
        ` since ${formats.clock(alarm.since_s, now.epoch_s)}`))));
    if (!now.alarms.length) this.alarms.replaceChildren(h("p", { class: "alarm none" }, "No alarms"));
  }

  showReserved(now) {
    const kept = now.reservations ?? [];
    this.reserved.hidden = !kept.length;
    const lines = kept.map((one) => `Kept free: ${reservationText(one, now)}`);
    if (lines.join() === this.reservedKey) return;
    this.reservedKey = lines.join();
    this.reserved.replaceChildren(...lines.map((text) => h("li", {}, text)));
  }

  showParts(now) {
    const groups = Object.entries(now.by).filter(([name, parts]) => parts.length
      || (now.missing[name] && !onWall()));
    this.parts.replaceChildren(...groups.length
      ? groups.map(([name, parts]) => h("div", {}, h("h3", {}, partsHeading(name, parts)),
        parts.length ? powerBars(parts, mostParts()) : unknown(now.missing[name])))
      : [empty("The machine is not divided into parts.")]);
  }

  showDecisions(now) {
    const key = JSON.stringify(now.decisions.slice(0, 12));
    if (key === this.decisionKey) return;
    this.decisionKey = key;
    this.decisions.replaceChildren(now.decisions.length
      ? h("ol", { class: "decisions", tabindex: "0", "aria-label": "Last decisions" },
        now.decisions.slice(0, onWall() ? 5 : 12).map((one) => h("li", {},
        h("time", {}, formats.clock(one.time_s, now.epoch_s)), " ", decisionText(one))))
      : empty("Nothing was decided yet."));
  }

  loadQueue() {
    this.queueFilled.fill((signal) => get("queue", { offset: this.queueOffset, limit: QUEUE_ROWS },
      signal), (page) => this.queueTable(page));
  }

  queueTable(page) {
    const rows = page.jobs;
    this.queueTime_s = page.time_s;
    this.showQueueAge();
    if (!page.total) return empty(this.own ? "No job of yours waits." : "No job waits.");
    const now_s = this.live.now?.time_s ?? 0;
    return [table({ caption: "Jobs that wait, first in line first", rows, columns: [
      { head: "job", cell: (row) => h("a", { href: `#/job/${encodeURIComponent(row.id)}` }, row.id) },
      { head: "user", cell: (row) => row.user ?? "–" },
      { head: "nodes", number: true, cell: (row) => formats.number(row.nodes) },
      { head: "asks for", number: true, cell: (row) => formats.time(row.requested_s) },
      { head: "waits", number: true, cell: (row) => formats.time(row.wait_s
        ?? Math.max(0, now_s - row.submit_s)) },
      { head: "why", cell: (row) => row.why ?? "" },
    ] }), page.total > QUEUE_ROWS ? pager({ total: page.total, offset: this.queueOffset,
      limit: QUEUE_ROWS, noun: "jobs that wait",
      go: (offset) => { this.queueOffset = offset; this.loadQueue(); } }) : ""];
  }

  destroy() {
    this.stop();
    this.queueFilled.stop();
    this.orders?.destroy();
    this.chart.destroy();
    this.map.destroy();
  }
}

/** What was drawn after the last word of a source that turned out to be silent is taken back. */
function forget(history, heard_s) {
  for (let at = history.time_s.length - 1; at >= 0 && history.time_s[at] > heard_s; at -= 1) {
    for (const name of ["power_w", "cap_w", "target_w", "queued"]) {
      if (history[name]) history[name][at] = null;
    }
  }
}

/** On the wall there is no room to say below a list that it is not all. */
function partsHeading(name, parts) {
  return onWall() && parts.length > mostParts()
    ? `By ${name}: top ${mostParts()} of ${parts.length}` : `By ${name}`;
}

/** Who starts jobs, where a controller says so. */
function modeText({ mode, mode_since_s, epoch_s }) {
  if (!mode) return "";
  const since = mode_since_s === null ? "" : ` since ${formats.moment(mode_since_s, epoch_s)}`;
  return ` · ${mode} mode${since}`;
}

/** What was decided, with the job that it is about as a link. */
function decisionText({ text, job, who }) {
  if (job === null) return who ? `${who}: ${text}` : text;
  const link = (words) => h("a", { href: `#/job/${encodeURIComponent(job)}` }, words);
  const [before, ...after] = text.split(`job ${job} `);
  return after.length ? [before, link(`job ${job}`), " ", after.join(`job ${job} `)]
    : [text, " ", link(`job ${job}`)];
}

export const now = { name: "now", title: "Now", show(root, place, context) {
  const page = new NowPage(root, context);
  return { refresh: () => page.refresh(), destroy: () => page.destroy(), change: () => true };
} };
