/* All jobs: searched, sorted and turned over on the server, so that half a million are no matter. */
import { get } from "../core/api.js";
import { debounced, freshId, h } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { replaceFields } from "../core/router.js";
import { labelled } from "../parts/operator.js";
import { AsOf, empty, Filled } from "../parts/states.js";
import { pager, table } from "../parts/table.js";

const LIMIT = 50;
const WORDS = { pending: "waiting", timeout: "out of time", later: "not submitted yet" };
const STATES = [["", "any state"], ...["pending", "running", "completed", "failed", "cancelled",
  "timeout"].map((state) => [state, stateWord(state)])];

export function jobLink(id) {
  return h("a", { href: `#/job/${encodeURIComponent(id)}` }, id);
}

export const jobs = { name: "jobs", title: "Jobs", show(root, place, { live, session }) {
  const own = session.me.role === "owner";
  let asked = fromFields(place.fields);
  const result = h("div", { class: "card" });
  const filled = new Filled(result, { lines: 8, label: "Loading jobs" });
  const search = h("input", { type: "search", id: freshId("field"), value: asked.search,
    placeholder: "number, name, user …" });
  const state = h("select", { id: freshId("field"), value: asked.state }, STATES.map(
    ([value, text]) => h("option", { value }, text)));
  const user = h("input", { type: "text", id: freshId("field"), value: asked.user });
  const account = h("input", { type: "text", id: freshId("field"), value: asked.account });

  const asOf = new AsOf(live, () => load());
  const load = (keepFocus = null) => filled.fill(
    (signal) => get("jobs", { ...asked, limit: LIMIT }, signal),
    (found) => {
      const epoch_s = live.now?.epoch_s ?? null;
      asOf.at(found.time_s);
      queueMicrotask(() => keepFocus
        && result.querySelector(`[data-sort="${keepFocus}"]`)?.focus());
      return shown(found, asked, epoch_s, { sort, turn, clear });
    });
  const ask = (change, keepFocus) => {
    asked = { ...asked, ...change };
    replaceFields("jobs", asked);
    return load(keepFocus);
  };
  const sort = (by, descending) => ask({ sort: by, descending, offset: 0 }, by);
  const turn = (offset) => ask({ offset });
  const clear = () => {
    for (const field of [search, state, user, account]) field.value = "";
    ask({ search: "", state: "", user: "", account: "", offset: 0 });
    search.focus();
  };
  const typed = debounced(() => ask({ search: search.value.trim(), state: state.value,
    user: user.value.trim(), account: account.value.trim(), offset: 0 }), 250);
  for (const field of [search, state, user, account]) field.addEventListener("input", typed);

  root.append(h("div", { class: "pagehead" }, h("h1", {}, "Jobs")),
    h("form", { class: "filters", role: "search", onsubmit: (event) => {
      event.preventDefault();
      typed();
    } }, labelled("Search", search), labelled("State", state), own ? "" : labelled("User", user),
    labelled("Account", account)),
    own ? h("p", { class: "soft own" }, "You see your own jobs alone.") : "", asOf.element, result);
  load();
  return { refresh: load, destroy: () => { typed.cancel(); filled.stop(); asOf.destroy(); },
    change(to) {
      asked = fromFields(to.fields);
      [search.value, state.value, user.value, account.value] =
        [asked.search, asked.state, asked.user, asked.account];
      load();
      return true;
    } };
} };

function fromFields(fields) {
  return { search: fields.search ?? "", state: fields.state ?? "", user: fields.user ?? "",
    account: fields.account ?? "", sort: fields.sort ?? "submit_s",
    descending: fields.descending ? fields.descending === "true" : !fields.sort,
    offset: Number(fields.offset) || 0 };
}

function shown(found, asked, epoch_s, { sort, turn, clear }) {
  if (!found.total) {
    const narrowed = asked.search || asked.state || asked.user || asked.account;
    return narrowed ? h("div", { class: "empty" }, h("p", {}, "No job is like that."),
      h("button", { type: "button", onclick: clear }, "Show all jobs"))
      : empty("There are no jobs yet.");
  }
  const columns = [
    { head: "job", sort: "id", cell: (row) => jobLink(row.id) },
    { head: "state", sort: "state", cell: (row) => stateText(row.state) },
    { head: "user", sort: "user", cell: (row) => row.user ?? "–" },
    { head: "account", sort: "account", cell: (row) => row.account ?? "–" },
    { head: "application", sort: "application", cell: (row) => row.application ?? "–" },
    { head: "nodes", sort: "nodes", number: true, cell: (row) => formats.number(row.nodes) },
    { head: "submitted", sort: "submit_s", number: true,
      cell: (row) => formats.moment(row.submit_s, epoch_s) },
    { head: "waited", sort: "wait_s", number: true, cell: (row) => formats.time(row.wait_s) },
    { head: "ran", sort: "elapsed_s", number: true, cell: (row) => formats.time(row.elapsed_s) },
    { head: "power", sort: "power_w", number: true, cell: (row) => formats.power(row.power_w) },
    { head: "energy", sort: "energy_j", number: true, cell: (row) => formats.energy(row.energy_j) },
  ];
  const hasValue = { user: false, account: false, application: false };
  for (const row of found.jobs) for (const key in hasValue) hasValue[key] ||= row[key] !== null;
  return [table({ caption: "Jobs", rows: found.jobs, sorted: { by: asked.sort,
    descending: asked.descending }, onsort: sort,
  columns: columns.filter((column) => hasValue[column.sort] ?? true) }),
  pager({ total: found.total, offset: found.offset ?? asked.offset, limit: LIMIT, noun: "jobs",
    go: turn })];
}

const MARKS = { running: "▶", pending: "…", completed: "✓", failed: "✗", timeout: "⏱",
  cancelled: "–" };

/** Slurm's word for a state as people say it. */
function stateWord(state) {
  const small = state.toLowerCase();
  return WORDS[small] ?? small.replaceAll("_", " ");
}

export function stateText(state) {
  const small = state.toLowerCase();
  return h("span", { class: `jobstate ${small}` },
    h("span", { "aria-hidden": "true" }, `${MARKS[small] ?? "·"} `), stateWord(state));
}
