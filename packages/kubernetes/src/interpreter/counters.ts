/**
 * Status of third-party workloads. Their kinds are not typed here: fields that a member does not report are not
 * reflected, and a field that no member reports is removed from the template.
 */
import { equalJson, isObject, type Json, type JsonObject, textOf } from "@flotilla/base";
import type { StatusItem } from "./status-item.ts";
import { countOf, statusOf, sumOf, type WithStatus } from "./replica-status.ts";
import { TEMPLATE_GENERATION } from "./template-names.ts";

export interface ReportedFields {
  readonly counters: readonly string[];
  /** Copied from the last member that reports one. */
  readonly texts?: readonly string[];
}

/** The named fields of a member's status unchanged, plus the member's own generation and the template's. */
export function reflectFields(object: WithStatus, fields: readonly string[]): Json | undefined {
  const status = statusOf(object);
  if (!status) return undefined;
  const reflected = pickFields(status, [...fields, "observedGeneration"]);
  if (object.metadata.generation !== undefined) reflected["generation"] = object.metadata.generation;
  // An object that did not pass an API server may have a number there.
  const generation = String(
    (object.metadata.annotations?.[TEMPLATE_GENERATION] as string | number | undefined) ?? "",
  ).trim();
  if (generation !== "" && Number.isFinite(Number(generation)))
    reflected["resourceTemplateGeneration"] = Number(generation);
  return reflected;
}

export function pickFields(status: JsonObject, fields: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const field of fields) {
    const value = status[field];
    if (value !== undefined && value !== null) picked[field] = value;
  }
  return picked;
}

/**
 * The template with the counters summed and the generation that all members have observed. Returns the template itself
 * when nothing differs; `more` are additional fields.
 */
export function aggregateFields<T extends WithStatus>(
  template: T,
  items: readonly StatusItem[],
  { counters, texts = [] }: ReportedFields,
  more: JsonObject = {},
): T {
  const before = statusOf(template) ?? {};
  const statuses = items.map(({ status }) => (isObject(status) ? status : {}));
  const next: JsonObject = { ...before, ...more };
  for (const field of counters) next[field] = sumOf(statuses, field);
  for (const field of texts) {
    const text = textOf(statuses.findLast((status) => textOf(status[field]) !== "")?.[field]);
    if (text) next[field] = text;
    else delete next[field];
  }
  next["observedGeneration"] = observedGenerationOf(template, items);
  return equalJson(next, before) ? template : { ...template, status: next };
}

/**
 * The template's generation when every member has exactly that copy and has observed it; until then the previously
 * observed one.
 */
export function observedGenerationOf(template: WithStatus, items: readonly StatusItem[]): number {
  const generation = template.metadata.generation ?? 0;
  const isObserved = items.every(({ status }) => isCurrent(isObject(status) ? status : {}, generation));
  return isObserved ? generation : countOf(statusOf(template)?.["observedGeneration"]);
}

function isCurrent(status: JsonObject, generation: number): boolean {
  return (
    countOf(status["resourceTemplateGeneration"]) === generation &&
    countOf(status["generation"]) === countOf(status["observedGeneration"])
  );
}

/** Conditions of all members, one per type: the last one reported wins. */
export function mergeConditions(items: readonly StatusItem[]): JsonObject[] {
  const byType = new Map<string, JsonObject>();
  for (const { status } of items) {
    const conditions = isObject(status) ? status["conditions"] : undefined;
    for (const condition of Array.isArray(conditions) ? conditions.filter(isObject) : [])
      byType.set(textOf(condition["type"]), condition);
  }
  return [...byType.values()];
}
