/** Pods of a revision that cannot start, or restart again and again. Pure. */
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Pod } from "@flotilla/kubernetes";

type Container = { name: string; image?: string; command?: unknown; args?: unknown };

/** What a kubelet says of a container that does not start by itself. */
const STUCK: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "CrashLoopBackOff",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

export function podTrouble(
  pods: readonly DeepReadonly<Pod>[],
  part: Json,
  maxRestarts: number,
): { pods: number; message: string } | undefined {
  let count = 0;
  let message: string | undefined;
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp !== undefined || !hasRevision(pod, part)) continue;
    const found = troubleOf(pod, maxRestarts);
    if (found === undefined) continue;
    count++;
    message ??= `pod ${pod.metadata.name}: ${found}`;
  }
  return message === undefined ? undefined : { pods: count, message };
}

function troubleOf({ status }: DeepReadonly<Pod>, maxRestarts: number): string | undefined {
  if (status?.phase === "Failed") return status.reason ?? "Failed";
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { name, state, restartCount = 0, ready } of statuses) {
    const reason = state?.waiting?.reason;
    if (reason !== undefined && STUCK.has(reason))
      return `container ${name}: ${reason}${state?.waiting?.message ? ` (${state.waiting.message.slice(0, 200)})` : ""}`;
    if (!ready && restartCount > maxRestarts) return `container ${name} restarted ${restartCount} times`;
  }
  return undefined;
}

/** A pod has the containers of the revision: admission on the member may have added others, and defaults. */
function hasRevision(pod: DeepReadonly<Pod>, part: Json): boolean {
  const spec = isObject(part) ? part["spec"] : undefined;
  const containers = isObject(spec) && Array.isArray(spec["containers"]) ? (spec["containers"] as Container[]) : [];
  if (containers.length === 0) return true;
  return containers.every(({ name, image, command, args }) => {
    const own = pod.spec.containers.find((container) => container.name === name) as Container | undefined;
    return (
      own !== undefined &&
      own.image === image &&
      JSON.stringify(own.command ?? []) === JSON.stringify(command ?? []) &&
      JSON.stringify(own.args ?? []) === JSON.stringify(args ?? [])
    );
  });
}
