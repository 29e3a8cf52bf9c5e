/**
 * Which logical clusters are simulated members. Clusters of other profiles are plain API servers: whoever made them
 * brings their controllers.
 */
import type { ApiServer } from "../../apiserver/index.ts";

/** More than can end while the informers have not yet heard of the first. */
const MAX_ENDED_CLUSTERS = 1024;

export interface SimulatedClusters {
  /** What was known of a cluster holds while its end is told. */
  isSimulated(cluster: string): boolean;
  /** Simulated, and there now. */
  isMember(cluster: string): boolean;
  /** Calls back with clusters that were deleted so long ago that nothing refers to them any more. */
  onForgotten(listener: (cluster: string) => void): void;
}

export function createSimulatedClusters(server: Pick<ApiServer, "profileOf" | "onClusterGone">): SimulatedClusters {
  const listeners: ((cluster: string) => void)[] = [];
  const simulated = new Map<string, boolean>();
  // The end of a cluster is told after it came, and its Works outlive it by a little: the last ones stay known.
  const ended = new Set<string>();
  server.onClusterGone((cluster) => {
    ended.delete(cluster);
    ended.add(cluster);
    const [oldest = ""] = ended;
    if (ended.size <= MAX_ENDED_CLUSTERS) return;
    ended.delete(oldest);
    // One that was made again under its name is no longer ended.
    if (server.profileOf(oldest) !== undefined) return;
    simulated.delete(oldest);
    for (const listener of listeners) listener(oldest);
  });

  const isSimulated = (cluster: string): boolean => {
    const profile = server.profileOf(cluster);
    if (profile !== undefined) simulated.set(cluster, profile === "member" || profile === "member-bare");
    return simulated.get(cluster) ?? false;
  };
  return {
    isSimulated,
    isMember: (cluster) => server.profileOf(cluster) !== undefined && isSimulated(cluster),
    onForgotten: (listener) => void listeners.push(listener),
  };
}
