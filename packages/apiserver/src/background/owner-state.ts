/** The state of an owner as seen from its dependent. */
import { gvkOf } from "@flotilla/apimachinery";
import type { OwnerReference } from "@flotilla/apimachinery";
import { metadataOf } from "../codec/metadata.ts";
import { keyOf, memoized } from "../resources/resources.ts";
import type { OwnPlace } from "../write/own-request.ts";
import type { Housekeeping } from "./housekeeping.ts";
import type { OwnerIndex } from "./owner-index.ts";
import { isStoredIntact, isWaiting } from "./ownership.ts";

/** It exists, it waits for the dependent's deletion, or it does not exist. */
export type OwnerState = "solid" | "waiting" | "absent";

/** Where a dependent is. */
export interface DependentPlace extends Pick<OwnPlace, "cluster" | "namespace"> {
  readonly resource: Pick<OwnPlace["resource"], "namespaced">;
}

export function createOwnerStates(
  housekeeping: Pick<Housekeeping, "locate" | "entryAt" | "find">,
  index: Pick<OwnerIndex, "wasDeleted" | "isWaiting">,
): (
  place: DependentPlace,
  owner: OwnerReference,
  /** Whether another server says that it does not have this owner. */
  isGoneElsewhere?: (owner: OwnerReference) => boolean,
) => OwnerState {
  return ({ cluster, resource, namespace }, owner, isGoneElsewhere) => {
    const { group, kind } = gvkOf(owner);
    const kinds = memoized(
      cluster.table,
      "resources by kind",
      () => new Map(cluster.table.resources.map((served) => [`${served.kind.group}/${served.kind.kind}`, served])),
    );
    const ownerResource = kinds.get(`${group}/${kind}`);
    // A kind that is not served may come back. Nothing is deleted because of an owner that cannot be read, unless its
    // deletion was observed.
    if (!ownerResource)
      return index.wasDeleted(cluster.name, owner.uid) || isGoneElsewhere?.(owner)
        ? "absent"
        : index.isWaiting(cluster.name, owner, namespace)
          ? "waiting"
          : "solid";
    if (ownerResource.namespaced && !resource.namespaced) return "solid";
    const ownerKey = keyOf(ownerResource, cluster.name, namespace, owner.name);
    const place = housekeeping.locate(ownerKey);
    const entry = place && housekeeping.entryAt(place, ownerKey);
    // Most owners are unparsed when a server starts, and their bytes are sufficient: the owner exists and is not being
    // deleted.
    if (entry && entry.revision > 0 && isStoredIntact(entry, owner.uid)) return "solid";
    const current = housekeeping.find(ownerKey);
    if (!current || metadataOf(current.object).uid !== owner.uid) return "absent";
    return isWaiting(metadataOf(current.object)) ? "waiting" : "solid";
  };
}
