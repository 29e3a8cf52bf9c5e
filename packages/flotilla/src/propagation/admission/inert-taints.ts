/** NoExecute taints that move nothing, because the policy of what runs there has no `failover.cluster`. Pure. */
import { CLUSTER_NOT_READY_TAINT, CLUSTER_UNREACHABLE_TAINT } from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { DRAIN_TAINT } from "../../flotilla-names.ts";
import { noExecuteTaints, toleratesTaint } from "../schedule/tolerations.ts";
import type { Taint, Toleration } from "../schedule/tolerations.ts";

/** Set by the hub for members that are not ready, which are reported as such. */
export const CONDITION_TAINTS: ReadonlySet<string> = new Set([CLUSTER_NOT_READY_TAINT, CLUSTER_UNREACHABLE_TAINT]);

/** The taint of a member that would move a workload, if its policy had `failover.cluster`. A drain moves without it. */
export function inertTaint(
  cluster: DeepReadonly<Pick<Cluster, "spec">> | undefined,
  tolerations: readonly Toleration[],
): Taint | undefined {
  return noExecuteTaints(cluster?.spec.taints ?? []).find(
    (taint) =>
      taint.key !== DRAIN_TAINT &&
      !CONDITION_TAINTS.has(taint.key) &&
      !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
  );
}
