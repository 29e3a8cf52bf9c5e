/**
 * The values that expressions of MutatingAdmissionPolicies create: `Object{spec: Object.spec{…}}`, a part of an object
 * to apply, and `JSONPatch{op: …, path: …}`, one operation.
 */
import type { Row } from "../types/functions.ts";
import { type CelType, DYN, STRING, structOf } from "../types/types.ts";

const objectType = (name: string): CelType => ({ ...structOf(name), hasAnyField: true });

export const PATCH_OBJECT = objectType("Object");
export const JSON_PATCH: CelType = structOf(
  "JSONPatch",
  new Map([
    ["op", STRING],
    ["path", STRING],
    ["from", STRING],
    ["value", DYN],
  ]),
);

/** The type that an expression may create under this name. Fields of objects are named by their path from `Object`. */
export function patchTypes(name: string): CelType | undefined {
  if (name === JSON_PATCH.name) return JSON_PATCH;
  return name === PATCH_OBJECT.name || name.startsWith(`${PATCH_OBJECT.name}.`) ? objectType(name) : undefined;
}

const escapeKey = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

export const patchLibrary: readonly Row[] = [
  ["jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", "(string) -> string", escapeKey],
];
