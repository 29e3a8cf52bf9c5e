/** Wires the controllers of Open Cluster Management's kinds to informers and clients of a hub. */
import type { Clock } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { Controller, EventRecorders, Informers } from "../runtime/index.ts";
import { createPlacementController } from "./placement/controller.ts";
import { createReplicaSetController } from "./replicaset/controller.ts";

export interface OcmDependencies {
  /** The logical cluster of the hub. */
  hub: string;
  informers: Informers;
  /** A client for one controller: its field manager says in an object's metadata who wrote what. */
  clientFor(part: string): Client;
  events: EventRecorders;
  clock: Clock;
}

export interface Ocm {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
}

export function createOcm({ hub, informers, clientFor, events, clock }: OcmDependencies): Ocm {
  return {
    controllers: [
      createPlacementController({ hub, informers, client: clientFor("placement"), events: events("flotilla-placement"), clock }),
      createReplicaSetController({ hub, informers, client: clientFor("replicaset"), clock }),
    ],
  };
}
