/**
 * Tracks which logical clusters are simulated members. Clusters of other profiles are plain API servers: their users
 * run the controllers.
 */
import type { ApiServer } from "@flotilla/apiserver";
import { kruiseKinds } from "@flotilla/openkruise";
import { KRUISE_MANAGER } from "./foreign-programs.ts";
import { isSimulatedProfile } from "./profiles.ts";

/** More than can be deleted before the informers are notified of the first. */
const MAX_ENDED_CLUSTERS = 1024;

export interface SimulatedClusters {
  /** Remains true while a cluster's deletion is propagated. */
  isSimulated(cluster: string): boolean;
  /** Simulated, and existing now. */
  isMember(cluster: string): boolean;
  /**
   * Flotilla's OpenKruise runs on a simulated member as soon as the member serves one of its kinds, unless the member
   * runs a kruise-manager of its own.
   */
  runsKruise(cluster: string): boolean;
  /** Calls back with clusters that were deleted so long ago that nothing refers to them any more. */
  onForgotten(listener: (cluster: string) => void): void;
}

export function createSimulatedClusters(
  server: Pick<ApiServer, "profileOf" | "onClusterGone" | "isManagedElsewhere" | "serves">,
): SimulatedClusters {
  const listeners: ((cluster: string) => void)[] = [];
  const simulated = new Map<string, boolean>();
  // Informers are notified of a cluster's deletion after it happened, and its Works outlive it briefly: the last ones
  // stay known.
  const ended = new Set<string>();
  server.onClusterGone((cluster) => {
    ended.delete(cluster);
    ended.add(cluster);
    const [oldest = ""] = ended;
    if (ended.size <= MAX_ENDED_CLUSTERS) return;
    ended.delete(oldest);
    // A cluster that was recreated under its name is no longer deleted.
    if (server.profileOf(oldest) !== undefined) return;
    simulated.delete(oldest);
    for (const listener of listeners) listener(oldest);
  });

  const isSimulated = (cluster: string): boolean => {
    const profile = server.profileOf(cluster);
    if (profile !== undefined) simulated.set(cluster, isSimulatedProfile(profile));
    return simulated.get(cluster) ?? false;
  };
  return {
    isSimulated,
    isMember: (cluster) => server.profileOf(cluster) !== undefined && isSimulated(cluster),
    runsKruise: (cluster) =>
      isSimulated(cluster) &&
      !server.isManagedElsewhere(cluster, KRUISE_MANAGER) &&
      kruiseKinds.some(({ group, plural }) => server.serves(cluster, group, plural)),
    onForgotten: (listener) => void listeners.push(listener),
  };
}
