/** Why a member is not ready, as far as it still holds: the hub's message is that of its last probe. Pure. */
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { ANSWERS_AGAIN, SIMULATED_FAULT } from "@flotilla/flotilla";
import { RESPONDING } from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";

/** Whether the hub has had no answer for a while, although the member is still ready: `Ready` follows later. */
export function isSilent({ status }: DeepReadonly<Cluster>): boolean {
  return (
    isConditionTrue(status?.conditions, "Ready") && findCondition(status?.conditions, RESPONDING)?.status === "False"
  );
}

/** Undefined if it is ready and responds, or its condition is not reported yet. */
export function whyNotReady(cluster: DeepReadonly<Cluster>): string | undefined {
  const { metadata, status } = cluster;
  const condition = findCondition(status?.conditions, isSilent(cluster) ? RESPONDING : "Ready");
  if (!condition || condition.status === "True") return undefined;
  const message = condition.message || condition.reason;
  return isReconnected(message, metadata) ? `${RECONNECTED}, and the hub has not probed it since` : message;
}

const RECONNECTED = `its annotation ${SIMULATED_FAULT} was removed`;
const isReconnected = (message: string, { annotations }: DeepReadonly<Cluster>["metadata"]): boolean =>
  message.includes(`its annotation ${SIMULATED_FAULT}`) && annotations?.[SIMULATED_FAULT] === undefined;

/** Whether the member recovers, and becomes ready if it continues to answer. */
export function isRecovering(cluster: DeepReadonly<Cluster>): boolean {
  const why = whyNotReady(cluster) ?? "";
  return why.startsWith(RECONNECTED) || why.startsWith(ANSWERS_AGAIN);
}
