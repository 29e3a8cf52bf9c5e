/** Renders changed fields as lines. */
import type { DeepReadonly, Json } from "@flotilla/base";
import type { FieldChange } from "@flotilla/flotilla";

const MAX_CHARACTERS = 100;

/** `spec.replicas: 6 → 4` */
export function renderField({ path, before, after }: DeepReadonly<FieldChange>): string {
  if (before === undefined) return `${path}: ${renderValue(after)} (new)`;
  if (after === undefined) return `${path}: ${renderValue(before)} (removed)`;
  return `${path}: ${renderValue(before)} → ${renderValue(after)}`;
}

function renderValue(value: DeepReadonly<Json> | undefined): string {
  const text = typeof value === "string" && /^[^\s"]+$/.test(value) ? value : (JSON.stringify(value) ?? "");
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
