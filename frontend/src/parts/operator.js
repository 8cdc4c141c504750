/* What changes the machine: choose, see what follows, confirm. Each step is on the server too: it
 * gives a word to confirm with only together with the consequences. */
import { post } from "../core/api.js";
import { freshId, h, say } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { failure } from "./states.js";

/** What each action asks for: its name in words and its fields. */
const ACTIONS = {
  set_cap: { name: "Change the power cap", fields: [
    { key: "watts", label: "New cap", unit: "kW", scale: 1000, of: (now) => now?.cap_w }] },
  reserve: { name: "Keep watts free for a while", fields: [
    { key: "watts", label: "Watts to keep free", unit: "kW", scale: 1000 },
    { key: "duration_s", label: "For how long", unit: "hours", scale: 3600 },
    { key: "in_s", label: "Beginning in", unit: "hours, empty: now", scale: 3600, optional: true },
    { key: "name", label: "Name (may be empty)", text: true, optional: true }] },
  no_cap: { name: "Remove the power cap", action: "set_cap", value: { watts: null }, fields: [] },
  unreserve: { name: "Give reserved watts back", fields: [
    { key: "name", label: "Reservation", choices: (now) => (now?.reservations ?? []).map((one) =>
      [one.name, reservationText(one, now)]) }] },
  set_mode: { name: "Change who starts jobs", fields: [
    { key: "mode", label: "Who starts jobs", of: (now) => now?.mode === "guard" ? "decide" : "guard",
      options: [["guard", "Slurm, under watts as licences (guard mode)"],
        ["decide", "the controller (decide mode)"]] }] },
};

/** What is kept free, from when to when. */
export function reservationText({ name, watts, start_s, end_s }, { epoch_s }) {
  return `${name}: ${formats.power(watts)} from ${formats.clock(start_s, epoch_s)} to `
    + formats.clock(end_s, epoch_s);
}

/** What can be chosen now: what is not there can be neither removed nor given back. */
function possible(actions, now) {
  const all = actions.flatMap((action) => action === "set_cap" ? [action, "no_cap"] : [action]);
  return all.filter((action) => ACTIONS[action] && (action !== "no_cap" || now?.cap_w !== null)
    && (action !== "unreserve" || now?.reservations?.length));
}

export class OperatorDialog {
  constructor({ actions, now, onapplied }) {
    this.actions = possible(actions, now);
    this.now = now;
    this.onapplied = onapplied;
    const title = freshId("dialog");
    this.body = h("div", { class: "steps" });
    this.element = h("dialog", { class: "operator", "aria-labelledby": title,
      onclose: () => this.element.remove() },
    h("h2", { id: title }, "Change the machine"), this.body);
  }

  open() {
    document.body.append(this.element);
    this.ask();
    this.element.showModal();
    this.body.querySelector("input, select")?.focus();
  }

  close() {
    this.element.close();
  }

  /** As the server calls it. */
  get action() {
    return ACTIONS[this.chosen].action ?? this.chosen;
  }

  buttons(...made) {
    return h("div", { class: "buttons" }, made,
      h("button", { type: "button", onclick: () => this.close() }, "Cancel"));
  }

  ask(problem = null) {
    this.chosen ??= this.actions[0];
    const picked = h("select", { id: freshId("field"), value: this.chosen, onchange: () => {
      this.chosen = picked.value;
      this.ask();
    } }, this.actions.map((action) => h("option", { value: action }, ACTIONS[action].name)));
    const fields = ACTIONS[this.chosen].fields.map((field) => this.field(field));
    const form = h("form", { onsubmit: (event) => { event.preventDefault(); this.preview(fields); } },
      this.actions.length > 1 && labelled("What to change", picked),
      this.actions.length === 1 && h("p", {}, ACTIONS[this.chosen].name),
      fields.map(({ row }) => row), problem && failure(problem),
      this.buttons(h("button", { type: "submit", class: "main" }, "Show what follows")));
    this.body.replaceChildren(form);
  }

  field(given) {
    const field = given.choices ? { ...given, options: given.choices(this.now) } : given;
    if (field.options) {
      const input = h("select", { id: freshId("field"), name: field.key,
        value: this.kept?.[field.key] ?? field.of?.(this.now) },
        field.options.map(([value, text]) => h("option", { value }, text)));
      return { field, input, row: labelled(field.label, input) };
    }
    const first = this.kept?.[field.key] ?? field.of?.(this.now);
    const input = h("input", { id: freshId("field"), name: field.key, required: !field.optional,
      type: field.text ? "text" : "number", min: field.text ? null : "0", step: "any",
      value: first === null || first === undefined ? ""
        : field.text ? first : String(Number((first / (field.scale ?? 1)).toPrecision(6))) });
    return { field, input, row: labelled(`${field.label}${field.unit ? ` (${field.unit})` : ""}`,
      input) };
  }

  async preview(fields) {
    const value = { ...ACTIONS[this.chosen].value };
    for (const { field, input } of fields) {
      if (input.value === "") continue;
      value[field.key] = field.text || field.options ? input.value
        : Number(input.value) * (field.scale ?? 1);
    }
    this.kept = value;
    try {
      const found = await post("operator/preview", { action: this.action, value });
      this.confirm(value, found);
    } catch (error) {
      this.ask(error);
      this.body.querySelector("input")?.focus();
    }
  }

  confirm(value, { consequences, confirm }) {
    const sure = h("input", { type: "checkbox", id: freshId("field"), required: true });
    const form = h("form", { onsubmit: (event) => {
      event.preventDefault();
      this.apply(value, confirm);
    } },
    h("h3", { tabindex: "-1" }, `${ACTIONS[this.chosen].name}: what follows`),
    h("ul", { class: "consequences" }, consequences.map((text) => h("li", {}, text))),
    h("p", { class: "soft" }, "Your name and the time are written into the journal."),
    h("div", { class: "check" }, sure, h("label", { for: sure.id }, "I have read this and want it")),
    h("div", { class: "buttons" },
      h("button", { type: "submit", class: "main danger" }, "Confirm"),
      h("button", { type: "button", onclick: () => this.ask() }, "Back"),
      h("button", { type: "button", onclick: () => this.close() }, "Cancel")));
    this.body.replaceChildren(form);
    form.querySelector("h3").focus();
  }

  async apply(value, confirm) {
    try {
      const done = await post("operator/apply", { action: this.action, value, confirm });
      this.done(done);
    } catch (error) {
      this.body.replaceChildren(failure(error, () => this.ask()),
        h("div", { class: "buttons" }, h("button", { type: "button",
          onclick: () => this.close() }, "Close")));
    }
  }

  done(done) {
    const said = done.said ?? "Done, and written into the journal.";
    const button = h("button", { type: "button", class: "main", onclick: () => this.close() },
      "Close");
    this.body.replaceChildren(h("p", { class: "done" }, said),
      done.remarks?.length ? h("ul", {}, done.remarks.map((text) => h("li", {}, text))) : "",
      h("div", { class: "buttons" }, button));
    button.focus();
    say(said);
    this.onapplied?.();
  }
}

export function labelled(text, input, hint = null) {
  const about = hint && freshId("hint");
  if (about) input.setAttribute("aria-describedby", about);
  return h("div", { class: "field" }, h("label", { for: input.id }, text), input,
    hint && h("p", { class: "hint", id: about }, hint));
}
