/* What operators have ordered, from the journal: for operators alone. */
import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import { Filled } from "./states.js";
import { table } from "./table.js";

export class Orders {
  constructor() {
    this.body = h("div");
    this.filled = new Filled(this.body, { lines: 3, label: "Loading the journal" });
    this.element = h("details", { class: "card orders", ontoggle: () => this.load() },
      h("summary", {}, h("h2", {}, "Journal of orders")), this.body);
  }

  /** Only where somebody looks. */
  load() {
    if (!this.element.open) return;
    this.filled.fill((signal) => get("operator/journal", {}, signal), ({ lines }) => lines.length
      ? table({ caption: "Orders, the newest first", rows: lines, tall: true, columns: [
        { head: "when (UTC)", cell: (line) => new Date(1000 * line.time_s).toISOString()
          .slice(0, 19).replace("T", " ") },
        { head: "who", cell: (line) => line.who },
        { head: "order", cell: (line) => line.action.replaceAll("_", " ") },
        { head: "came of it", cell: (line) => line.outcome },
        { head: "in words", cell: (line) => line.said || JSON.stringify(line.value ?? {}) },
      ] }) : h("p", { class: "empty" }, "Nothing was ordered yet."));
  }

  destroy() {
    this.filled.stop();
  }
}
