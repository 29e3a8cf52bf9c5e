/**
 * Status of workloads that count replicas: which counters are reflected to the hub, how they are summed, and when the
 * sum describes the template's newest generation.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, isObject, textOf } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { InterpretError } from "./interpret-error.ts";
import type { StatusItem } from "./status-item.ts";
import { TEMPLATE_GENERATION } from "./template-names.ts";

export type WithStatus = DeepReadonly<KubernetesObject> & { readonly status?: unknown };

/** The kind's counter fields. */
export interface CounterFields {
  /** Written even when zero. */
  always?: readonly string[];
  /** Omitted when zero, as the kind's own controller does; writing zeros would appear as a change forever. */
  nonZero?: readonly string[];
  /** Copied from the last member that reports one. */
  texts?: readonly string[];
  /** Reports the observed generation only while it lags behind. */
  lagOnly?: boolean;
  /**
   * For built-in kinds: the other fields of their status, which are kept. No other fields exist, and counters have 32
   * bits.
   */
  kept?: readonly string[];
}

/** The status as an object; undefined if there is none. Throws for any other type. */
export function statusOf(object: WithStatus): JsonObject | undefined {
  const { status } = object;
  if (status === undefined || status === null) return undefined;
  if (!isObject(status))
    throw new InterpretError(`reading the status of ${object.kind} ${object.metadata.name}: it is not an object`);
  return status;
}

/**
 * The counters of a member's status, plus the member's own generation and the template's. Throws when the member object
 * does not specify its template's generation: its counters could belong to an earlier template.
 */
export function reflectCounters(
  object: WithStatus,
  { always = [], nonZero = [], texts = [], lagOnly }: CounterFields,
): Json | undefined {
  const status = statusOf(object);
  if (!status) return undefined;
  const reflected: JsonObject = {};
  for (const field of always) reflected[field] = countOf(status[field]);
  for (const field of nonZero) copyWhen(reflected, field, countOf(status[field]));
  for (const field of texts) copyWhen(reflected, field, textOf(status[field]));
  const generation = object.metadata.generation ?? 0;
  const observed = countOf(status["observedGeneration"]);
  if (!lagOnly) copyWhen(reflected, "observedGeneration", observed);
  else if (observed < generation) reflected["observedGeneration"] = observed;
  copyWhen(reflected, "generation", generation);
  copyWhen(reflected, "resourceTemplateGeneration", templateGenerationOf(object));
  return Object.keys(reflected).length === 0 ? undefined : reflected;
}

/** Throws when the annotation is missing or not an integer. */
function templateGenerationOf({ kind, metadata }: DeepReadonly<KubernetesObject>): number {
  const text = metadata.annotations?.[TEMPLATE_GENERATION] ?? "";
  if (/^[+-]?\d{1,16}$/.test(text)) return Number(text);
  throw new InterpretError(
    `reading the status of ${kind} ${metadata.name}: annotation ${TEMPLATE_GENERATION} is ${JSON.stringify(text)}, not the template's generation`,
  );
}

/**
 * The template with counters summed over the members and texts from the last member that reported one. Returns the
 * template itself when nothing differs.
 *
 * `observedGeneration` advances to the template's generation only when every member has acted on it: its copy has that
 * generation, and its controller has observed the copy. Otherwise a client could see "rolled out" too early.
 */
export function aggregateCounters<T extends WithStatus>(
  template: T,
  items: readonly StatusItem[],
  fields: CounterFields,
): T {
  const { always = [], nonZero = [], texts = [], lagOnly = false, kept } = fields;
  const before: JsonObject = isObject(template.status) ? template.status : {};
  const next: JsonObject = kept ? keep(before, [...kept, "observedGeneration"]) : { ...before };
  const add = kept ? int32SumOf : sumOf;
  const statuses = items.map(({ status }) => (isObject(status) ? status : undefined));
  let changed = false;
  const put = (field: string, value: number, omitsZero: boolean): void => {
    if (countOf(before[field]) !== value) changed = true;
    if (value === 0 && omitsZero) delete next[field];
    else next[field] = value;
  };
  for (const field of always) put(field, add(statuses, field), false);
  for (const field of nonZero) put(field, add(statuses, field), true);
  for (const field of texts) {
    const value = statuses.findLast((status) => textOf(status?.[field]) !== "")?.[field];
    if (value === undefined || value === before[field]) continue;
    next[field] = value;
    changed = true;
  }
  const generation = template.metadata.generation ?? 0;
  put(
    "observedGeneration",
    statuses.every((status) => status && isCurrent(status, generation, lagOnly))
      ? generation
      : countOf(before["observedGeneration"]),
    true,
  );
  return changed ? { ...template, status: next } : template;
}

/** The template with another status, or itself when the status is the same. */
export function replaceStatus<T extends WithStatus>(template: T, status: JsonObject): T {
  return isObject(template.status) && equalJson(status, template.status) ? template : { ...template, status };
}

/** The template with another status, or itself when the status is equivalent: zeros and empty lists are ignored. */
export function withStatus<T extends WithStatus>(template: T, status: JsonObject): T {
  const before = isObject(template.status) ? template.status : {};
  return equalJson(nonEmpty(status), nonEmpty(before)) ? template : { ...template, status };
}

function nonEmpty(status: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(status).filter(
      ([, value]) => value !== 0 && value !== null && !(typeof value === "object" && Object.keys(value).length === 0),
    ),
  );
}

/** The listed fields that are not empty. */
function keep(status: JsonObject, fields: readonly string[]): JsonObject {
  const kept: JsonObject = {};
  for (const field of fields) {
    const value = status[field];
    if (value !== undefined && (value !== 0 || field === "collisionCount")) kept[field] = value;
  }
  return kept;
}

/** The statuses that members have reported so far. */
export function reportedStatuses(items: readonly StatusItem[]): JsonObject[] {
  const statuses: JsonObject[] = [];
  for (const { status } of items) if (isObject(status)) statuses.push(status);
  return statuses;
}

export function sumOf(statuses: readonly (JsonObject | undefined)[], field: string): number {
  let sum = 0;
  for (const status of statuses) if (status) sum += countOf(status[field]);
  return sum;
}

/** The sum in a 32-bit field, which wraps as upstream's does: a larger number could not be stored. */
export function int32SumOf(statuses: readonly (JsonObject | undefined)[], field: string): number {
  return sumOf(statuses, field) | 0;
}

/** Whether a member's controller has observed the copy of the template's newest generation. */
function isCurrent(status: JsonObject, generation: number, lagOnly: boolean): boolean {
  if (countOf(status["resourceTemplateGeneration"]) < generation) return false;
  return (
    (lagOnly && status["observedGeneration"] === undefined) ||
    countOf(status["observedGeneration"]) >= countOf(status["generation"])
  );
}

function copyWhen(into: JsonObject, field: string, value: number | string): void {
  if (value !== 0 && value !== "") into[field] = value;
}

/** A counter of an object's status. */
export function countIn(object: WithStatus, field: string): number {
  return isObject(object.status) ? countOf(object.status[field]) : 0;
}

export function countOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
