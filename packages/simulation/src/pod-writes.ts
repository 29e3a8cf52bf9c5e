/** Writes that several controllers of the simulation share. */
import { Pod } from "@flotilla/kubernetes";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { withCondition } from "@flotilla/apimachinery";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";

/**
 * Sets the DisruptionTarget condition on a pod, then deletes it. Returns false if another client changed it in the
 * meantime.
 */
export async function disrupt(
  { client, clock }: { client: Client; clock: Clock },
  cluster: string,
  pod: DeepReadonly<Pod>,
  why: { reason: string; message: string },
  signal: AbortSignal,
): Promise<boolean> {
  if (pod.metadata.deletionTimestamp) return false;
  const conditions = withCondition(
    pod.status?.conditions,
    { type: "DisruptionTarget", status: "True", ...why },
    formatTime(clock.now()),
  );
  const marked = await unlessChanged(
    client.updateStatus(Pod, cluster, { ...pod, status: { ...pod.status, conditions: [...conditions] } }, { signal }),
  );
  if (!marked) return false;
  return (
    (await unlessChanged(
      client
        .delete(Pod, keyOf(cluster, pod), { preconditions: { uid: pod.metadata.uid ?? "" }, signal })
        .then(() => true),
    )) ?? false
  );
}
