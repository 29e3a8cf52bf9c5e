/** Removes fields that an applier owned and no longer applies, unless another manager owns them. */
import type { JsonObject } from "@flotilla/base";
import { removeFields } from "./apply-merge.ts";
import { differenceOf, intersectionOf, unionOf, type FieldSet } from "./field-set.ts";
import { fieldSetOf, withNamedFields } from "./field-set-of.ts";
import type { OtherVersion, OtherVersions } from "./field-versions.ts";
import type { Owner } from "./managed-fields-entries.ts";
import { withObjectMeta } from "../object-meta-schema.ts";
import type { Schema } from "../schema.ts";

export interface PruneInput {
  /** The live object with the configuration merged over it. */
  merged: JsonObject;
  /** The applier's ownership before this apply. */
  last: Owner | undefined;
  /** The fields it applies now, including those that identify the object. */
  stated: FieldSet | undefined;
  others: readonly Owner[];
  schema: Schema;
  apiVersion: string;
  versions: OtherVersions | undefined;
}

export function pruneDroppedFields(abandonment: PruneInput): JsonObject {
  const { merged, last, stated, others, schema, apiVersion, versions } = abandonment;
  const lastVersion = last && last.apiVersion !== apiVersion ? versions?.(last.apiVersion) : undefined;
  const isPlain = lastVersion === undefined && (!versions || others.every((owner) => owner.apiVersion === apiVersion));
  if (!isPlain) return last ? removeAcrossVersions(abandonment, last, lastVersion) : merged;
  // The usual case: everything that was owned is applied again.
  if (differenceOf(last?.fields, stated) === undefined) return merged;
  const owned = others.reduce((all, owner) => unionOf(all, owner.fields), stated);
  return withoutDangling(
    merged,
    keepOwned(merged, removeFields(merged, withNamedFields(last?.fields, schema), schema), owned, schema),
    last?.fields,
    schema,
  );
}

/** Without the removed fields, but with fields that still have an owner, even inside removed ones. */
function keepOwned(merged: JsonObject, pruned: JsonObject, owned: FieldSet | undefined, schema: Schema): JsonObject {
  return removeFields(
    merged,
    differenceOf(present(merged, schema), unionOf(present(pruned, schema), withNamedFields(owned, schema))),
    schema,
  );
}

/** Fields without an owner stay as well, unless they are inside a removed field. */
function withoutDangling(
  merged: JsonObject,
  pruned: JsonObject,
  last: FieldSet | undefined,
  schema: Schema,
): JsonObject {
  return removeFields(
    merged,
    intersectionOf(differenceOf(present(merged, schema), present(pruned, schema)), withNamedFields(last, schema)),
    schema,
  );
}

const present = (object: JsonObject, schema: Schema): FieldSet | undefined =>
  withNamedFields(fieldSetOf(object, schema), schema);

/** The same for owners in other versions: each keeps its fields in its own version. */
function removeAcrossVersions(input: PruneInput, last: Owner, lastVersion: OtherVersion | undefined): JsonObject {
  const { merged, stated, others, schema, apiVersion, versions } = input;
  const own: OtherVersion = { schema, fromRequest: (object) => object, toRequest: (object) => object };
  const home = lastVersion ?? own;
  const homeSchema = lastVersion ? withObjectMeta(lastVersion.schema) : schema;
  const inHome = home.fromRequest(merged);
  const owned = new Map<string, FieldSet | undefined>([[apiVersion, stated]]);
  for (const owner of others) owned.set(owner.apiVersion, unionOf(owned.get(owner.apiVersion), owner.fields));
  let pruned = home.toRequest(removeFields(inHome, withNamedFields(last.fields, homeSchema), homeSchema));
  // Fields that a conversion needs are restored first.
  const order = [...owned.keys()].sort((a, b) => Number(b === last.apiVersion) - Number(a === last.apiVersion));
  for (const name of order) {
    const version = name === apiVersion ? own : versions?.(name);
    if (!version) continue;
    const versionSchema = version === own ? schema : withObjectMeta(version.schema);
    pruned = version.toRequest(
      keepOwned(version.fromRequest(merged), version.fromRequest(pruned), owned.get(name), versionSchema),
    );
  }
  return home.toRequest(withoutDangling(inHome, home.fromRequest(pruned), last.fields, homeSchema));
}
