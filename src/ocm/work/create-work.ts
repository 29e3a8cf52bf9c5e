/** Wires the controller of ManifestWorks, for a hub with its members or for an agent with its own. */
import { ManifestWork } from "../../api/index.ts";
import type { Log } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import { createStatusWriter } from "../../runtime/index.ts";
import type { Controller } from "../../runtime/index.ts";
import { createWorkController, type WorkDependencies } from "./controller.ts";

export interface WorkPart {
  controllers: Controller<ObjectKey>[];
  /** No status write is under way. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

/** As in the pipeline of policies: enough to join what is reported about one event. */
const STATUS_WINDOW_MS = 50;

export function createWork({ statusClient, log, ...deps }: Omit<WorkDependencies, "workStatus"> & { statusClient: Client; log: Log }): WorkPart {
  const workStatus = createStatusWriter({ client: statusClient, kind: ManifestWork, lister: deps.informers.of(ManifestWork), clock: deps.clock, windowMs: STATUS_WINDOW_MS, log });
  return { controllers: [createWorkController({ ...deps, workStatus })], isQuiet: () => workStatus.isQuiet(), close: () => workStatus.close() };
}
