/* The API in readable form, made from the document by which programs read it: every address with
 * what it takes and answers, and the forms that they share. */
import { get } from "../core/api.js";
import { freshId, h, setText } from "../core/dom.js";
import { schemaTable, typeOf } from "../parts/schema.js";
import { Filled } from "../parts/states.js";
import { table } from "../parts/table.js";

const METHODS = ["get", "post", "put", "delete"];

export const api = { name: "api", title: "API", show(root, place) {
  const body = h("div");
  const filled = new Filled(body, { lines: 12, label: "Loading the description of the API" });
  root.append(h("div", { class: "pagehead" }, h("h1", {}, "API"),
    h("a", { href: "api/openapi.json" }, "OpenAPI document"), h("a", { href: "metrics" }, "Metrics")),
  body);
  let wanted = place.rest[0];
  const load = () => filled.fill((signal) => get("openapi.json", {}, signal), (found) => {
    const made = shown(found);
    requestAnimationFrame(() => openForm(body, wanted));
    return made;
  });
  load();
  return { refresh: load, destroy: () => filled.stop(), change(to) {
    wanted = to.rest[0];
    openForm(body, wanted);
    return true;
  } };
} };

/** The form of a name, opened and brought into view: links of types lead to it. */
function openForm(body, name) {
  const form = name && body.querySelector(`[data-form="${CSS.escape(name)}"]`);
  if (!form) return;
  form.open = true;
  form.scrollIntoView({ block: "start" });
  form.querySelector("summary").focus({ preventScroll: true });
}

function shown(found) {
  const operations = Object.entries(found.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method]).map((method) =>
      ({ path, method, ...methods[method] })));
  const tags = [...new Set(operations.map(tagOf))];
  const count = h("p", { class: "soft", role: "status" });
  const cards = tags.map((tag) => h("section", { class: "card" }, h("h2", {}, tag),
    operations.filter((one) => tagOf(one) === tag).map(operation)));
  const search = h("input", { type: "search", id: freshId("field"), oninput: () =>
    choose(cards, search.value.trim().toLowerCase(), count) });
  setText(count, `${operations.length} addresses`);
  const forms = Object.entries(found.components?.schemas ?? {}).map(([name, schema]) =>
    h("details", { "data-form": name }, h("summary", {}, name),
      schema.description && h("p", {}, schema.description), schemaTable(schema, name)));
  return [h("p", { class: "lead" }, `${found.info.description} Version ${found.info.version}.`),
    h("div", { class: "field" }, h("label", { for: search.id }, "Find an address"), search, count),
    ...cards, h("section", { class: "card forms" }, h("h2", {}, "Forms"), forms)];
}

function tagOf(one) {
  return one.tags?.[0] ?? "other";
}

function operation(one) {
  const text = `${one.method.toUpperCase()} ${one.path}`;
  const given = one.requestBody?.content ?? {};
  return h("details", { class: "operation", "data-text": `${text} ${one.description ?? ""}`
    .toLowerCase() },
  h("summary", {}, h("code", {}, text), " ", h("span", { class: "soft" },
    (one.description ?? one.summary ?? "").split("\n")[0])),
  one.description?.includes("\n") && h("p", {}, one.description),
  one.parameters?.length > 0 && [h("h3", {}, "Takes"), table({ caption: `Parameters of ${text}`,
    rows: one.parameters, columns: [
      { head: "name", cell: (row) => h("code", {}, row.name) },
      { head: "in", cell: (row) => row.in },
      { head: "what", cell: (row) => typeOf(row.schema) },
      { head: "if not said", cell: (row) => row.required ? "needed"
        : row.schema?.default === undefined ? "left out" : JSON.stringify(row.schema.default) }] })],
  Object.entries(given).map(([type, { schema }]) => h("p", {}, `Body (${type}): `,
    schema ? typeOf(schema) : "bytes")),
  h("h3", {}, "Answers"), table({ caption: `Answers of ${text}`,
    rows: Object.entries(one.responses ?? {}), columns: [
      { head: "status", cell: ([status]) => status },
      { head: "what", cell: ([, answer]) => answered(answer) }] }));
}

function answered(answer) {
  const forms = Object.entries(answer.content ?? {}).map(([type, { schema }]) =>
    [" ", schema && Object.keys(schema).length ? typeOf(schema) : type]);
  return h("span", {}, answer.description, forms);
}

function choose(cards, wanted, count) {
  let left = 0;
  for (const card of cards) {
    const rows = [...card.querySelectorAll(".operation")];
    rows.forEach((row) => { row.hidden = !row.dataset.text.includes(wanted); });
    const here = rows.filter((row) => !row.hidden).length;
    card.hidden = here === 0;
    left += here;
  }
  setText(count, left === 1 ? "1 address" : `${left} addresses`);
}
