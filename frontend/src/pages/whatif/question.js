/* What is asked: the fields of a scenario, as JSON. Controls are views of it, so that a shared
 * question keeps what no control shows. */
import { h } from "../../core/dom.js";
import { capName, capText } from "./cap.js";

export const USUAL = { order: "fcfs", backfill: "easy", power: "none", configure: "requested",
  placement: "counted" };

/** Axes that are named only where something else than usual is chosen. */
const UNSAID = { configure: true, placement: true };

/** The sources of jobs on offer, each with its part of a question. */
export function sources(choices, uploads) {
  const made = [];
  const scenarios = new Map();
  for (const one of choices.scenarios ?? []) {
    // Those that differ in policy or cap alone are one source of jobs: both are asked here.
    const key = JSON.stringify([one.trace, one.machine]);
    if (!scenarios.has(key)) scenarios.set(key, one);
  }
  for (const one of scenarios.values()) {
    made.push({ group: "Whole scenarios", key: `scenario ${one.name}`,
      text: scenarioText(one), trace: one.trace, machine: one.machine, policy: one.policy,
      power: one.power });
  }
  const week = (choices.machines ?? []).find((machine) => machine.name === "week");
  for (const one of choices.logs ?? []) {
    made.push({ group: "Logs", key: one.file, text: one.summary
      ? `${one.name}: ${one.summary}` : one.name, trace: { file: one.file },
    machine: one.name === "week.swf" ? week : undefined });
  }
  for (const one of uploads) {
    made.push({ group: "Your uploads", key: `upload:${one.id}`,
      text: `${one.name ?? one.id} (${one.jobs} jobs)`, trace: { file: `upload:${one.id}` } });
  }
  for (const one of choices.generators ?? []) {
    if (one.generate === "workload") continue; // needs a contract with the grid
    made.push({ group: "Made-up jobs", key: `generate ${one.generate}`, text: one.generate,
      trace: { generate: one.generate, seed: 1, jobs: 500 },
      machine: { name: "256 nodes", nodes: 256 } });
  }
  return made;
}

function scenarioText(one) {
  const machine = one.machine ?? {};
  const nodes = machine.nodes ? ` of ${machine.nodes.toLocaleString("en-US")} nodes` : "";
  return `${machine.name ?? one.name}${nodes}`;
}

/** The source that a question is of, by its trace. */
export function sourceOf(question, list) {
  const file = question.trace?.file, generate = question.trace?.generate;
  const exact = list.find((one) => JSON.stringify(one.trace) === JSON.stringify(question.trace)
    && JSON.stringify(one.machine) === JSON.stringify(question.machine));
  return exact ?? list.find((one) => (file ? one.trace.file === file
    : one.trace.generate === generate)) ?? null;
}

/** The question for a source: its jobs and machine, with the policies and cap asked before. */
export function withSource(question, source) {
  const made = { ...question, trace: source.trace };
  if (source.machine) made.machine = source.machine;
  else delete made.machine;
  if (source.power) {
    const { cap, ...rest } = source.power;
    made.power = { ...rest, ...(question.power?.cap !== undefined ? { cap: question.power.cap } : {}) };
  }
  return tidy(made);
}

export function policyName(question, axis) {
  const value = question.policy?.[axis];
  return (typeof value === "object" ? value?.name : value) ?? USUAL[axis] ?? "";
}

export function withPolicy(question, axis, name) {
  const policy = { ...question.policy };
  if (!name || name === USUAL[axis]) delete policy[axis];
  else policy[axis] = name;
  return tidy({ ...question, policy });
}

/** The parameters that are given for the policy of an axis. */
export function parametersOf(question, axis) {
  const value = question.policy?.[axis];
  const { name: _, ...given } = value && typeof value === "object" ? value : {};
  return given;
}

/** The same with a parameter of an axis's policy; null leaves it to its default. */
export function withParameter(question, axis, parameter, value) {
  const given = { ...parametersOf(question, axis) };
  if (value === null) delete given[parameter];
  else given[parameter] = value;
  const name = policyName(question, axis);
  const plain = withPolicy(question, axis, name);
  return Object.keys(given).length
    ? { ...plain, policy: { ...plain.policy, [axis]: { name, ...given } } } : plain;
}

/** The same for a field of the `[power]` section. */
export function withPower(question, field, value) {
  const power = { ...question.power };
  if (value === null) delete power[field];
  else power[field] = value;
  return tidy({ ...question, power });
}

/** The same under a cap, `{ part, of }`; null: no cap. */
export function withCap(question, cap) {
  const power = { ...question.power };
  if (cap === null) delete power.cap;
  else power.cap = capText(cap);
  let made = { ...question, power };
  // A cap that nothing keeps would only be watched.
  if (cap !== null && policyName(made, "power") === "none") made = withPolicy(made, "power", "dvfs");
  return tidy(made);
}

function tidy(question) {
  return Object.fromEntries(Object.entries(question).filter(([, value]) =>
    value !== undefined && !(value && typeof value === "object" && !Object.keys(value).length)));
}

export function nameOf(question) {
  const rest = Object.keys(USUAL).filter((axis) => !(axis in UNSAID)
    || policyName(question, axis) !== USUAL[axis]).map((axis) => [policyName(question, axis),
    ...Object.entries(parametersOf(question, axis)).map(([key, value]) => `${key} ${value}`)]
    .join(" ")).filter((name) => name && name !== "none");
  return `${capName(question)}, ${rest.join(", ")}`;
}

export function optionsOf(list, chosen) {
  const groups = new Map();
  for (const one of list) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  return [...groups].map(([group, members]) => h("optgroup", { label: group }, members.map((one) =>
    h("option", { value: one.key, selected: one.key === chosen }, one.text))));
}
