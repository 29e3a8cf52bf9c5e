/**
 * Server-side apply. The applier owns exactly the fields in its configuration. Fields that it owned before and no
 * longer applies are removed unless another manager owns them. A field that another manager set to a different value is
 * a conflict, unless forced.
 */
import { defined, equalJson, isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import { checkApplied } from "./apply-check.ts";
import { mergeApplied } from "./apply-merge.ts";
import { pruneDroppedFields } from "./apply-prune.ts";
import { emptyObject } from "../schema/empty-object.ts";
import { compareFields } from "./field-compare.ts";
import { differenceOf, intersectionOf, membersOf, unionOf, type FieldSet } from "./field-set.ts";
import { fieldSetOf } from "./field-set-of.ts";
import { ChangesByVersion, knownOwners, type OtherVersions } from "./field-versions.ts";
import { managedFieldsOf, ownable, UNOWNED_FIELDS, stripManagedFields, withManagedFields } from "./managed-fields.ts";
import {
  decodeOwners,
  encodeOwners,
  identityOf,
  isSameOwner,
  withFields,
  withTime,
  type Owner,
} from "./managed-fields-entries.ts";
import { MAX_ANNOTATIONS_BYTES, LAST_APPLIED_ANNOTATION } from "../names.ts";
import { withObjectMeta } from "../object-meta-schema.ts";
import type { Schema } from "../schema.ts";
import { applyConflict, badRequest } from "../status.ts";

export interface ApplyRequest {
  /** Undefined when the object is being created. */
  live: JsonObject | undefined;
  applied: JsonObject;
  schema: Schema;
  manager: string;
  apiVersion: string;
  subresource?: string | undefined;
  force: boolean;
  time: string;
  /** See `UpdateRecord`. */
  builtIn?: boolean;
  versions?: OtherVersions | undefined;
  /** The kind has a status subresource, and this request is not for it. */
  hidesStatus?: boolean;
  /** What a request for the status does not write of the metadata: all of it, or some fields. */
  keptByStatus?: "all" | readonly string[];
}

const BEFORE_FIRST_APPLY = "before-first-apply";
/** This manager may take over fields that `kubectl apply` without `--server-side` recorded in its annotation. */
const KUBECTL = "kubectl";

/**
 * The live object with the configuration applied, and its managed fields; the live object itself when nothing changes.
 * Defaults are not filled in, because they have no owner. Fields that the endpoint does not write must be omitted from
 * `applied`.
 */
export function applyConfiguration(request: ApplyRequest): JsonObject {
  const { live, applied, manager, apiVersion, subresource = "", versions } = request;
  if (managedFieldsOf(applied) !== undefined && managedFieldsOf(applied) !== null)
    throw badRequest("metadata.managedFields must be nil");
  const schema = withObjectMeta(request.schema);
  checkApplied(stripManagedFields(applied), schema, request.builtIn === true);
  const wanted = writtenBy(request, stripManagedFields(applied));

  const base = live ? stripManagedFields(live) : {};
  const owners = ownersOf(request, base, schema);
  const stated = fieldSetOf(wanted, schema);
  const fields = ownable(stated);
  const applier: Owner = { manager, operation: "Apply", apiVersion, subresource, time: undefined, fields };
  const last = owners.find((owner) => isSameOwner(owner, applier));
  const others = owners.filter((owner) => owner !== last);

  const merged = mergeApplied(base, wanted, schema);
  const pruned = pruneDroppedFields({
    merged,
    last,
    stated: unionOf(stated, UNOWNED_FIELDS),
    others,
    schema,
    apiVersion,
    versions,
  });
  const changes = new ChangesByVersion(base, pruned, schema, apiVersion, versions);
  refuseConflicts(request, others, changes, schema);

  const result = withLastApplied(request, pruned);
  const remaining = others.map((owner) => {
    const { changed, removed } = changes.for(owner);
    return withFields(owner, differenceOf(differenceOf(owner.fields, changed), removed));
  });
  // The order of a list may change although none of its elements does.
  const isSame = changes.own.changed === undefined && changes.own.removed === undefined && equalJson(base, pruned);
  const ownsTheSame = equalJson(last?.fields, fields) && (last === undefined || last.apiVersion === apiVersion);
  // Applying the current state changes no time and writes nothing.
  if (
    live &&
    isSame &&
    result === pruned &&
    ownsTheSame &&
    remaining.every((owner, index) => owner === others[index] && owner.entry !== undefined)
  )
    return live;
  const current =
    isSame && ownsTheSame && last ? last : isSame ? { ...applier, time: last?.time } : withTime(applier, request.time);
  return withManagedFields(result, encodeOwners([...remaining, current]));
}

/**
 * Fields that the endpoint does not write are neither merged nor owned: the status on most endpoints, everything besides
 * the status and metadata on the status subresource.
 */
function writtenBy(
  { subresource = "", hidesStatus, keptByStatus = "all" }: ApplyRequest,
  applied: JsonObject,
): JsonObject {
  if (subresource === "status") {
    const { status, metadata } = applied;
    const isKept = (field: string): boolean => keptByStatus === "all" || keptByStatus.includes(field);
    const written = isObject(metadata) ? Object.entries(metadata).filter(([field]) => !isKept(field)) : [];
    return defined({ metadata: written.length > 0 ? Object.fromEntries(written) : undefined, status });
  }
  if (!hidesStatus || applied["status"] === undefined) return applied;
  const { status: _status, ...written } = applied;
  return written;
}

/** The current owners. An object without managed fields belongs as a whole to before-first-apply. */
function ownersOf(request: ApplyRequest, base: JsonObject, schema: Schema): Owner[] {
  const { live, apiVersion, subresource = "", time, builtIn, versions, hidesStatus } = request;
  if (!live) return [];
  const owners = decodeOwners(managedFieldsOf(live), { fromClient: false }) ?? [];
  if (owners.length > 0) return [...knownOwners(owners, apiVersion, versions)];
  const all = ownable(compareFields(emptyObject(schema, builtIn === true), base, schema).changed);
  const fields = all && withoutField(all, subresource === "status" ? "f:spec" : hidesStatus ? "f:status" : "");
  return fields ? [{ manager: BEFORE_FIRST_APPLY, operation: "Update", apiVersion, subresource, time, fields }] : [];
}

function withoutField(set: FieldSet, field: string): FieldSet | undefined {
  if (!Object.hasOwn(set, field)) return set;
  const { [field]: _field, ...rest } = set;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

interface Conflict {
  readonly owner: Owner;
  readonly fields: FieldSet;
}

function refuseConflicts(
  request: ApplyRequest,
  others: readonly Owner[],
  changes: ChangesByVersion,
  schema: Schema,
): void {
  if (request.force) return;
  const allowed = request.manager === KUBECTL ? lastAppliedFields(request.live, schema) : undefined;
  const conflicts: Conflict[] = [];
  for (const owner of others) {
    const fields = differenceOf(intersectionOf(owner.fields, changes.for(owner).changed), allowed);
    if (fields) conflicts.push({ owner, fields });
  }
  if (conflicts.length === 0) return;
  conflicts.sort((a, b) => (identityOf(a.owner) < identityOf(b.owner) ? -1 : 1));
  throw conflictError(conflicts);
}

function conflictError(conflicts: readonly Conflict[]): Error {
  const causes = conflicts.flatMap(({ owner, fields }) =>
    [...membersOf(fields)].map((field) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${describe(owner)}`,
      field,
    })),
  );
  const [first] = causes;
  if (causes.length === 1 && first)
    return applyConflict(`Apply failed with 1 conflict: ${first.message}: ${first.field}`, causes);
  const texts = conflicts.map(
    ({ owner, fields }) =>
      `conflicts with ${describe(owner)}:\n${[...membersOf(fields)].map((field) => `- ${field}`).join("\n")}`,
  );
  return applyConflict(`Apply failed with ${causes.length} conflicts: ${texts.join("\n")}`, causes);
}

function describe({ manager, operation, apiVersion, subresource }: Owner): string {
  return (
    `${JSON.stringify(manager)}${subresource ? ` with subresource ${JSON.stringify(subresource)}` : ""}` +
    (operation === "Update" ? ` using ${apiVersion}` : "")
  );
}

function lastAppliedOf(object: JsonObject | undefined): string | undefined {
  const metadata = object?.["metadata"];
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  const text = isObject(annotations) ? annotations[LAST_APPLIED_ANNOTATION] : undefined;
  return typeof text === "string" ? text : undefined;
}

/** The fields that client-side apply set and that still have their applied value. */
function lastAppliedFields(live: JsonObject | undefined, schema: Schema): FieldSet | undefined {
  const text = lastAppliedOf(live);
  const applied = text === undefined ? undefined : parseObject(text);
  if (!live || !applied) return undefined;
  const { changed, removed } = compareFields(applied, stripManagedFields(live), schema);
  return differenceOf(differenceOf(fieldSetOf(applied, schema), changed), removed);
}

/** kubectl may return to client-side apply, so its last-applied annotation is kept up to date where it exists. */
function withLastApplied({ live, applied, manager, subresource = "" }: ApplyRequest, result: JsonObject): JsonObject {
  if (manager !== KUBECTL || subresource !== "" || !lastAppliedOf(live)) return result;
  const metadata = isObject(result["metadata"]) ? result["metadata"] : {};
  const annotations = isObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const text = `${JSON.stringify(applied, sortKeys)}\n`;
  const { [LAST_APPLIED_ANNOTATION]: _before, ...others } = annotations;
  return {
    ...result,
    metadata: {
      ...metadata,
      annotations: text.length > MAX_ANNOTATIONS_BYTES ? others : { ...annotations, [LAST_APPLIED_ANNOTATION]: text },
    },
  };
}

function sortKeys(key: string, value: Json): Json | undefined {
  if (key === LAST_APPLIED_ANNOTATION) return undefined;
  if (!isObject(value)) return value;
  const sorted: JsonObject = {};
  for (const name of Object.keys(value).sort()) setOwn(sorted, name, value[name]);
  return sorted;
}

/** An annotation without a JSON object allows nothing; any user may write annotations, so that is not an error. */
function parseObject(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
