/* Types of a JSON schema in words, and the fields of a form as a table. */
import { h } from "../core/dom.js";
import { table } from "./table.js";

const LIMITS = [["minimum", "at least"], ["exclusiveMinimum", "above"], ["maximum", "at most"],
  ["exclusiveMaximum", "below"], ["minLength", "length at least"], ["maxLength", "length at most"],
  ["minItems", "at least this many:"], ["maxItems", "at most this many:"],
  ["pattern", "like"]];
const WORDS = { integer: "whole number", string: "text", boolean: "true or false", null: "null",
  number: "number", object: "object" };

/** A type as text and links to the forms it names. */
export function typeOf(schema) {
  return h("span", { class: "type" }, parts(schema ?? {}), limits(schema ?? {}));
}

function parts(schema) {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return h("a", { href: `#/api/${encodeURIComponent(name)}` }, name);
  }
  const several = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (several) return joined(several.map((one) => typeOf(one)), " or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.prefixItems) return ["list of ", joined(schema.prefixItems.map(typeOf), ", ")];
  if (schema.type === "array") return ["list of ", typeOf(schema.items)];
  if (schema.additionalProperties && typeof schema.additionalProperties === "object") {
    return ["names with ", typeOf(schema.additionalProperties)];
  }
  return schema.type ? WORDS[schema.type] ?? schema.type : "anything";
}

function joined(list, between) {
  return list.flatMap((one, at) => at ? [between, one] : [one]);
}

function limits(schema) {
  const said = LIMITS.filter(([key]) => schema[key] !== undefined).map(([key, words]) =>
    `${words} ${schema[key]}`);
  return said.length ? ` (${said.join(", ")})` : "";
}

/** The fields of a form, or its type where it has none. */
export function schemaTable(schema, name) {
  const rows = Object.entries(schema.properties ?? {});
  if (!rows.length) return h("p", {}, typeOf(schema));
  const needed = new Set(schema.required ?? []);
  return table({ caption: `Fields of ${name}`, rows, columns: [
    { head: "field", cell: ([field]) => h("code", {}, field) },
    { head: "what", cell: ([, one]) => typeOf(one) },
    { head: "if not said", cell: ([field, one]) => needed.has(field) ? "always there"
      : one.default === undefined ? "left out" : JSON.stringify(one.default) },
    rows.some(([, one]) => one.description) && { head: "about",
      cell: ([, one]) => one.description ?? "" }].filter(Boolean) });
}
