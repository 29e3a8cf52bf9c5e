/**
 * The network between a hub and its simulated members, which users cut with an annotation on the hub's Cluster or
 * ManagedCluster. A member that is cut off keeps running; only the traffic between it and the hub is lost
 * (`hub-to-members.ts`, `members-to-hub.ts`).
 *
 * Reads: Cluster and ManagedCluster of the hub.
 * Writes: an event for an annotation without effect; nothing else.
 */
import { Cluster } from "@flotilla/karmada";
import { ManagedCluster } from "@flotilla/ocm";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Log } from "@flotilla/base";
import type { EventRecorder, Informers } from "@flotilla/controller-runtime";
import { faultOf, FAULT } from "../annotations.ts";
import { planProblemEvents } from "../annotation-problems.ts";

export interface MemberNetwork {
  /** Whether the hub cannot reach this member and vice versa. */
  isCut(cluster: string): boolean;
  /** Whether any member is cut off. */
  hasCuts(): boolean;
  /** Notifies about every member that is cut off or back, until the returned function is called. */
  onChange(listener: (cluster: string, isCut: boolean) => void): () => void;
}

export interface MemberNetworkOptions {
  hub: string;
  /** The informers of the hub. */
  informers: Informers;
  /** Only simulated members can be cut off. */
  isSimulated(cluster: string): boolean;
  events: EventRecorder;
  log: Log;
}

export function createMemberNetwork(options: MemberNetworkOptions): MemberNetwork {
  const { hub, informers, isSimulated, events, log } = options;
  const cut = new Set<string>();
  const listeners = new Set<(cluster: string, isCut: boolean) => void>();
  // Cluster and ManagedCluster represent the same member, so an annotation on one of them is enough.
  const apis = [informers.of<KubernetesObject>(Cluster), informers.of<KubernetesObject>(ManagedCluster)];

  function follow(name: string): void {
    const isCut = apis.some((face) => {
      const object = face.get({ cluster: hub, name });
      return object !== undefined && isUnreachable(object);
    });
    if (isCut === cut.has(name)) return;
    if (isCut) cut.add(name);
    else cut.delete(name);
    log.info(isCut ? "simulated member cut off" : "simulated member back", { member: name });
    for (const listener of listeners) listener(name, isCut);
  }

  for (const face of apis) {
    face.subscribe(({ object, old, deleted }, lane) => {
      const { name } = object.metadata;
      follow(name);
      if (deleted || lane === "resync") return;
      for (const event of planProblemEvents(object, old, "Cluster")) events.record(hub, object, event);
      if (isUnreachable(object) && !(old && isUnreachable(old)) && !isSimulated(name)) {
        events.record(hub, object, {
          type: "Warning",
          reason: "InvalidSimulation",
          message: `annotation ${FAULT}: "unreachable" is ignored: only simulated members can be cut off`,
        });
      }
    });
  }

  return {
    isCut: (cluster) => cut.size > 0 && cut.has(cluster),
    hasCuts: () => cut.size > 0,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const isUnreachable = (object: DeepReadonly<KubernetesObject>): boolean => faultOf(object) === "unreachable";
