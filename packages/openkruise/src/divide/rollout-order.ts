/**
 * The order in which a partitioned rollout proceeds through the clusters. The user sets it on the template:
 *
 * - `flotilla.dev/rollout-order: spread` (the default): every cluster proceeds in proportion to its size.
 * - `flotilla.dev/rollout-order: ordered`: one cluster after another, in the order of the binding's targets.
 * - `flotilla.dev/rollout-order: canary`: first the clusters that `flotilla.dev/canary-clusters` names, one after
 * another in the order of the targets, then all others in proportion.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { DivideError } from "./divide-error.ts";
import type { Share } from "@flotilla/kubernetes";
import type { UpdateOrder } from "./split-partition.ts";
import { CANARY_CLUSTERS, ROLLOUT_ORDER } from "./rollout-annotations.ts";

type Annotated = DeepReadonly<KubernetesObject>;

/**
 * `hold` when no canary is among the targets: a typo in the list or a lost canary must not start the rollout on
 * arbitrary clusters.
 */
export type RolloutOrder = UpdateOrder | "hold";

/** Throws DivideError for an unknown value. */
export function rolloutOrderOf(object: Annotated, shares: readonly Share[]): RolloutOrder {
  const asked = object.metadata.annotations?.[ROLLOUT_ORDER] ?? "spread";
  if (asked === "spread" || asked === "ordered") return asked;
  if (asked !== "canary")
    throw new DivideError(
      `${doing(object)}: annotation ${ROLLOUT_ORDER} is ${JSON.stringify(asked)}; it must be spread, ordered or canary`,
    );
  const names = new Set((object.metadata.annotations?.[CANARY_CLUSTERS] ?? "").split(",").map((name) => name.trim()));
  names.delete("");
  if (names.size === 0)
    throw new DivideError(
      `${doing(object)}: annotation ${ROLLOUT_ORDER} is canary, so ${CANARY_CLUSTERS} must name the clusters that are updated first`,
    );
  const canaries = shares.map(({ cluster }) => names.has(cluster));
  return canaries.includes(true) ? { canaries } : "hold";
}

/** For kinds that are updated by ordinal: they cannot follow another order. */
export function rejectRolloutOrder(object: Annotated): void {
  const asked = object.metadata.annotations?.[ROLLOUT_ORDER];
  if (asked === undefined || asked === "spread") return;
  throw new DivideError(
    `${doing(object)}: annotation ${ROLLOUT_ORDER} is ${JSON.stringify(asked)}, but a ${object.kind} is ` +
      "updated from its highest ordinal down, on any cluster; remove the annotation",
  );
}

export const doing = ({ kind, metadata }: Annotated): string => `dividing ${kind} ${metadata.name}`;
