/**
 * Status of workloads that count replicas: which counters go back to the hub, how they add up, and when the sum may claim
 * to describe the template's newest generation.
 */
import type { KubernetesObject } from "../api/index.ts";
import { equalJson, isObject } from "../base/index.ts";
import type { DeepReadonly, Json, JsonObject } from "../base/index.ts";
import type { StatusItem } from "./kind-interpreter.ts";

/** Dispatch stamps every manifest with the template's generation, so that a status tells which template it belongs to. */
export const TEMPLATE_GENERATION = "resourcetemplate.karmada.io/generation";

type WithStatus = DeepReadonly<KubernetesObject> & { readonly status?: unknown };

/** The named fields of a member's status, plus the member's own generation and the template's. */
export function reflectCounters(object: WithStatus, fields: readonly string[]): Json | undefined {
  const status = object.status;
  if (!isObject(status)) return undefined;
  const reflected: JsonObject = {};
  for (const field of fields) {
    const value = status[field];
    if (value !== undefined && value !== null) reflected[field] = value;
  }
  if (object.metadata.generation !== undefined) reflected["generation"] = object.metadata.generation;
  const templateGeneration = Number.parseInt(object.metadata.annotations?.[TEMPLATE_GENERATION] ?? "", 10);
  if (Number.isSafeInteger(templateGeneration)) reflected["resourceTemplateGeneration"] = templateGeneration;
  return reflected;
}

export interface CounterFields {
  counters: readonly string[];
  texts?: readonly string[];
  /** Built-in kinds leave out a counter that is zero; writing it would look like a change for ever. */
  omitsZero?: boolean;
}

/**
 * The template with `counters` summed over the members and, of `texts`, the last one that a member reported. Returns the
 * template itself when nothing differs.
 *
 * `observedGeneration` moves to the template's generation only when every member has acted on it: its copy carries that
 * generation, and its controller has observed the copy. Anything less would let a client see "rolled out" too early.
 */
export function aggregateCounters<T extends WithStatus>(template: T, items: readonly StatusItem[], { counters, texts = [], omitsZero = false }: CounterFields): T {
  const statuses = items.map(({ status }) => (isObject(status) ? status : {}));
  const next: JsonObject = isObject(template.status) ? { ...template.status } : {};
  for (const counter of counters) {
    const sum = statuses.reduce((total, status) => total + countOf(status[counter]), 0);
    if (sum === 0 && omitsZero) delete next[counter];
    else next[counter] = sum;
  }
  for (const text of texts) {
    const value = statuses.findLast((status) => typeof status[text] === "string" && status[text] !== "")?.[text];
    if (value !== undefined) next[text] = value;
  }
  const generation = template.metadata.generation ?? 0;
  if (statuses.every((status) => isCurrent(status, generation))) next["observedGeneration"] = generation;
  return equalJson(next, template.status) ? template : { ...template, status: next };
}

function isCurrent(status: JsonObject, generation: number): boolean {
  return countOf(status["resourceTemplateGeneration"]) >= generation && countOf(status["observedGeneration"]) >= countOf(status["generation"]);
}

export function countOf(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}
