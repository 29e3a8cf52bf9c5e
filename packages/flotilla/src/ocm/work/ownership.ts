/** Which objects on a member are deleted with the work, and which objects an earlier version of the work had. */
import type {
  AppliedManifestResourceMeta,
  DeleteOption,
  ResourceIdentifier as ManifestResourceIdentifier,
} from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

type Identifier = Pick<DeepReadonly<ManifestResourceIdentifier>, "group" | "resource" | "namespace" | "name">;

/** Whether an object is deleted with the work. An orphaned object stays, and has no owner reference to the work. */
export function isOwned(identifier: Identifier, deleteOption: DeepReadonly<DeleteOption> | undefined): boolean {
  if (deleteOption?.propagationPolicy === "Foreground") return true;
  if (deleteOption?.propagationPolicy === "Orphan") return false;
  return !(deleteOption?.selectivelyOrphans?.orphaningRules ?? []).some((rule) => keyOf(rule) === keyOf(identifier));
}

/**
 * Objects that were applied for an earlier version of the work and are no longer part of it. Another API version is
 * only another view of the same object.
 */
export function untracked(
  before: readonly DeepReadonly<AppliedManifestResourceMeta>[],
  now: readonly DeepReadonly<AppliedManifestResourceMeta>[],
): DeepReadonly<AppliedManifestResourceMeta>[] {
  const tracked = new Set(now.map(keyOf));
  return before.filter((resource) => !tracked.has(keyOf(resource)));
}

const keyOf = ({ group = "", resource, namespace = "", name }: Identifier): string =>
  `${group}/${resource}/${namespace}/${name}`;
