/* What if: the same jobs under another cap, machine or policy, against a baseline. */
import { get, post, postForFile, upload, wasAborted } from "../../core/api.js";
import { download, freshId, h, say, setText } from "../../core/dom.js";
import { Following } from "../../core/following.js";
import * as formats from "../../core/formats.js";
import { address } from "../../core/router.js";
import { labelled } from "../../parts/operator.js";
import { failure, skeleton } from "../../parts/states.js";
import { AnswerView } from "./answer.js";
import { capFields, capOf } from "./cap.js";
import { parameterFields } from "./parameters.js";
import * as ask from "./question.js";

const PAUSE_MS = 180;
/** An answer that takes longer than this is given up for the next question. */
const SLOW_MS = 1500;
const AXES = { order: "Order of the queue", backfill: "Backfilling", power: "How the cap is kept" };
const MORE_AXES = { configure: "Configuration of jobs", placement: "Placement on nodes" };

class WhatIfPage {
  constructor(root, place) {
    this.root = root;
    this.uploads = [];
    this.following = new Following((signal) => this.run(signal),
      { pause_ms: PAUSE_MS, slow_ms: SLOW_MS });
    root.append(h("div", { class: "pagehead" }, h("h1", {}, "What if"),
      h("p", { class: "soft" }, "The same jobs under another cap, machine or policy.")),
    this.body = h("div", {}, skeleton(8, "Loading what can be asked")));
    this.start(place.fields.s);
  }

  async start(shared) {
    try {
      [this.choices, this.uploads] = await Promise.all([get("whatif/choices"),
        get("uploads").catch(() => [])]);
      this.list = ask.sources(this.choices, this.uploads);
      this.question = shared ? (await post("whatif/shared", { share: shared })).scenario
        : this.first();
    } catch (error) {
      this.body.replaceChildren(failure(error, () => this.start(shared)));
      return;
    }
    this.build();
    this.following.now();
  }

  /** The large machine where its kernels are warm; else a week of a small one, which is quick. */
  first() {
    const whole = this.list.find((one) => one.group === "Whole scenarios");
    const week = this.list.find((one) => one.key === "bundled:week.swf");
    const source = (this.choices.warm ? whole : week) ?? week ?? this.list[0];
    const policy = source.policy ?? { power: "dvfs" };
    return ask.withCap(ask.withSource({ policy }, source), { part: 0.7, of: "" });
  }

  build() {
    this.view?.destroy();
    this.view = new AnswerView();
    this.view.element.hidden = true;
    this.working = h("p", { class: "working", role: "status" });
    this.problem = h("div");
    this.old = h("p", { class: "notice", hidden: true });
    this.form = h("form", { class: "card", onsubmit: (event) => event.preventDefault() });
    this.fillForm();
    this.body.replaceChildren(h("div", { class: "split" }, this.form,
      h("div", {}, h("div", { class: "answerhead" }, this.working, this.buttons(), this.saved),
        this.problem, this.bones = skeleton(10, "Simulating"), this.old, this.view.element)));
  }

  /** What can be done with a question besides asking it. */
  buttons() {
    this.saved = h("p", { role: "status", class: "soft" });
    return h("div", { class: "buttons" },
      h("button", { type: "button", onclick: () => this.share() }, "Copy link"),
      h("button", { type: "button", onclick: () => this.save("whatif/scenario", "toml") },
        "Scenario (TOML)"),
      h("button", { type: "button", onclick: () => this.save("whatif/notebook", "ipynb") },
        "Notebook"));
  }

  fillForm() {
    this.source = h("select", { id: freshId("field"), onchange: () => this.choose() },
      ask.optionsOf(this.list, ask.sourceOf(this.question, this.list)?.key));
    const file = h("input", { type: "file", id: freshId("field"), onchange: () => this.send(file) });
    const limit = this.choices.limits?.upload_bytes;
    this.form.replaceChildren(
      labelled("Jobs and machine", this.source),
      h("details", {}, h("summary", {}, "Use a log of your own"), labelled(
        "A job log: SWF, sacct, CSV or Parquet, plain or packed", file,
        limit ? `Up to ${formats.number(limit / 1e6)} MB; it is kept on the server for a while.`
          : null), this.sent = h("p", { role: "status" })),
      this.machineFields(), this.capField(), this.axisFields());
  }

  machineFields() {
    const machine = this.question.machine ?? {};
    const nodes = h("input", { type: "number", id: freshId("field"), min: "1", step: "1",
      value: machine.nodes ?? "", placeholder: "as the log says",
      disabled: Boolean(machine.classes), oninput: () => {
        const { nodes: _, ...rest } = this.question.machine ?? {};
        const made = nodes.value ? { ...rest, nodes: Number(nodes.value) } : rest;
        this.change({ ...this.question, machine: Object.keys(made).length ? made : undefined });
      } });
    return h("fieldset", {}, h("legend", {}, "Machine"), labelled("Nodes", nodes));
  }

  capField() {
    const fields = capFields(this.question, (cap) => {
      this.change(ask.withCap(this.question, cap));
      if (this.axisInputs.power.value !== ask.policyName(this.question, "power")) {
        this.axisInputs.power.value = ask.policyName(this.question, "power");
        this.showParameters.power();
      }
    });
    const model = parameterFields(this.choices.power ?? [], this.question.power ?? {},
      (field, value) => this.change(ask.withPower(this.question, field, value)));
    return h("fieldset", {}, h("legend", {}, "Power"), fields,
    model.length > 0 && h("details", { class: "inner" }, h("summary", {},
      "How power and time follow speed"), model));
  }

