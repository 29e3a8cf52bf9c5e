/** The deletion grace period of pods. */
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";

const DEFAULT_GRACE_SECONDS = 30;
/**
 * The largest int32, 68 years. A larger value could lead to a time that cannot be formatted, and the pod could never be
 * deleted.
 */
const MAX_GRACE_SECONDS = 2 ** 31 - 1;

/**
 * How long a deleted pod waits for its kubelet. No kubelet runs a pod that is unscheduled or finished, so it is deleted
 * immediately.
 */
export function graceSecondsOf(pod: JsonObject, asked: number | undefined): number {
  const spec = isObject(pod.spec) ? pod.spec : {};
  const status = isObject(pod.status) ? pod.status : {};
  const grace =
    asked ??
    (typeof spec.terminationGracePeriodSeconds === "number"
      ? spec.terminationGracePeriodSeconds
      : DEFAULT_GRACE_SECONDS);
  if (!spec.nodeName || status.phase === "Succeeded" || status.phase === "Failed") return 0;
  // A negative period means one second.
  return grace < 0 ? 1 : Math.min(grace, MAX_GRACE_SECONDS);
}
