/* Plans: small questions with a form each; the answer below, the question in the address. */
import { get, post } from "../../core/api.js";
import { freshId, h, setText } from "../../core/dom.js";
import { replaceFields } from "../../core/router.js";
import { labelled } from "../../parts/operator.js";
import { assumptions, empty, failure, Filled, skeleton } from "../../parts/states.js";
import { bid } from "./bid.js";
import { configure } from "./configure.js";
import { placement } from "./placement.js";
import { procure } from "./procure.js";

const PLANS = { configure, procure, bid, placement };

/** Whether there is a plan of this name. */
export const isPlan = (key) => Object.hasOwn(PLANS, key);

class PlanPage {
  constructor(root, place) {
    this.tabs = h("nav", { class: "subnav", "aria-label": "Plans" }, Object.values(PLANS).map((one) =>
      h("a", { href: `#/plan/${one.key}`, "data-plan": one.key }, one.title)));
    this.body = h("div", {}, skeleton(6, "Loading what can be planned"));
    root.append(h("div", { class: "pagehead" }, h("h1", {}, "Plan")), this.tabs, this.body);
    this.charts = [];
    this.open(place);
  }

  async open(place) {
    this.plan = PLANS[place.rest[0]] ?? configure;
    this.tabs.querySelectorAll("a").forEach((link) => {
      if (link.dataset.plan === this.plan.key) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    try {
      this.choices ??= await get("plan/choices");
    } catch (error) {
      this.body.replaceChildren(failure(error, () => this.open(place)));
      return;
    }
    this.filled?.stop();
    this.inputs = this.plan.fields(this.choices).map((field) => this.input(field, place.fields));
    this.answer = h("div");
    this.filled = new Filled(this.answer, { lines: 8, label: "Computing" });
    this.body.replaceChildren(h("p", { class: "soft" }, this.plan.about),
      h("form", { class: "card planforms", onsubmit: (event) => {
        event.preventDefault();
        this.ask();
      } }, this.inputs.map(({ row }) => row),
      h("div", { class: "field" }, h("span", {}),
        h("button", { type: "submit", class: "main" }, "Compute"))), this.answer);
    if (this.plan.slow) {
      this.answer.replaceChildren(empty("Press Compute.", "This simulates hours of work for each bid "
        + "that is tried: some seconds, or a minute where nothing is compiled yet."));
    } else {
      this.ask();
    }
  }

  input(field, given) {
    const label = field.unit ? `${field.label} (${field.unit})` : field.label;
    if (field.options) {
      const input = h("select", { id: freshId("field") }, field.options.map((value) =>
        h("option", { value, selected: value === (given[field.key] ?? field.value) },
          value.replaceAll("_", " "))));
      const row = labelled(label, input, field.hints ? " " : null);
      const hint = row.querySelector(".hint");
      const tell = () => hint && setText(hint, field.hints[input.value] ?? "");
      input.addEventListener("change", tell);
      tell();
      return { field, input, row };
    }
    const value = given[field.key] !== undefined ? Number(given[field.key]) : field.value;
    const input = h("input", { type: "number", id: freshId("field"), min: "0",
      step: field.whole ? "1" : "any", required: !field.optional,
      value: value === undefined ? "" : String(Number((value / (field.scale ?? 1)).toPrecision(9))) });
    return { field, input, row: labelled(label, input) };
  }

  values() {
    const found = {};
    for (const { field, input } of this.inputs) {
      if (input.value === "") continue;
      found[field.key] = field.options ? input.value
        : Number((Number(input.value) * (field.scale ?? 1)).toPrecision(12));
    }
    return found;
  }

  ask() {
    const values = this.values();
    replaceFields(`plan/${this.plan.key}`, values);
    const asked = this.plan.body?.(values) ?? values;
    return this.filled.fill((signal) => post(`plan/${this.plan.key}`, asked, signal), (answer) => {
      this.charts.splice(0).forEach((chart) => chart.destroy());
      const { charts, elements } = this.plan.show(answer);
      this.charts.push(...charts);
      return [...elements, assumptions([...new Set([...(answer.assumptions ?? []),
        ...(answer.assumed ?? []),
        ...(answer.remarks ?? []), ...(answer.node?.assumed ?? [])])])].filter(Boolean);
    });
  }

  destroy() {
    this.filled?.stop();
    this.charts.forEach((chart) => chart.destroy());
  }
}

export const plan = { name: "plan", title: "Plan", show(root, place) {
  const page = new PlanPage(root, place);
  return { refresh: () => page.ask?.(), destroy: () => page.destroy(), change: (to) => {
    page.open(to);
    return true;
  } };
} };
