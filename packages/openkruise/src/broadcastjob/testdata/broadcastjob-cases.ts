/**
 * Runs BroadcastJobs on recorded inputs and returns results in the format of the recordings
 * (`openkruise-broadcastjob.jsonl`). Only for tests and `npm run golden`.
 */
import { defined } from "@flotilla/base";
import type { BroadcastJob } from "../broadcastjob-kind.ts";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyNode } from "../node-fit.ts";
import { planBroadcastJob } from "../plan-broadcastjob.ts";
import { RECORDED_AT } from "../../testdata/read-cases.ts";
import type { RecordedRun } from "../../testdata/read-cases.ts";

interface Input {
  broadcastJob: BroadcastJob;
  nodes?: ReadonlyNode[];
  pods?: ReadonlyPod[];
}

export const broadcastJobCases: Readonly<Record<string, RecordedRun>> = {
  reconcile: ({ broadcastJob: job, nodes = [], pods = [] }: Input) => {
    const { create, remove, removeJob, status, events, requeueAfterMs } = planBroadcastJob({ job, nodes, pods, nowMs: RECORDED_AT });
    // Only a word of the reason is recorded; the message follows from the rest.
    const reported = [...events.map(({ type, reason }) => `${type} ${reason.split(" ")[0]}`), ...create.map(() => "Normal SuccessfulCreate"), ...remove.map(() => "Normal SuccessfulDelete")];
    return {
      createdOnNodes: create,
      deleted: remove.map(({ metadata }) => metadata.name).toSorted(),
      error: null,
      events: [...new Set(reported)].toSorted(),
      requeueAfterSeconds: requeueAfterMs / 1000,
      ...defined({ jobDeleted: removeJob ? true : undefined, status: removeJob ? undefined : status }),
    };
  },
};

/** Why a case differs on purpose. */
export function whyBroadcastJobDiffers(want: { readonly panic?: unknown } | undefined): string | undefined {
  return want?.panic === undefined ? undefined : "upstream's count of active pods falls below zero, overflows and ends the process; ours does not";
}