  axisFields() {
    this.axisInputs = {};
    this.showParameters = {};
    const rows = (axes) => Object.entries(axes).map(([axis, text]) => this.axisField(axis, text));
    const unusual = Object.keys(MORE_AXES).some((axis) =>
      ask.policyName(this.question, axis) !== ask.USUAL[axis]);
    return h("fieldset", {}, h("legend", {}, "Policy"), rows(AXES),
      h("details", { class: "inner", open: unusual }, h("summary", {}, "Further axes"),
        rows(MORE_AXES)));
  }

  /** One axis: which policy, what it does, and its parameters. */
  axisField(axis, text) {
    const offered = [...this.choices.axes?.[axis] ?? []];
    const chosen = ask.policyName(this.question, axis);
    if (!offered.some((one) => one.name === chosen)) offered.push({ name: chosen, summary: "" });
    const about = h("p", { class: "hint" }), parameters = h("div", { class: "parameters" });
    const input = this.axisInputs[axis] = h("select", { id: freshId("field") },
      offered.map((one) => h("option", { value: one.name, selected: one.name === chosen },
        one.name)));
    const show = this.showParameters[axis] = () => {
      const one = offered.find((each) => each.name === input.value);
      setText(about, one?.summary ?? "");
      parameters.replaceChildren(...parameterFields(one?.parameters ?? [],
        ask.parametersOf(this.question, axis), (name, value) =>
          this.change(ask.withParameter(this.question, axis, name, value))));
    };
    input.addEventListener("change", () => {
      this.change(ask.withPolicy(this.question, axis, input.value));
      show();
    });
    show();
    return h("div", { class: "field" }, h("label", { for: input.id }, text), input, about,
      parameters);
  }

  /** A parameter that is needed and not given yet. */
  lacking() {
    for (const axis of Object.keys({ ...AXES, ...MORE_AXES })) {
      const one = this.choices.axes?.[axis]?.find((each) =>
        each.name === ask.policyName(this.question, axis));
      const given = ask.parametersOf(this.question, axis);
      const row = one?.parameters?.find((each) => each.needed && given[each.name] === undefined);
      if (row) return `${one.name} needs its ${row.name.replaceAll("_", " ")}`
        + (row.unit ? `, in ${row.unit}.` : ".");
    }
    return null;
  }

  choose() {
    const source = this.list.find((one) => one.key === this.source.value);
    this.change(ask.withSource(this.question, source));
    this.fillForm();
    this.source.focus();
  }

  change(question) {
    this.question = question;
    this.view.element.dataset.stale = "true"; // what is shown is of another question
    this.view.moveCap(capOf(question));
    this.following.changed();
  }

  asked() {
    return { ...this.question, name: ask.nameOf(this.question) };
  }

  async run(signal) {
    this.problem.replaceChildren();
    this.old.hidden = true;
    this.view.element.dataset.stale = "true";
    const lacking = this.lacking();
    if (lacking) {
      setText(this.working, lacking);
      this.keepOld();
      return;
    }
    setText(this.working, "Simulating …");
    this.bones.hidden = !this.view.element.hidden;
    const { question } = this, { name } = this.asked();
    try {
      const answer = await post("whatif", this.asked(), signal);
      if (signal.aborted || !this.body.isConnected) return;
      this.bones.hidden = true;
      this.answered = name;
      this.view.element.hidden = false;
      this.view.show(answer, capOf(question));
      const moved = question !== this.question;
      if (moved) this.view.moveCap(capOf(this.question));
      else delete this.view.element.dataset.stale;
      setText(this.working, `${name}: simulated in ${formats.time(answer.seconds)}.`
        + (moved ? ` Simulating ${this.asked().name} …` : ""));
      if (answer.share) history.replaceState(null, "", address("whatif", { s: answer.share }));
    } catch (error) {
      if (wasAborted(error) || signal.aborted) return;
      setText(this.working, "");
      this.problem.replaceChildren(failure(error, () => this.following.now()));
      this.keepOld();
    }
  }

  /** There is no answer to this question: what stands below is that to the last one. */
  keepOld() {
    this.bones.hidden = true;
    this.old.hidden = this.view.element.hidden;
    setText(this.old, `Below is the answer to the question before: ${this.answered}.`);
  }

  async send(input) {
    const [file] = input.files;
    if (!file) return;
    setText(this.sent, `Sending ${file.name} …`);
    try {
      const found = await upload(file);
      this.uploads.push(found);
      this.list = ask.sources(this.choices, this.uploads);
      this.change(ask.withSource(this.question,
        this.list.find((one) => one.key === `upload:${found.id}`)));
      this.fillForm();
      setText(this.sent, [`${formats.number(found.jobs)} jobs were read.`,
        ...(found.remarks ?? [])].join(" "));
      this.sent.closest("details").open = true;
    } catch (error) {
      this.sent.replaceChildren(failure(error));
    }
  }

  async share() {
    const link = new URL(location.href);
    try {
      await navigator.clipboard.writeText(link.href);
      setText(this.saved, "The link is copied.");
    } catch {
      this.saved.replaceChildren("The browser keeps the clipboard to itself; the link: ",
        h("a", { href: link.href }, "this question"));
    }
    say("The link is copied.");
  }

  async save(path, ending) {
    try {
      const blob = await postForFile(path, this.asked());
      const stem = this.asked().name.replace(/[^\w]+/g, "-").replace(/^-|-$/g, "");
      download(`${stem}.${ending}`, blob);
      setText(this.saved, `Saved ${stem}.${ending}.`);
    } catch (error) {
      this.saved.replaceChildren(failure(error));
    }
  }

  destroy() {
    this.following.stop();
    this.view?.destroy();
  }
}

export const whatif = { name: "whatif", title: "What if", show(root, place) {
  const page = new WhatIfPage(root, place);
  return { destroy: () => page.destroy(), change: (to) => {
    if (to.fields.s) page.start(to.fields.s);
    return true;
  } };
} };
