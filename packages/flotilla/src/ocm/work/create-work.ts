/** Wires the ManifestWork controller, for a hub with its members or for an agent with its own cluster. */
import { ManifestWork } from "@flotilla/ocm";
import type { ManifestWorkReplicaSet } from "@flotilla/ocm";
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { createWorksDriver } from "../../delivery/works-driver.ts";
import type { MemberLanes } from "../../delivery/member-lanes.ts";
import type { OscillationsOptions } from "../../delivery/oscillations.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { keyOf } from "@flotilla/controller-runtime";
import type { Controller, Informers, Lister, Source } from "@flotilla/controller-runtime";
import { appliedName, type WorkOrigin } from "./applied-work.ts";
import { createAppliedWorkController } from "./applied-work-controller.ts";
import { manifestsOf, refOf } from "./manifests.ts";
import { createWorkObjects, type MemberFor } from "./member-objects.ts";
import { createWorkAsks } from "./work-asks.ts";
import { createWorkController, isMistake } from "./work-controller.ts";

export interface WorkPart {
  controllers: Controller<ObjectKey>[];
  /** The state of busy and unreachable members. */
  lanes: Pick<MemberLanes, "figures">;
  /** Whether no status write is in flight. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export interface WorkPartOptions {
  /** The logical cluster of the works. */
  hub: string;
  /** The hub's informers. */
  informers: Informers;
  /** Works in namespaces without a member belong to an agent. */
  memberFor: MemberFor;
  origin: WorkOrigin;
  interpreter: Pick<Interpreter, "health">;
  /** The hub's client, for status and reads. */
  statusClient: Client;
  /** False where no Clusters report that a member is reachable again or serves other kinds: in an agent. */
  followClusters: boolean;
  /** Members whose served kinds changed, where Clusters do not report it. */
  served?: Source<string>;
  /** The members' informers: AppliedManifestWorks whose work was deleted are handled too. */
  memberInformers?: Informers;
  /** How long a member keeps the objects of a work that the hub no longer has; unset means forever. */
  evictionGraceMs?: number;
  /** The hub's replica sets, whose works are made from them; an agent cannot read them. */
  replicaSets?: Lister<ManifestWorkReplicaSet>;
  /** Receives the objects of members that are stopped, and written again. */
  onStopped?: OscillationsOptions["onStopped"];
  clock: Clock;
  random: Random;
  log: Log;
}

export function createWork(options: WorkPartOptions): WorkPart {
  const { hub, informers, memberFor, origin, interpreter, statusClient, memberInformers, clock } = options;
  const works = informers.of(ManifestWork);
  const objects = createWorkObjects({ hub, works, memberFor, appliedNameOf: (work) => appliedName(origin, work) });
  const driver = createWorksDriver({
    kind: ManifestWork,
    informers,
    statusClient,
    memberOf: (namespace) => namespace,
    serves: (cluster) => memberFor(cluster) !== undefined,
    objectsOf: (work) =>
      manifestsOf(work).map(({ object, problem }) =>
        problem === undefined ? objects.get(work, refOf(object)) : undefined,
      ),
    isMistake,
    followClusters: options.followClusters,
    worksOf: (cluster) => works.list({ cluster: hub, namespace: cluster }).map((work) => keyOf(hub, work)),
    served: options.served,
    onStopped: options.onStopped,
    clock,
    random: options.random,
    log: options.log,
  });
  const controllers = [
    createWorkController({
      hub,
      informers,
      memberFor,
      origin,
      objects,
      interpreter,
      driver,
      asks: createWorkAsks({ hub, replicaSets: options.replicaSets }),
      followsReplicaSets: options.replicaSets !== undefined,
      clock,
    }),
  ];
  if (memberInformers)
    controllers.push(
      createAppliedWorkController({
        hub,
        informers,
        hubClient: statusClient,
        memberInformers,
        memberFor,
        origin,
        clock,
        evictionGraceMs: options.evictionGraceMs,
      }),
    );
  return { controllers, lanes: driver.lanes, isQuiet: driver.isQuiet, close: driver.close };
}
