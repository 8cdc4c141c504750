/* The cap of a question: a slider in per cent, and what they are of. */
import { freshId, h, setText } from "../../core/dom.js";
import { labelled } from "../../parts/operator.js";

/** What per cent of a cap are of, as a scenario writes it: `70%`, `70%peak`, `70%p99`. */
const REFERENCES = { "": "rated power: all nodes at their highest power",
  peak: "the peak of the same jobs without a cap",
  p99: "their power without a cap, but for 1 % of the time" };
const CAP = /^\s*([\d.]+)\s*%\s*(rated|peak|p\d\d?)?\s*$/;

/** The cap as a part of something; null: no cap; undefined: another kind of cap. */
export function capOf(question) {
  const cap = question.power?.cap;
  if (cap === undefined || cap === null) return null;
  const found = CAP.exec(String(cap));
  return found ? { part: Number(found[1]) / 100, of: (found[2] ?? "").replace("rated", "") }
    : undefined;
}

export function capText({ part, of }) {
  return `${Math.round(1000 * part) / 10}%${of}`;
}

/** The cap in a name: `cap of 70 %`, `cap of 70 % of peak`. */
export function capName(question) {
  const cap = capOf(question);
  if (cap === null) return "no cap";
  if (cap === undefined) return `cap ${question.power.cap}`;
  return `cap of ${Math.round(1000 * cap.part) / 10} %${cap.of && ` of ${cap.of}`}`;
}

/** The fields of a cap; `change` is told another one, null for none. */
export function capFields(question, change) {
  const cap = capOf(question);
  const slider = h("input", { type: "range", id: freshId("field"), min: "30", max: "100",
    step: "1", value: String(Math.round(100 * (cap?.part ?? 1))), disabled: cap === undefined });
  const others = cap?.of && !(cap.of in REFERENCES) ? { [cap.of]: cap.of } : {};
  const of = h("select", { id: freshId("field"), disabled: cap === undefined, onchange: tell },
    Object.entries({ ...REFERENCES, ...others }).map(([value, text]) =>
      h("option", { value, selected: value === (cap?.of ?? "") }, text)));
  const shown = h("output", { for: slider.id });
  function show() {
    const percent = Number(slider.value);
    setText(shown, cap === undefined ? "as shared" : percent >= 100 ? "no cap" : `${percent} %`);
    slider.setAttribute("aria-valuetext", shown.textContent);
  }
  function tell() {
    show();
    const part = Number(slider.value) / 100;
    change(part >= 1 ? null : { part, of: of.value });
  }
  slider.addEventListener("input", tell);
  show();
  return [h("div", { class: "field" }, h("label", { for: slider.id }, "Cap"),
    h("div", { class: "capline" }, slider, shown)), labelled("Per cent of", of)];
}
