/** What a Rollout changes of a release that it leads and that has begun. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { Rollout as KruiseRollout } from "@flotilla/openkruise";
import type { FleetRollout } from "../kinds/fleet-rollout.ts";
import { isForMembers } from "./lead-release.ts";

type Release = DeepReadonly<FleetRollout>;
type Lead = DeepReadonly<KruiseRollout>;

/**
 * The release as its Rollout steers it: it pauses it, and a release whose Rollout is disabled or deleted is completed
 * without further waiting, as upstream does. `lead`: the Rollout that the release names, if it exists.
 */
export function steered(release: Release, lead: Lead | undefined): Release {
  const { rolloutName, paused, promotions } = release.spec;
  if (rolloutName === undefined || (lead && isForMembers(lead))) return release;
  if (lead && lead.metadata.deletionTimestamp === undefined && !lead.spec.disabled)
    return lead.spec.strategy.paused && !paused ? { ...release, spec: { ...release.spec, paused: true } } : release;
  return promotions?.includes("*")
    ? release
    : { ...release, spec: { ...release.spec, promotions: [...(promotions ?? []), "*"] } };
}
