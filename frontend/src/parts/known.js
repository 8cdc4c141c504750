/* How sure a job's joules are: what was measured, told, filled in or modelled, and what other
 * sources say of the same job. */
import { h } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { bar } from "./bars.js";
import { unknown } from "./states.js";

const WORDS = { measured: "measured", told: "told by Slurm", filled: "filled in",
  modelled: "modelled, not measured" };

/** One line for a tile. */
export function knownText({ energy_j, energy_parts: parts }) {
  if (energy_j === null || energy_j === undefined) return "not measured";
  return parts.map((part) => `${formats.share(part.share)} ${WORDS[part.how]}`).join(", ");
}

/** The shares as bars, the quality in words, and how far other sources are from what counts. */
export function knownBy(found) {
  const { energy_parts: parts, other_figures: others, quality } = found;
  if (!parts.length && !quality.length) return null;
  const rows = parts.map((part) => h("li", { "data-how": part.how }, h("span", { class: "withbar" },
    bar(part.share), formats.share(part.share)), " ", h("span", {}, part.text)));
  const apart = others.map((one) => h("li", {}, `${one.source}: ${formats.energy(one.energy_j)}, `
    + `${formats.change(found.energy_j, one.energy_j)} of what counts`));
  return h("div", { class: "known" }, h("h3", {}, "How good the figures are"),
    rows.length > 0 && h("ul", { class: "shares" }, rows),
    h("ul", { class: "plainlist" }, quality.map((text) => h("li", {}, text))),
    apart.length > 0 && [h("p", {}, "Other sources say of the same job:"),
      h("ul", { class: "plainlist others" }, apart)],
    unknown(found.missing.energy_range));
}
