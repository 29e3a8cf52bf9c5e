/**
 * Ownership across the versions of a kind. A field set is stated in the version in which its owner wrote, so the
 * changes of a write are computed in that version too. Owners with an unknown version are dropped.
 */
import type { JsonObject } from "@flotilla/base";
import { compareFields, type FieldChanges } from "./field-compare.ts";
import type { Owner } from "./managed-fields-entries.ts";
import { withObjectMeta } from "../object-meta-schema.ts";
import type { Schema } from "../schema.ts";

/** Another version of the kind, and conversion to it. */
export interface OtherVersion {
  readonly schema: Schema;
  /** Converts an object from the request's version to this one. */
  fromRequest(object: JsonObject): JsonObject;
  toRequest(object: JsonObject): JsonObject;
}

/** The version with that name; undefined when it is unknown. */
export type OtherVersions = (apiVersion: string) => OtherVersion | undefined;

/** The owners whose version is known; all owners without `versions`. */
export function knownOwners(
  owners: readonly Owner[],
  apiVersion: string,
  versions: OtherVersions | undefined,
): readonly Owner[] {
  if (!versions || owners.every((owner) => owner.apiVersion === apiVersion)) return owners;
  return owners.filter((owner) => owner.apiVersion === apiVersion || versions(owner.apiVersion) !== undefined);
}

/** The changes between two objects, in each owner's version. */
export class ChangesByVersion {
  readonly own: FieldChanges;
  readonly #apiVersion: string;
  readonly #before: JsonObject;
  readonly #after: JsonObject;
  readonly #versions: OtherVersions | undefined;
  #others: Map<string, FieldChanges> | undefined;

  constructor(
    before: JsonObject,
    after: JsonObject,
    schema: Schema,
    apiVersion: string,
    versions: OtherVersions | undefined,
  ) {
    this.own = compareFields(before, after, schema);
    this.#apiVersion = apiVersion;
    this.#before = before;
    this.#after = after;
    this.#versions = versions;
  }

  for({ apiVersion }: Owner): FieldChanges {
    if (apiVersion === this.#apiVersion || !this.#versions) return this.own;
    const known = this.#others?.get(apiVersion);
    if (known) return known;
    const version = this.#versions(apiVersion);
    const changes = version
      ? compareFields(
          version.fromRequest(this.#before),
          version.fromRequest(this.#after),
          withObjectMeta(version.schema),
        )
      : this.own;
    (this.#others ??= new Map()).set(apiVersion, changes);
    return changes;
  }
}
