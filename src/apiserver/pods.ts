/** Pods: the state in which they are born, and how long they may take to stop. */
import { isObject } from "../base/index.ts";
import type { JsonObject } from "../base/index.ts";

/** A new pod is pending, and its quality of service is settled for good. */
export function completePod(pod: JsonObject): void {
  pod.status = { phase: "Pending", qosClass: qosClassOf(pod) };
}

/** Guaranteed when every container has limits for cpu and memory that equal its requests; best effort when none has any. */
export function qosClassOf(pod: JsonObject): "Guaranteed" | "Burstable" | "BestEffort" {
  const spec = isObject(pod.spec) ? pod.spec : {};
  const containers = [...list(spec.initContainers), ...list(spec.containers)];
  let any = false;
  let guaranteed = containers.length > 0;
  for (const { resources } of containers) {
    const { requests, limits } = isObject(resources) ? resources : {};
    for (const resource of ["cpu", "memory"]) {
      const request = isObject(requests) ? requests[resource] : undefined;
      const limit = isObject(limits) ? limits[resource] : undefined;
      if (request !== undefined || limit !== undefined) any = true;
      if (limit === undefined || (request !== undefined && request !== limit)) guaranteed = false;
    }
  }
  return guaranteed ? "Guaranteed" : any ? "Burstable" : "BestEffort";
}

function list(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

const DEFAULT_GRACE_SECONDS = 30;

/** How long a deleted pod waits for its kubelet. Nobody runs a pod that is not scheduled or has ended, so it goes at once. */
export function graceSecondsOf(pod: JsonObject, asked: number | undefined): number {
  const spec = isObject(pod.spec) ? pod.spec : {};
  const status = isObject(pod.status) ? pod.status : {};
  const grace = asked ?? (typeof spec.terminationGracePeriodSeconds === "number" ? spec.terminationGracePeriodSeconds : DEFAULT_GRACE_SECONDS);
  if (!spec.nodeName || status.phase === "Succeeded" || status.phase === "Failed") return 0;
  // A negative period means one second.
  return grace < 0 ? 1 : grace;
}
