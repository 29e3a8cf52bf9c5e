/** What the status of a CronJob says about its last run. Pure. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";

/**
 * No run is active, and none has succeeded since the last one was started. Unknown, and so false, for kinds that do not
 * report their last success.
 */
export function hasLastRunFailed(cronJob: DeepReadonly<KubernetesObject>): boolean {
  const { spec, status } = cronJob as { spec?: unknown; status?: unknown };
  if (!isObject(status) || (isObject(spec) && spec["suspend"] === true)) return false;
  const { active, lastScheduleTime, lastSuccessfulTime } = status;
  if (typeof lastScheduleTime !== "string" || (Array.isArray(active) && active.length > 0)) return false;
  return typeof lastSuccessfulTime !== "string" || Date.parse(lastSuccessfulTime) < Date.parse(lastScheduleTime);
}
