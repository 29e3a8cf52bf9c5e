/** Wires the controller of ManifestWorks, for a hub with its members or for an agent with its own. */
import { ManifestWork } from "../../api/index.ts";
import type { Log } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import { createMemberLanes } from "../../delivery/index.ts";
import type { MemberLanes } from "../../delivery/index.ts";
import { createStatusWriter } from "../../runtime/index.ts";
import type { Controller, Informers } from "../../runtime/index.ts";
import { createAppliedWorkController } from "./applied-work-controller.ts";
import { createWorkController, type WorkDependencies } from "./controller.ts";

export interface WorkPart {
  controllers: Controller<ObjectKey>[];
  /** How it stands with members that are busy or away. */
  lanes: Pick<MemberLanes, "figures">;
  /** No status write is under way. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

/** As in the pipeline of policies: enough to join what is reported about one event. */
const STATUS_WINDOW_MS = 50;

export interface WorkPartOptions extends Omit<WorkDependencies, "workStatus" | "lanes"> {
  /** Of the hub, for status and for questions. */
  statusClient: Client;
  /** Of the members: what they keep of works that are gone is seen to as well. */
  memberInformers?: Informers;
  /** How long a member keeps what a work brought that the hub does not have any more; unset is for good. */
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
