/** The releases of a template that a strategy leads, as the hub's store has them. */
import type { FleetRollout } from "@flotilla/flotilla";
import { NAMESPACE, TARGETS } from "../manifests.ts";
import type { StoreView } from "../store-view.ts";
import type { ReleasedKind } from "./draw-release.ts";

export const ROLLOUTS = "/flotilla.dev/fleetrollouts/hub/";

/** The newest first. Those of a template that was deleted do not count. */
export function releasesOf(hub: StoreView, kind: ReleasedKind): FleetRollout[] {
  const { table, path } = TARGETS[kind];
  const uid = hub.get(`${table}hub/${path}`)?.metadata.uid;
  return hub
    .list(`${ROLLOUTS}${NAMESPACE}/`)
    .map((object) => object as FleetRollout)
    .filter(({ spec }) => spec.source === "Strategy" && spec.target.kind === kind && spec.target.uid === uid)
    .toSorted((a, b) => b.spec.number - a.spec.number);
}

/** The image of a pod template, as a FleetRollout keeps it. */
export function imageOfRelease({ spec }: FleetRollout): string {
  const part = spec.template as { spec?: { containers?: { image?: string }[] } } | undefined;
  return part?.spec?.containers?.[0]?.image ?? "";
}
