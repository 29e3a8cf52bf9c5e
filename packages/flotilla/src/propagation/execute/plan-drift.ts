/**
 * Computes a Work's condition about changes to its objects on the member: field, old and new value, manager and time.
 * Limited in size, and without the content of Secrets. Pure.
 */
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly, Json } from "@flotilla/base";
import { formatSteps } from "../../delivery/drift.ts";
import type { FieldDrift } from "../../delivery/drift.ts";
import { KEEPER } from "../../delivery/plan-takeover.ts";
import { findCondition, withCondition } from "@flotilla/apimachinery";

export interface ObjectDrift {
  kind: string;
  name: string;
  isRepaired: boolean;
  fields: readonly FieldDrift[];
}

/** Not a Karmada condition; `flotilla why` reads it. */
export const DRIFTED = "Drifted";
/** More would not help users, and a condition must stay small. */
const MAX_FIELDS = 10;
const MAX_VALUE_CHARACTERS = 80;

/** `Deployment web: spec.replicas is 9 instead of 3 (kubectl-edit, 2024-05-01T12:00:00Z)`. */
export function renderDrift({ kind, name, isRepaired, fields }: ObjectDrift): string {
  const verb = isRepaired ? "was" : "is";
  const texts = fields.slice(0, MAX_FIELDS).map(({ steps, ours, theirs, by }) => {
    const values =
      kind === "Secret" ? `${verb} changed` : `${verb} ${renderValue(theirs)} instead of ${renderValue(ours)}`;
    return `${formatSteps(steps)} ${values}${by ? ` (${[by.manager, by.time].filter(Boolean).join(", ")})` : ""}`;
  });
  if (fields.length > MAX_FIELDS) texts.push(`and ${fields.length - MAX_FIELDS} more`);
  return `${kind} ${name}: ${texts.join(", ")}`;
}

function renderValue(value: Json | undefined): string {
  if (value === undefined) return "gone";
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}

/** A value that a Retain rule kept and the hub decides again, because the rule has changed, was not changed by a client there. */
export function changedByOthers(drift: ObjectDrift): ObjectDrift[] {
  if (!drift.isRepaired) return [drift];
  const fields = drift.fields.filter(({ by }) => by?.manager !== KEEPER);
  return fields.length > 0 ? [{ ...drift, fields }] : [];
}

/** A Work that never drifted has no condition, which saves a write. */
export function planDrifted(work: DeepReadonly<Work>, drift: readonly ObjectDrift[], now: string): DeepReadonly<Work> {
  const before = work.status?.conditions ?? [];
  const isReported = drift.some(({ isRepaired }) => !isRepaired);
  const wasReported = findCondition(before, DRIFTED)?.status === "True";
  // Repaired drift stays in the message until there is newer drift.
  if (drift.length === 0 && !wasReported) return work;
  const message = drift.slice(0, MAX_FIELDS).map(renderDrift).join("; ");
  const conditions = withCondition(
    before,
    isReported
      ? { type: DRIFTED, status: "True", reason: "ReportOnly", message }
      : {
          type: DRIFTED,
          status: "False",
          ...(drift.length > 0
            ? { reason: "Repaired", message }
            : { reason: "NoDrift", message: "The member's objects match the delivered manifests." }),
        },
    now,
  );
  return conditions === before ? work : { ...work, status: { ...work.status, conditions } };
}
