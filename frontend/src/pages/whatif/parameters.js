/* Controls for the parameters of a policy, made from what the server says of each: its name, kind,
 * unit, range and default. What is left empty is left out of the question. */
import { freshId, h } from "../../core/dom.js";
import * as formats from "../../core/formats.js";

const QUANTITIES = { s: "time", W: "power", J: "energy" };

/** "half_life" in seconds as "half life (s)". */
function labelOf({ name, unit }) {
  const words = unit && name.endsWith(`_${unit.toLowerCase()}`)
    ? name.slice(0, -unit.length - 1) : name;
  return `${words.replaceAll("_", " ")}${unit ? ` (${unit})` : ""}`;
}

function usualText({ default: usual, unit }) {
  if (usual === null || usual === undefined) return "";
  if (Array.isArray(usual)) return usual.join(", ");
  if (typeof usual !== "number") return usual === true ? "yes" : usual === false ? "no" : String(usual);
  return QUANTITIES[unit] && Math.abs(usual) >= 1000
    ? `${usual} ${unit}, ${formats.value(usual, QUANTITIES[unit])}` : String(usual);
}

/** What it usually is, and its range where that is narrower than what nobody would write. */
function hintOf(row) {
  const usual = usualText(row);
  const ends = row.choices.length || row.range === "any" ? [] : row.range.split(", ")
    .filter((end) => !/[<>].*\de\+\d/.test(end) && end !== ">= 0");
  const range = ends.join(", ").replace(">= ", "from ").replace("<= ", "up to ")
    .replace("> ", "above ").replace("< ", "below ");
  return [row.needed ? "needed" : usual && `usually ${usual}`, range].filter(Boolean).join("; ");
}

/** What was written, as the scenario has it; undefined where it cannot be meant. */
function valueOf(row, text) {
  const written = text.trim();
  if (written === "") return null;
  if (row.kind === "true or false") return written === "yes";
  if (row.kind.startsWith("list of numbers")) {
    const numbers = written.split(/[\s,;]+/).map(Number);
    return numbers.every(Number.isFinite) ? numbers : written;
  }
  // "7d" and "20kWh" are for the server to read, as in files.
  return row.kind.includes("number") && Number.isFinite(Number(written)) ? Number(written) : written;
}

function inputOf(row, given, id) {
  const options = row.kind === "true or false" ? ["yes", "no"]
    : row.kind === "choice" ? row.choices.map(String) : null;
  const text = given === undefined ? "" : given === true ? "yes" : given === false ? "no"
    : Array.isArray(given) ? given.join(", ") : String(given);
  if (options) {
    return h("select", { id, value: text }, h("option", { value: "" },
      usualText(row) ? `usual (${usualText(row)})` : "usual"),
    options.map((one) => h("option", { value: one }, one)));
  }
  return h("input", { type: "text", id, value: text, placeholder: Array.isArray(row.default)
    ? row.default.join(", ") : row.default ?? "", inputmode: row.kind.includes("number") && !row.unit
    ? "decimal" : null, autocomplete: "off", spellcheck: "false" });
}

/** rows: parameters; given: their values so far; onchange(name, value or null). */
export function parameterFields(rows, given, onchange) {
  return rows.filter((row) => !row.kind.startsWith("table")).map((row) => {
    const id = freshId("field");
    const input = inputOf(row, given[row.name], id);
    input.dataset.parameter = row.name;
    input.addEventListener(input.tagName === "SELECT" ? "change" : "input",
      () => onchange(row.name, valueOf(row, input.value)));
    const hint = hintOf(row), about = freshId("hint");
    if (hint) input.setAttribute("aria-describedby", about);
    return h("div", { class: "field small" }, h("label", { for: id }, labelOf(row)), input,
      hint && h("p", { class: "hint", id: about }, hint));
  });
}
