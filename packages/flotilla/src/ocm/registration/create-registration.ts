/**
 * Wires registration on the hub, and the controllers that sync Cluster and ManagedCluster of a member, to informers and
 * clients.
 */
import { ManagedCluster, ManagedClusterSet } from "@flotilla/ocm";
import type { Cluster } from "@flotilla/karmada";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Controller, EventRecorders, Informers } from "@flotilla/controller-runtime";
import { createClusterPairingController } from "../pairing/cluster-pairing-controller.ts";
import { createMemberClaims } from "../pairing/member-claims.ts";
import { createCertificateController } from "./certificate-controller.ts";
import { createClusterSets } from "./cluster-sets.ts";
import { createLeaving, type ClusterRemovalMode } from "./leaving.ts";
import { createManagedClusterController } from "./managed-cluster-controller.ts";
import { createSetBindingController } from "./set-binding-controller.ts";
import { createSetController } from "./set-controller.ts";
import { createSharedRolesController } from "./shared-roles-controller.ts";

/** Karmada's view of the members. */
export interface MemberViews {
  /** The informers that members share which serve every kind of ours; unset where there are none. */
  sharedInformers?: Informers | undefined;
  /** The informers of a member that the hub reaches; undefined while it is not connected. */
  informersOf(cluster: string): Informers | undefined;
  /** What happens to a member's workloads when it is unjoined. */
  leaveModeOf(cluster: DeepReadonly<Cluster>): ClusterRemovalMode;
}

export interface RegistrationOptions {
  hub: string;
  informers: Informers;
  clientFor(part: string): Client;
  events: EventRecorders;
  clock: Clock;
  members: MemberViews;
  /** The bootstrap users whose first certificate is approved automatically; unset approves none. */
  autoApprovedUsers?: readonly string[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
export function createRegistration(options: RegistrationOptions): Controller<any>[] {
  const { hub, informers, clientFor, events, clock, members, autoApprovedUsers = [] } = options;
  const client = clientFor("registration");
  const recorder = events("flotilla-registration");
  const sets = createClusterSets({
    hub,
    sets: informers.of(ManagedClusterSet),
    clusters: informers.of(ManagedCluster),
  });
  const claims = createMemberClaims({ hub, informers, members });
  const leaving = createLeaving({ hub, informers, client, events: recorder, clock, leaveModeOf: members.leaveModeOf });
  return [
    createManagedClusterController({
      hub,
      informers,
      client,
      events: recorder,
      clock,
      sets,
      leaving,
      claims,
      acceptsAll: autoApprovedUsers.length > 0,
    }),
    createClusterPairingController({ hub, informers, client: clientFor("apis") }),
    createSetController({ hub, informers, client: clientFor("cluster-sets"), events: recorder, clock, sets }),
    createSetBindingController({ hub, informers, client: clientFor("cluster-sets"), clock }),
    createSharedRolesController({ hub, informers, client, sets }),
    createCertificateController({
      hub,
      informers,
      client: clientFor("certificates"),
      events: recorder,
      trustedUsers: autoApprovedUsers,
    }),
  ];
}
