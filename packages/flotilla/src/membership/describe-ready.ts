/** Describes that a member became ready, or stopped being so, for the log of decisions. Pure. */
import { findCondition } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { DecisionInput } from "../decisions/decision-recorder.ts";

/** Undefined while the condition has the same status. */
export function describeReady(
  controller: string,
  before: DeepReadonly<Cluster>,
  after: DeepReadonly<Cluster>,
): DecisionInput | undefined {
  const [old, now] = [before, after].map(({ status }) => findCondition(status?.conditions ?? [], "Ready"));
  if (!now || old?.status === now.status) return undefined;
  return {
    type: "MemberChanged",
    controller,
    object: after,
    clusters: [after.metadata.name],
    cause: { reason: now.reason ?? "", message: now.message ?? "" },
    before: { ready: old?.status ?? "Unknown" },
    after: { ready: now.status },
  };
}
