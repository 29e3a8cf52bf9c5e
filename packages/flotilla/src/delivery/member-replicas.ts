/** Fields that the member decides: those that the kind retains, and replicas that an autoscaler there sets. */
import { HorizontalPodAutoscaler } from "@flotilla/kubernetes";
import { isObject } from "@flotilla/base";
import { isNotFound, isForbidden } from "@flotilla/apimachinery";
import { keyIn } from "./member-access.ts";
import type { Manifest, MemberAccess, Task } from "./member-access.ts";
import { groupKind } from "./observer.ts";

/** The manifest with the values that the member decides. */
export async function retainFromMember(access: MemberAccess, task: Task, observed: Manifest): Promise<Manifest> {
  const { manifest, policy } = task;
  const retained = (await policy.retain?.(manifest, observed)) ?? manifest;
  const theirs = replicasOf(observed);
  const ours = replicasOf(retained);
  if (policy.replicas === undefined || ours === undefined || theirs === undefined || ours === theirs) return retained;
  // Called even when the result is not needed: it starts watching autoscalers, so that the deletion of one is noticed.
  if (!(await isAutoscaled(access, task)) && policy.replicas === "autoscaled") return retained;
  return { ...retained, spec: { ...(retained as unknown as { spec: object }).spec, replicas: theirs } } as Manifest;
}

async function isAutoscaled(access: MemberAccess, { kind, manifest, policy, signal }: Task): Promise<boolean> {
  const key = keyIn(access, manifest.metadata);
  const seen = access.observer.autoscalerOf(kind, key);
  if (seen !== "unknown") return seen !== "none";
  policy.beforeRequest?.();
  try {
    const { items } = await access.client.list(HorizontalPodAutoscaler, {
      cluster: access.cluster,
      namespace: key.namespace || undefined,
      signal,
    });
    return items.some(
      ({ spec: { scaleTargetRef } }) =>
        scaleTargetRef.name === key.name && groupKind(scaleTargetRef) === `${kind.group}/${kind.kind}`,
    );
  } catch (error) {
    // A member that does not serve autoscalers has none. If the hub may not read them, the member decides itself who
    // may scale.
    if (isNotFound(error) || isForbidden(error)) return false;
    throw error;
  }
}

export function replicasOf(object: Manifest): number | undefined {
  const { spec } = object as { spec?: unknown };
  const replicas = isObject(spec) && Object.hasOwn(spec, "replicas") ? spec["replicas"] : undefined;
  return typeof replicas === "number" ? replicas : undefined;
}
