/** The events of a change of a Job's status. Pure. */
import type { RecordedEvent } from "@flotilla/controller-runtime";
import type { ReadonlyJob } from "./job-pods.ts";
import type { JobStatus } from "./job-tracking.ts";

export function planJobEvents({ spec, status: before }: ReadonlyJob, after: JobStatus): RecordedEvent[] {
  const known = new Map(before?.conditions?.map(({ type, status }) => [type, status]));
  const changed = after.conditions?.filter(({ type, status }) => known.get(type) !== status) ?? [];
  return changed.flatMap(({ type, status, reason = "", message = "" }): RecordedEvent[] => {
    if (type === "Suspended") return [{ type: "Normal", reason: status === "True" ? "Suspended" : "Resumed", message }];
    if (type === "Failed") return [{ type: "Warning", reason, message }];
    if (type !== "Complete") return [];
    const completed: RecordedEvent = { type: "Normal", reason: "Completed", message: "Job completed" };
    const hasTooMany = spec?.completions !== undefined && (after.succeeded ?? 0) > spec.completions;
    return hasTooMany ? [TOO_MANY, completed] : [completed];
  });
}

const TOO_MANY: RecordedEvent = {
  type: "Warning",
  reason: "TooManySucceededPods",
  message: "Too many succeeded pods running after completion count reached",
};
