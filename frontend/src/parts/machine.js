/* The machine's nodes on a map; racks first where there are too many to draw each. */
import { get } from "../core/api.js";
import { h, replaceKeeping, setText } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { go } from "../core/router.js";
import { choice } from "./bars.js";
import { NodeMap } from "./nodemap.js";
import { failure, skeleton } from "./states.js";
import { table } from "./table.js";

const MOST_NODES = 2000;

export class MachineMap {
  constructor() {
    this.map = new NodeMap({ label: "Map of nodes. Arrow keys walk, Enter opens the job or rack.",
      onopen: (at) => this.open(at), describe: (at) => this.describe(at) });
    this.low_w = 0;
    this.high_w = 1;
    this.rack = null;
    this.title = h("h2", {}, "Nodes");
    this.back = h("button", { type: "button", class: "quiet", hidden: true,
      onclick: () => { this.rack = null; this.load(); } }, "All racks");
    this.summary = h("p", { class: "summary" });
    this.tablePlace = h("div", { hidden: true });
    this.tableButton = h("button", { type: "button", class: "quiet", "aria-expanded": "false",
      onclick: () => this.toggleTable() }, "Table");
    this.place = h("div", {}, skeleton(6, "Loading the nodes"));
    this.element = h("div", {}, h("div", { class: "heading" }, this.title, h("div",
      { class: "tools" }, this.back, choice("Colour of nodes",
        [["power", "watts"], ["state", "state"]], "power", (by) => this.map.colourBy(by)),
      this.tableButton)), this.place, this.summary, this.tablePlace);
  }

  /** The least and the most that a node draws, for the colours: the same at all times. */
  scale(now) {
    this.now = now;
    if (this.loading) this.showAge(); // on a slow line: what is drawn is of an earlier beat
    this.low_w = 0;
    this.high_w = now.node_max_w ?? (now.nodes ? now.max_w / now.nodes : 1);
  }

  async load() {
    if (this.loading) return;
    this.loading = true;
    try {
      await (this.rack ? this.loadNodes(this.rack.first, this.rack.nodes) : this.loadAll());
    } catch (error) {
      this.place.replaceChildren(failure(error, () => this.load()));
    } finally {
      this.loading = false;
    }
  }

  async loadAll() {
    if (this.many) { await this.loadRacks(); return; }
    const page = await get("nodes", { offset: 0, limit: MOST_NODES });
    if (page.total > page.names.length) { this.many = true; await this.loadRacks(); return; }
    this.showNodes(page);
  }

  async loadNodes(first, count) {
    this.showNodes(await get("nodes", { offset: first, limit: count }));
  }

  part(power_w) {
    return power_w === null ? null
      : (power_w - this.low_w) / Math.max(this.high_w - this.low_w, 1e-9);
  }

  showNodes(page) {
    this.nodes = page;
    this.racks = null;
    this.high_w = Math.max(this.high_w, ...page.power_w.map((value) => value ?? 0));
    const cells = page.names.map((name, at) => ({ name, state: page.state[at],
      power_w: page.power_w[at], part: this.part(page.power_w[at]) }));
    setText(this.title, this.rack ? `Nodes of ${this.rack.name}` : "Nodes");
    this.back.hidden = !this.rack;
    this.put(cells, "node");
    this.said = `${formats.number(cells.length)} nodes. ${countText(page.state)}`;
    this.showAge();
    this.showTable();
  }

  async loadRacks() {
    const racks = await get("racks");
    this.racks = racks;
    this.nodes = null;
    this.back.hidden = true;
    setText(this.title, "Racks");
    const cells = racks.name.map((name, at) => {
      const each_w = racks.power_w[at] === null ? null : racks.power_w[at] / racks.nodes[at];
      return { name, state: most(racks.state_counts[at]), power_w: each_w, part: this.part(each_w),
        text: name };
    });
    this.put(cells, "rack");
    const total = racks.nodes.reduce((sum, count) => sum + count, 0);
    this.said = `${formats.number(cells.length)} racks with ${formats.number(total)} `
      + "nodes, by the mean power of a node. Open one to see its nodes.";
    this.showAge();
    this.showTable();
  }

  /** What the map shows in words, and when that was where it is not now. */
  showAge() {
    const { time_s } = this.nodes ?? this.racks ?? {};
    setText(this.summary, (this.said ?? "") + formats.asOf(time_s, this.now));
  }

  put(cells, unit) {
    if (!this.map.element.isConnected) this.place.replaceChildren(this.map.element);
    this.map.set(cells, { low_w: this.low_w, high_w: this.high_w, unit });
  }

  describe(at) {
    if (this.nodes) {
      const { names, state, power_w, job } = this.nodes;
      return `${names[at]}: ${state[at]}, ${formats.power(power_w[at])}`
        + (job[at] ? `, job ${job[at]}` : "");
    }
    const { name, nodes, power_w, state_counts } = this.racks;
    const states = Object.entries(state_counts[at]).map(([state, count]) => `${count} ${state}`);
    return `${name[at]}: ${formats.number(nodes[at])} nodes, ${formats.power(power_w[at])}, `
      + states.join(", ");
  }

  open(at) {
    if (this.nodes) {
      if (this.nodes.job[at]) go(`job/${encodeURIComponent(this.nodes.job[at])}`);
      return;
    }
    const first = this.racks.nodes.slice(0, at).reduce((sum, count) => sum + count, 0);
    this.rack = { name: this.racks.name[at], first, nodes: this.racks.nodes[at] };
    this.load();
  }

  toggleTable() {
    this.tablePlace.hidden = !this.tablePlace.hidden;
    this.tableButton.setAttribute("aria-expanded", String(!this.tablePlace.hidden));
    this.showTable();
  }

  showTable() {
    if (this.tablePlace.hidden) return;
    replaceKeeping(this.tablePlace, [this.nodes ? this.nodeTable() : this.rackTable()]);
  }

  nodeTable() {
    const { names, state, power_w, job } = this.nodes;
    return table({ caption: "Nodes", tall: true, rows: names.map((_, at) => at), columns: [
      { head: "node", cell: (at) => names[at] }, { head: "state", cell: (at) => state[at] },
      { head: "power", number: true, cell: (at) => formats.power(power_w[at]) },
      { head: "job", cell: (at) => job[at]
        ? h("a", { href: `#/job/${encodeURIComponent(job[at])}` }, job[at]) : "" }] });
  }

  rackTable() {
    const { name, nodes, power_w, state_counts } = this.racks;
    return table({ caption: "Racks", tall: true, rows: name.map((_, at) => at), columns: [
      { head: "rack", cell: (at) => name[at] },
      { head: "nodes", number: true, cell: (at) => formats.number(nodes[at]) },
      { head: "power", number: true, cell: (at) => formats.power(power_w[at]) },
      { head: "states", cell: (at) => Object.entries(state_counts[at])
        .map(([state, count]) => `${count} ${state}`).join(", ") }] });
  }

  destroy() {
    this.map.destroy();
  }
}

function most(counts) {
  return Object.entries(counts).sort((a, b) => b[1] - a[1])[0]?.[0] ?? "unknown";
}

function countText(states) {
  const counts = {};
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return Object.entries(counts).sort((a, b) => b[1] - a[1])
    .map(([state, count]) => `${formats.number(count)} ${state}`).join(", ") + ".";
}
