/** Wires the ManifestWork controller, for a hub with its members or for an agent with its own cluster. */
import { ManifestWork } from "../../api/index.ts";
import type { Log } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import { createMemberLanes } from "../../delivery/index.ts";
import type { MemberLanes } from "../../delivery/index.ts";
import { createStatusWriter } from "../../runtime/index.ts";
import type { Controller, Informers } from "../../runtime/index.ts";
import { createAppliedWorkController } from "./applied-work-controller.ts";
import { createWorkController, type WorkDependencies } from "./work-controller.ts";

export interface WorkPart {
  controllers: Controller<ObjectKey>[];
  /** The state of busy and unreachable members. */
  lanes: Pick<MemberLanes, "figures">;
  /** Whether no status write is in flight. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

/** As in the pipeline of policies: long enough to batch the reports about one event. */
const STATUS_WINDOW_MS = 50;

export interface WorkPartOptions extends Omit<WorkDependencies, "workStatus" | "lanes"> {
  /** The hub's client, for status and reads. */
  statusClient: Client;
  /** The members' informers: AppliedManifestWorks whose work was deleted are handled too. */
  memberInformers?: Informers;
  /** How long a member keeps the objects of a work that the hub no longer has; unset means forever. */
  evictionGraceMs?: number;
  log: Log;
}

export function createWork({
  statusClient,
  memberInformers,
  evictionGraceMs,
  log,
  ...deps
}: WorkPartOptions): WorkPart {
  const workStatus = createStatusWriter({
    client: statusClient,
    kind: ManifestWork,
    lister: deps.informers.of(ManifestWork),
    clock: deps.clock,
    windowMs: STATUS_WINDOW_MS,
    log,
  });
  const lanes = createMemberLanes({ clock: deps.clock, random: deps.random });
  const controllers = [createWorkController({ ...deps, workStatus, lanes })];
  const { hub, informers, memberFor, origin, clock } = deps;
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
        evictionGraceMs,
      }),
    );
  return { controllers, lanes, isQuiet: () => workStatus.isQuiet(), close: () => workStatus.close() };
}
