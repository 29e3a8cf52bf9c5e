/** The changes of the applied objects themselves, on the hub. Pure. */
import { LAST_APPLIED_ANNOTATION } from "@flotilla/apimachinery";
import { compareFields } from "@flotilla/flotilla";
import type { FieldChange, MemberChange } from "@flotilla/flotilla";
import { contentOf } from "./apply-input.ts";
import type { Applied } from "./apply-input.ts";

/** A manifest that would create or change an object of the hub. */
export interface HubChange {
  action: "create" | "update";
  object: MemberChange["object"];
  /** The changed fields; empty for a new object. */
  fields: FieldChange[];
  more?: number;
  note?: string;
}

/** Fields that the hub counts or records itself. */
const HIDDEN = new Set(["metadata.generation", `metadata.annotations[${LAST_APPLIED_ANNOTATION}]`]);

export function hubChangesOf(applied: readonly Applied[]): HubChange[] {
  return applied.flatMap(({ before, object, outcome }): HubChange[] => {
    if (outcome === "unchanged") return [];
    const { apiVersion, kind, metadata } = object;
    const head = { apiVersion, kind, namespace: metadata.namespace || undefined, name: metadata.name };
    if (!before) return [{ action: "create", object: head, fields: [] }];
    const { fields, more } = compareFields(contentOf(before), contentOf(object), (path) => HIDDEN.has(path));
    return [
      {
        action: "update",
        object: head,
        fields,
        more: more > 0 ? more : undefined,
        note: fields.length === 0 ? "only the record of the last applied manifest changes" : undefined,
      },
    ];
  });
}
