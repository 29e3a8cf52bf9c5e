/**
 * Ownership of an object on a member: how the object records its owner, who may change it, and what happens to it when
 * its owner gives it up. Pure: delivery carries the decisions out.
 *
 * Two models implement it. Karmada's Works mark an object with labels and annotations (`marks-ownership.ts`), and OCM's
 * ManifestWorks hold it by owner references (`references-ownership.ts`). An object has one model: the first one keeps
 * it, and the other reports a conflict.
 */
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Takeover } from "./plan-takeover.ts";

type Manifest = DeepReadonly<KubernetesObject>;
export type References = readonly DeepReadonly<OwnerReference>[];

/**
 * `apply` is server-side apply, `update` a PUT of the merged object as Karmada does, `create-only` never changes an
 * existing object, `read-only` writes nothing.
 */
export type ApplyMode = "apply" | "update" | "create-only" | "read-only";

export interface Ownership {
  /**
   * The object may exist before, and have several owners: a first delivery need not require its absence, and every
   * write names the field manager of its policy.
   */
  readonly isShared: boolean;
  /** The manifest with the records by which a later reconcile recognizes its delivery. */
  stamp(manifest: Manifest, mode: ApplyMode): Manifest;
  /** Whether this owner delivered the object before: then a difference is drift. */
  hasDelivered(observed: Manifest): boolean;
  /** Why an existing object may not be changed; undefined when it may. */
  conflictWith(observed: Manifest, desired: Manifest, context: ConflictContext): string | undefined;
  /** The desired object with the owners that it has on the member; all of them, as an apply removes omitted ones. */
  withOwners(desired: Manifest, observed?: Manifest): Manifest;
  /** The owner references that the object lacks or has too many of, as a whole list; undefined when it has them. */
  missingReferences(observed: Manifest): References | undefined;
  /** How the first apply treats the fields of other managers. */
  takeover(observed: Manifest): Pick<Takeover, "isAdopted" | "predecessors">;
  planRemoval(observed: Manifest, removal: RemovalRequest): RemovalPlan;
}

interface ConflictContext {
  cluster: string;
  mode: ApplyMode;
}

export interface RemovalRequest {
  /** `delete` deletes an object without other owners; `release` leaves it running without our records. */
  mode: "delete" | "release";
  /** With `release`: the same owner may reclaim it later. */
  mayReturn?: boolean;
  /** Excludes another object with the same name. */
  uid?: string;
}

export type RemovalPlan = "leave" | "delete" | { patch: Json };
