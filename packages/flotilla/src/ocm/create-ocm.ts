/** Wires the controllers of Open Cluster Management's kinds to a hub's informers and clients. */
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { ManifestWorkReplicaSet } from "@flotilla/ocm";
import type { OscillationsOptions } from "../delivery/oscillations.ts";
import type { Interpreter } from "../interpreter/interpreter.ts";
import type { Controller, EventRecorders, Informers } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import { createManagedNamespaceController } from "./namespaces/namespaces-controller.ts";
import { createPlacementController } from "./placement/placement-controller.ts";
import type { PlacementMeter } from "./placement/meter.ts";
import type { PlacementSources } from "./placement/sources.ts";
import { createRegistration, type MemberViews } from "./registration/index.ts";
import { createReplicaSetController } from "./replicaset/replicaset-controller.ts";
import { createWork, createWorkTtlController, type MemberFor, type WorkOrigin, type WorkPart } from "./work/index.ts";

export interface OcmDependencies {
  /** The hub's logical cluster. */
  hub: string;
  informers: Informers;
  /** A client for one controller; its field manager identifies the controller in managedFields. */
  clientFor(part: string): Client;
  events: EventRecorders;
  /** Records the decisions of the controllers. */
  decisions?: DecisionRecorder | undefined;
  /** Members that the hub reaches itself; agents apply the works of other members. */
  memberFor: MemberFor;
  /** The inputs of Placement decisions. */
  placements: PlacementSources;
  /** How members identify works of this hub. */
  origin: WorkOrigin;
  interpreter: Pick<Interpreter, "health">;
  clock: Clock;
  random: Random;
  log: Log;
  /** Membership's view of the members. */
  members: MemberViews;
  /** The bootstrap users whose first certificate is approved automatically; unset approves none. */
  autoApprovedUsers?: readonly string[];
  /** Receives how long Placements take. */
  meter?: PlacementMeter;
  /** Receives the objects of members that are stopped because of an oscillation, and written again. */
  onStopped?: OscillationsOptions["onStopped"];
}

export interface Ocm {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
  /** Those that access members. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  deliveries: Controller<any>[];
  /** The state of busy and unreachable members. */
  lanes: WorkPart["lanes"];
  /** Whether no status write is in flight. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createOcm(deps: OcmDependencies): Ocm {
  const {
    hub,
    informers,
    clientFor,
    events,
    decisions,
    memberFor,
    placements,
    origin,
    interpreter,
    clock,
    random,
    log,
    members,
    autoApprovedUsers,
    meter,
    onStopped,
  } = deps;
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
    memberInformers: members.sharedInformers,
    replicaSets: informers.of(ManifestWorkReplicaSet),
    onStopped,
  });
  return {
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
        recorder: decisions,
        clock,
        sources: placements,
        meter,
      }),
      createReplicaSetController({ hub, informers, client: clientFor("replicaset"), recorder: decisions, clock }),
      createWorkTtlController({ client: clientFor("work"), clock }),
    ],
    deliveries: [
      ...work.controllers,
      createManagedNamespaceController({
        hub,
        informers,
        client: clientFor("managed-namespaces"),
        memberFor,
        origin,
        clock,
      }),
    ],
  };
}
