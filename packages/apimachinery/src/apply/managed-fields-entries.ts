/**
 * `metadata.managedFields` as a list of owners: manager, operation, time and fields.
 *
 * An owner is identified by manager, operation and subresource, an Update also by its API version.
 */
import { compareText, equalJson, isObject, type Json, type JsonObject, defined, omitZero } from "@flotilla/base";
import { inOrder } from "./field-order.ts";
import { isFieldSet, unionOf, type FieldSet } from "./field-set.ts";

export interface Owner {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet | undefined;
  /** The entry that this owner was decoded from, kept while the owner is unchanged. */
  readonly entry?: JsonObject;
}

export const isSameOwner = (a: Owner, b: Owner): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === "Apply" || a.apiVersion === b.apiVersion);

export interface DecodeOptions {
  /** Entries from a client are validated and re-encoded without unknown fields; stored entries were written by us. */
  fromClient: boolean;
}

/** The owners in a list of entries; undefined when an entry is invalid. */
export function decodeOwners(entries: Json | undefined, { fromClient }: DecodeOptions): Owner[] | undefined {
  if (entries === undefined || entries === null) return [];
  if (!Array.isArray(entries)) return undefined;
  const owners: Owner[] = [];
  for (const entry of entries) {
    const owner = isObject(entry) ? decodeOwner(entry, fromClient) : undefined;
    if (!owner) return undefined;
    owners.push(owner);
  }
  return owners;
}

function decodeOwner(entry: JsonObject, fromClient: boolean): Owner | undefined {
  const { manager = "", operation, apiVersion, subresource = "", time, fieldsType, fieldsV1 } = entry;
  if (operation !== "Apply" && operation !== "Update") return undefined;
  if (
    typeof manager !== "string" ||
    typeof apiVersion !== "string" ||
    apiVersion === "" ||
    typeof subresource !== "string"
  )
    return undefined;
  if (fieldsType !== "FieldsV1" || !isObject(fieldsV1) || (fromClient && !isFieldSet(fieldsV1))) return undefined;
  return {
    manager,
    operation,
    apiVersion,
    subresource,
    time: typeof time === "string" ? time : undefined,
    fields: Object.keys(fieldsV1).length > 0 ? fieldsV1 : undefined,
    entry: fromClient ? undefined : entry,
  };
}

/**
 * An explicit `[{}]` resets all owners, and so does `[]` for a built-in kind; for a custom resource `[]` has no effect.
 */
export function isReset(entries: Json | undefined, builtIn: boolean): boolean {
  return (
    Array.isArray(entries) &&
    ((builtIn && entries.length === 0) ||
      (entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0))
  );
}

/** The owner with other fields. It keeps its entry when they are equal. */
export function withFields(owner: Owner, fields: FieldSet | undefined): Owner {
  if (fields === owner.fields || equalJson(fields, owner.fields)) return owner;
  const { entry: _entry, ...rest } = owner;
  return { ...rest, fields };
}

export function withTime(owner: Owner, time: string): Owner {
  const { entry: _entry, ...rest } = owner;
  return { ...rest, time };
}

/** Beyond this number of Update owners the oldest share one entry. */
const MAX_UPDATE_OWNERS = 10;
const OLD_UPDATES = "ancient-changes";

const secondsOf = (owner: Owner): number => (owner.time === undefined ? 0 : Math.floor(Date.parse(owner.time) / 1000));

/** A sort key for owners in the real server's order: by the fields that identify them. */
export function identityOf({ manager, operation, apiVersion, subresource }: Owner): string {
  return JSON.stringify({
    manager,
    operation,
    ...defined({ apiVersion: operation === "Update" ? apiVersion : undefined }),
    ...omitZero({ subresource }),
  });
}

function capUpdates(owners: readonly Owner[]): Owner[] {
  const updates = owners.filter(({ operation }) => operation === "Update");
  if (updates.length <= MAX_UPDATE_OWNERS) return [...owners];
  const oldestFirst = updates.toSorted(
    (a, b) => secondsOf(a) - secondsOf(b) || compareText(identityOf(a), identityOf(b)),
  );
  const kept = new Set(owners);
  const buckets = new Map<string, Owner>();
  let count = updates.length;
  for (const owner of oldestFirst) {
    if (count <= MAX_UPDATE_OWNERS) break;
    const bucket = buckets.get(owner.apiVersion);
    if (!bucket) {
      buckets.set(owner.apiVersion, owner);
      continue;
    }
    const joined: Owner = {
      manager: OLD_UPDATES,
      operation: "Update",
      apiVersion: owner.apiVersion,
      subresource: "",
      time: owner.time,
      fields: unionOf(bucket.fields, owner.fields),
    };
    kept.delete(bucket);
    kept.delete(owner);
    kept.add(joined);
    buckets.set(owner.apiVersion, joined);
    count -= 1;
  }
  return [...kept];
}

/** The entries to store, in the real server's order. Owners without fields are omitted. */
export function encodeOwners(owners: readonly Owner[]): JsonObject[] {
  return capUpdates(owners.filter(({ fields }) => fields !== undefined))
    .sort(
      (a, b) =>
        compareText(a.operation, b.operation) ||
        secondsOf(a) - secondsOf(b) ||
        compareText(a.manager, b.manager) ||
        compareText(a.apiVersion, b.apiVersion) ||
        compareText(a.subresource, b.subresource),
    )
    .map(encodeOwner);
}

function encodeOwner(owner: Owner): JsonObject {
  const { manager, operation, apiVersion, time, fields, subresource, entry } = owner;
  if (entry) return entry;
  return {
    manager,
    operation,
    apiVersion,
    ...defined({ time }),
    fieldsType: "FieldsV1",
    fieldsV1: fields ? inOrder(fields) : {},
    ...omitZero({ subresource }),
  };
}
