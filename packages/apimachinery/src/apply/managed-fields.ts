/**
 * Tracks field ownership after a create, update or patch. The writer takes ownership of fields that it added or changed
 * from all other managers; fields that it removed lose all owners. A write that changes nothing keeps entries and times
 * unchanged.
 *
 * The cost is proportional to the difference: parts that `before` and `after` share are not visited.
 */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import { emptyObject } from "../schema/empty-object.ts";
import { differenceOf, unionOf, type FieldSet } from "./field-set.ts";
import { ChangesByVersion, knownOwners, type OtherVersions } from "./field-versions.ts";
import { decodeOwners, encodeOwners, isReset, isSameOwner, withFields, type Owner } from "./managed-fields-entries.ts";
import { withObjectMeta } from "../object-meta-schema.ts";
import type { Schema } from "../schema.ts";

export interface UpdateRecord {
  /** Undefined when the object is being created. */
  before: JsonObject | undefined;
  after: JsonObject;
  schema: Schema;
  manager: string;
  apiVersion: string;
  subresource?: string | undefined;
  time: string;
  /**
   * Built-in kinds have structures that always exist (`spec`, `strategy`), so that creating them does not establish
   * ownership.
   */
  builtIn?: boolean;
  /** The other versions of the kind. Without it, all field sets are taken to be in the version of the request. */
  versions?: OtherVersions | undefined;
  /** Set where tracking starts for an object without owners, because its previous writers leave no record. */
  beginsRecord?: boolean;
}

const leaf: FieldSet = {};
/** The object's identity and server-populated fields have no owner. */
export const UNOWNED_FIELDS: FieldSet = {
  "f:apiVersion": leaf,
  "f:kind": leaf,
  "f:metadata": {
    ".": leaf,
    "f:name": leaf,
    "f:namespace": leaf,
    "f:uid": leaf,
    "f:generation": leaf,
    "f:resourceVersion": leaf,
    "f:creationTimestamp": leaf,
    "f:selfLink": leaf,
    "f:managedFields": leaf,
  },
};

export const ownable = (fields: FieldSet | undefined): FieldSet | undefined => differenceOf(fields, UNOWNED_FIELDS);

/** `after` with the managed fields that result from this write. */
export function recordUpdate(record: UpdateRecord): JsonObject {
  const { before, after, apiVersion, subresource = "", versions } = record;
  const { owners, entries } = initialOwners(record);
  // An untracked object stays untracked until an apply.
  if (owners.length === 0 && before !== undefined && !record.beginsRecord) return withManagedFields(after, undefined);
  const schema = withObjectMeta(record.schema);
  const changes = new ChangesByVersion(
    before ? stripManagedFields(before) : emptyObject(schema, record.builtIn === true),
    stripManagedFields(after),
    schema,
    apiVersion,
    versions,
  );
  const current: Owner = {
    manager: record.manager,
    operation: "Update",
    apiVersion,
    subresource,
    time: record.time,
    fields: ownable(changes.own.changed),
  };
  const next = takeOver(knownOwners(owners, apiVersion, versions), changes, current);
  const isSame = next.length === owners.length && next.every((owner, index) => owner === owners[index]);
  return withManagedFields(after, isSame && entries !== undefined ? entries : encodeOwners(next));
}

/** The initial owners of a write: those in the request when it contains valid ones, otherwise those stored. */
function initialOwners({ before, after, subresource = "", builtIn = false }: UpdateRecord): {
  owners: Owner[];
  entries: Json | undefined;
} {
  const stored = managedFieldsOf(before);
  const given = managedFieldsOf(after);
  // A write to a subresource cannot rewrite ownership.
  if (subresource === "" && given !== stored) {
    if (isReset(given, builtIn)) return { owners: [], entries: undefined };
    const owners = decodeOwners(given, { fromClient: true });
    if (owners && owners.length > 0) return { owners, entries: undefined };
  }
  const owners = decodeOwners(stored, { fromClient: false }) ?? [];
  return { owners, entries: Array.isArray(stored) && owners.length === stored.length ? stored : undefined };
}

/** Gives `current` the fields it changed, and removes them and the removed fields from all others. */
function takeOver(owners: readonly Owner[], changes: ChangesByVersion, current: Owner): Owner[] {
  const next: Owner[] = [];
  let joined = current.fields === undefined;
  for (const owner of owners) {
    const { changed, removed } = changes.for(owner);
    const rest = withFields(owner, differenceOf(differenceOf(owner.fields, changed), removed));
    if (!joined && isSameOwner(owner, current)) {
      next.push({ ...current, fields: unionOf(rest.fields, current.fields) });
      joined = true;
    } else if (rest.fields !== undefined) {
      next.push(rest);
    }
  }
  if (!joined) next.push(current);
  return next;
}

export function managedFieldsOf(object: JsonObject | undefined): Json | undefined {
  const metadata = object?.["metadata"];
  return isObject(metadata) ? metadata["managedFields"] : undefined;
}

/** The object with these entries, or with none. The same object when they are unchanged. */
export function withManagedFields(object: JsonObject, entries: Json | undefined): JsonObject {
  if (managedFieldsOf(object) === entries) return object;
  const bare = stripManagedFields(object);
  if (entries === undefined || (Array.isArray(entries) && entries.length === 0)) return bare;
  const metadata = isObject(bare["metadata"]) ? bare["metadata"] : {};
  return { ...bare, metadata: { ...metadata, managedFields: entries } };
}

/** The object without `metadata.managedFields`; the same object when it has none. */
export function stripManagedFields(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  if (!isObject(metadata) || !Object.hasOwn(metadata, "managedFields")) return object;
  const { managedFields: _entries, ...rest } = metadata;
  return { ...object, metadata: rest };
}
