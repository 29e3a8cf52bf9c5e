/** Wires the controllers of Open Cluster Management's kinds to informers and clients of a hub. */
import type { Clock, Log, Random } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { Interpreter } from "../interpreter/index.ts";
import type { Controller, EventRecorders, Informers } from "../runtime/index.ts";
import { createManagedNamespaceController } from "./namespaces/controller.ts";
import { createPlacementController } from "./placement/controller.ts";
import type { PlacementMeter } from "./placement/meter.ts";
import { createPlacementSources, type PlacementSources } from "./placement/sources.ts";
import { createRegistration, type MemberViews } from "./registration/index.ts";
import { createReplicaSetController } from "./replicaset/controller.ts";
import { createWork, createWorkTtlController, type MemberFor, type WorkOrigin, type WorkPart } from "./work/index.ts";

export interface OcmDependencies {
  /** The logical cluster of the hub. */
  hub: string;
  informers: Informers;
  /** A client for one controller: its field manager says in an object's metadata who wrote what. */
  clientFor(part: string): Client;
  events: EventRecorders;
  /** Members that the hub reaches itself; works of others are their agents'. */
  memberFor: MemberFor;
  /** How members know works of this hub. */
  origin: WorkOrigin;
  interpreter: Pick<Interpreter, "health">;
  clock: Clock;
  random: Random;
  log: Log;
  /** What membership knows of the members. */
  members: MemberViews;
  /** Agents that first sign in as one of these users are let in without anybody looking; unset is nobody. */
  autoApprovedUsers?: readonly string[];
  /** Hears how long Placements take. */
  meter?: PlacementMeter;
}

export interface Ocm {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
  /** What Placements are decided from, for those who explain them. */
  placements: PlacementSources;
  /** How it stands with members that are busy or away. */
  lanes: WorkPart["lanes"];
  /** No status write is under way. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createOcm({
  hub,
  informers,
  clientFor,
  events,
  memberFor,
  origin,
  interpreter,
  clock,
  random,
  log,
  members,
  autoApprovedUsers,
  meter,
}: OcmDependencies): Ocm {
  const placements = createPlacementSources({ hub, informers });
  const work = createWork({
    hub,
    informers,
    memberFor,
    origin,
    interpreter,
    statusClient: clientFor("work"),
    clock,
    random,
    log,
    followClusters: true,
    memberInformers: members.simulated,
  });
  return {
    placements,
    lanes: work.lanes,
    isQuiet: () => work.isQuiet(),
    close: () => work.close(),
    controllers: [
      ...createRegistration({ hub, informers, clientFor, events, clock, members, autoApprovedUsers }),
      createPlacementController({
        hub,
        informers,
        client: clientFor("placement"),
        events: events("flotilla-placement"),
        clock,
        sources: placements,
        meter,
      }),
      createReplicaSetController({ hub, informers, client: clientFor("replicaset"), clock }),
      ...work.controllers,
      createManagedNamespaceController({
        hub,
        informers,
        client: clientFor("managed-namespaces"),
        memberFor,
        origin,
        clock,
      }),
      createWorkTtlController({ client: clientFor("work"), clock }),
    ],
  };
}
