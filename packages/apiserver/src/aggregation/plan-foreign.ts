/**
 * What garbage collection does with one object of an aggregated server. Pure. The rules are those for stored objects, but for
 * objects that own each other: where a stored one stops blocking the deletion of its owners and is deleted after its own
 * dependents, one of an aggregated server is deleted without waiting for them.
 */
import type { OwnerReference } from "@flotilla/apimachinery";
import type { OwnerState } from "../background/owner-state.ts";
import { propagationOf, refersTo } from "../background/ownership.ts";
import type { ForeignOwner } from "../background/ownership.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../write/delete.ts";
import type { Propagation } from "../write/delete-options.ts";
import type { ForeignObject } from "./foreign-object.ts";

export type ForeignAction =
  | { readonly type: "delete"; readonly propagation: Propagation }
  | { readonly type: "setOwners"; readonly owners: readonly OwnerReference[] };

/** Undefined when the object stays as it is. `states` are those of its owners, in their order. */
export function planDependent(
  { owners, finalizers, isDeleting }: Pick<ForeignObject, "owners" | "finalizers" | "isDeleting">,
  states: readonly OwnerState[],
  /** Of this object. */
  dependents: { readonly exist: boolean; readonly someWait: boolean },
): ForeignAction | undefined {
  if (isDeleting || owners.length === 0) return undefined;
  const solid = owners.filter((_, at) => states[at] === "solid");
  if (solid.length === owners.length) return undefined;
  if (solid.length > 0) return { type: "setOwners", owners: solid };
  // Objects that own each other would wait for each other forever.
  const deletesDependentsFirst = states.includes("waiting") && dependents.exist && !dependents.someWait;
  return { type: "delete", propagation: deletesDependentsFirst ? "Foreground" : propagationOf(finalizers) };
}

/** What the deletion of an object waits for. */
export function waitsFor({
  isDeleting,
  finalizers,
}: Pick<ForeignObject, "finalizers" | "isDeleting">): "orphaning" | "dependents" | undefined {
  if (!isDeleting) return undefined;
  if (finalizers.includes(ORPHAN_FINALIZER)) return "orphaning";
  return finalizers.includes(FOREGROUND_FINALIZER) ? "dependents" : undefined;
}

export const blocks = (
  { owners, namespace }: Pick<ForeignObject, "owners" | "namespace">,
  owner: ForeignOwner,
): boolean =>
  owners.some((reference) => reference.blockOwnerDeletion === true && refersTo(reference, namespace, owner));
