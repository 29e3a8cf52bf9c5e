/** Reports a change of a cluster's acceptance or availability: in the log, and as an event. */
import type { Log } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { accepted, AVAILABLE, denied, HUB_ACCEPTED, silent, type Read } from "../cluster-conditions.ts";

export function reportClusterChange(
  { hub, events, log }: { hub: string; events: EventRecorder; log: Log },
  cluster: Read,
  next: readonly { type: string; status: string; reason?: string }[],
  isReached: boolean,
): void {
  const changed = (type: string): string | undefined => {
    const [before, now] = [cluster.status?.conditions, next].map(
      (conditions) => findCondition(conditions, type)?.reason,
    );
    return before === now ? undefined : now;
  };
  const { name } = cluster.metadata;
  const [acceptance, availability] = [HUB_ACCEPTED, AVAILABLE].map(changed);
  if (acceptance ?? availability)
    log.info("managed cluster changed", {
      member: name,
      acceptance: acceptance || undefined,
      availability: availability || undefined,
    });
  if (acceptance === denied.reason)
    events.record(hub, cluster, {
      type: "Normal",
      reason: "ManagedClusterDenied",
      message: `managed cluster ${name} is denied by hub cluster admin`,
    });
  if (acceptance === accepted.reason && !isReached)
    events.record(hub, cluster, {
      type: "Normal",
      reason: "ManagedClusterAccepted",
      message: `managed cluster ${name} is accepted by hub cluster admin`,
    });
  if (availability === silent.reason && !isReached)
    events.record(hub, cluster, {
      type: "Warning",
      reason: "AvailableUnknown",
      message: `The ${name} is successfully imported. However, the connection check from the managed cluster to the hub cluster has failed`,
    });
}
