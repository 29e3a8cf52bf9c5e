/** Which objects on a member go with the work, and which objects a work once had. */
import type { AppliedManifestResourceMeta, DeleteOption, ManifestResourceIdentifier } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";

type Identifier = Pick<DeepReadonly<ManifestResourceIdentifier>, "group" | "resource" | "namespace" | "name">;

/** Whether an object is deleted with the work. An orphan stays, and does not name the work as its owner. */
export function isOwned(identifier: Identifier, deleteOption: DeepReadonly<DeleteOption> | undefined): boolean {
  if (deleteOption?.propagationPolicy === "Foreground") return true;
  if (deleteOption?.propagationPolicy === "Orphan") return false;
  return !(deleteOption?.selectivelyOrphans?.orphaningRules ?? []).some((rule) => keyOf(rule) === keyOf(identifier));
}

/**
 * Objects that were applied for an earlier form of the work and are not part of it any more. A version is only another
 * view of the same object.
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
