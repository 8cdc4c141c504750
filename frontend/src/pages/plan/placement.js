/* Jobs on an interconnect: where they go, how long they exchange, which links get hot. */
import { h } from "../../core/dom.js";
import * as formats from "../../core/formats.js";
import { bar, tile } from "../../parts/bars.js";
import { placementMap } from "../../parts/surface.js";
import { table } from "../../parts/table.js";

export const placement = {
  key: "placement", title: "Place on a network",
  about: "Where jobs go on an empty interconnect, how long they exchange, and which links get hot.",
  fields: (choices) => [
    { key: "machine", label: "Network", options: choices.machines, value: "dragonfly-272" },
    { key: "placement", label: "Placement", options: choices.placements.map((one) => one.name),
      value: "level-spread", hints: Object.fromEntries(choices.placements.map((one) =>
        [one.name, one.help])) },
    { key: "nodes", label: "Nodes per job", whole: true, value: 32 },
    { key: "count", label: "Jobs", whole: true, value: 4 },
    { key: "pattern", label: "Exchange", options: ["all-to-all", "broadcast", "fft3d", "halo2d",
      "halo3d", "halo3d26"], value: "all-to-all" },
    { key: "message_bytes", label: "Message", unit: "kB", scale: 1000, value: 1000 },
  ],
  body: ({ nodes, count, pattern, message_bytes, ...rest }) => ({ ...rest,
    jobs: [{ nodes, count, pattern, message_bytes }] }),
  show(answer) {
    const last = Math.max(...answer.jobs.flatMap((job) => job.nodes));
    const size = Number(/(\d+)$/.exec(answer.machine)?.[1] ?? 0);
    const hottest = Math.max(...answer.hot_spots.map((link) => link.busy_s), 1e-12);
    const slowest = Math.max(...answer.jobs.map((job) => job.time_s));
    return { charts: [], elements: [
      h("div", { class: "tiles" },
        tile("Slowest exchange", micro(slowest), `of ${formats.number(answer.jobs.length)} jobs`),
        tile("Hottest link", micro(hottest), "busy"),
        tile("Most on a link", bytes(answer.link_bytes.max),
          `median ${bytes(answer.link_bytes.median)}`)),
      h("section", { class: "card" }, h("h2", {}, "Where they are"), h("div", { class: "scroll",
        tabindex: "0", role: "region", "aria-label": "Map of the network's nodes" },
      placementMap(answer.jobs, Math.max(last + 1, size))),
      h("p", { class: "summary" }, "A cell per node, in the order of the network; the letter is "
        + "the job.")),
      h("section", { class: "card" }, h("h2", {}, "Jobs"), table({ caption: "Jobs as placed",
        rows: answer.jobs, columns: [
          { head: "job", cell: (job) => job.name },
          { head: "nodes", number: true, cell: (job) => formats.number(job.nodes.length) },
          { head: "routers", number: true, cell: (job) => formats.number(job.routers) },
          { head: "groups", number: true, cell: (job) => formats.number(job.groups) },
          { head: "exchange takes", number: true, cell: (job) => micro(job.time_s) },
          { head: "alone it would take", number: true, cell: (job) => micro(job.alone_s) },
          { head: "hosts", cell: (job) => h("span", { class: "hosts" }, job.host_list) }] })),
      h("section", { class: "card" }, h("h2", {}, "Hot links"), table({ caption: "Hot links",
        rows: answer.hot_spots, columns: [
          { head: "link", cell: (link) => link.link },
          { head: "busy", cell: (link) => h("span", { class: "withbar" },
            bar(link.busy_s / hottest), micro(link.busy_s)) },
          { head: "carried", number: true, cell: (link) => bytes(link.bytes) }] })),
    ] };
  },
};

function micro(time_s) {
  if (!Number.isFinite(time_s)) return "–";
  if (time_s < 1e-3) return `${formats.number(1e6 * time_s)} µs`;
  return time_s < 1 ? `${formats.number(1e3 * time_s)} ms` : formats.time(time_s);
}

function bytes(count) {
  const [size, sign] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]].find(([least]) =>
    count >= least) ?? [1, "B"];
  return `${formats.number(count / size)} ${sign}`;
}
