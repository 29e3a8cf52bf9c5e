/**
 * Rules that ConfigMaps and Secrets share: their keys become file names, their size is bounded, and they can be
 * immutable.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { checkText, dataKeyProblems, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";

type Data = Readonly<Record<string, string>>;

export function checkDataKeys(path: string, data: Data = {}, other: Data = {}): FieldError[] {
  return Object.keys(data).flatMap((key) => {
    const at = `${path}[${key}]`;
    return [
      ...checkText(at, key, dataKeyProblems),
      ...(Object.hasOwn(other, key) ? [field.invalid(at, key, "duplicate of key present in binaryData")] : []),
    ];
  });
}

/** All values of one object together, in bytes. */
export const MAX_DATA_BYTES = 1024 * 1024;

export function textBytes(data: Data = {}): number {
  let total = 0;
  for (const key in data) total += Buffer.byteLength(data[key] ?? "");
  return total;
}

/** Base64 values count with their decoded size. */
export function encodedBytes(data: Data = {}): number {
  let total = 0;
  for (const key in data) total += Buffer.byteLength(data[key] ?? "", "base64");
  return total;
}

type MaybeImmutable = DeepReadonly<{
  immutable?: boolean;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}>;

/** An immutable object keeps its content and its `immutable` field. */
export function checkImmutableData(object: MaybeImmutable, old: MaybeImmutable | undefined): FieldError[] {
  if (old?.immutable !== true) return [];
  const changed = [
    ...(object.immutable === true ? [] : ["immutable"]),
    ...(equalJson(object.data, old.data) ? [] : ["data"]),
    ...(equalJson(object.binaryData, old.binaryData) ? [] : ["binaryData"]),
  ];
  return changed.map((path) => field.forbidden(path, "field is immutable when `immutable` is set"));
}
