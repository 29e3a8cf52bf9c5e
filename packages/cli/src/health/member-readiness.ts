/** Why a member is not ready, as far as it still holds: the hub's message is that of its last probe. Pure. */
import { findCondition } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { ANSWERS_AGAIN } from "@flotilla/flotilla";
import type { Cluster } from "@flotilla/karmada";

/** Cuts a simulated member off from its hub. */
export const FAULT = "simulation.flotilla.dev/fault";

/** Undefined if it is ready, or its condition is not reported yet. */
export function whyNotReady({ metadata, status }: DeepReadonly<Cluster>): string | undefined {
  const ready = findCondition(status?.conditions, "Ready");
  if (!ready || ready.status === "True") return undefined;
  const message = ready.message || ready.reason;
  return isReconnected(message, metadata) ? `${RECONNECTED}, and the hub has not probed it since` : message;
}

const RECONNECTED = `its annotation ${FAULT} was removed`;
const isReconnected = (message: string, { annotations }: DeepReadonly<Cluster>["metadata"]): boolean =>
  message.includes(`its annotation ${FAULT}`) && annotations?.[FAULT] === undefined;

/** Whether the member recovers, and becomes ready if it continues to answer. */
export function isRecovering(cluster: DeepReadonly<Cluster>): boolean {
  const why = whyNotReady(cluster) ?? "";
  return why.startsWith(RECONNECTED) || why.startsWith(ANSWERS_AGAIN);
}
