/** The Works and the status of a FederatedResourceQuota's static assignments. Pure. */
import {
  executionNamespace,
  QUOTA_NAME,
  QUOTA_NAMESPACE,
  WORK_FINALIZER,
  WORK_NAME,
  WORK_NAMESPACE,
  workName,
} from "@flotilla/karmada";
import type { FederatedResourceQuota, Work } from "@flotilla/karmada";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";

type Quota = DeepReadonly<FederatedResourceQuota>;
type Aggregated = NonNullable<NonNullable<Quota["status"]>["aggregatedStatus"]>;

/** One ResourceQuota for each member of the fleet that has an assignment. */
export function planQuotaWorks({ metadata, spec }: Quota, members: ReadonlySet<string>): Work[] {
  const { namespace = "", name } = metadata;
  if (metadata.deletionTimestamp) return [];
  return (spec.staticAssignments ?? [])
    .filter(({ clusterName }) => members.has(clusterName))
    .map(({ clusterName, hard }) => {
      const execution = executionNamespace(clusterName);
      const work = workName("ResourceQuota", name, namespace);
      // Reflect reads objects that name their Work.
      const annotations = { [WORK_NAMESPACE]: execution, [WORK_NAME]: work };
      const quota = {
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: { namespace, name, annotations },
        spec: { hard },
      };
      return {
        apiVersion: "work.karmada.io/v1alpha1",
        kind: "Work",
        metadata: {
          name: work,
          namespace: execution,
          labels: { [QUOTA_NAMESPACE]: namespace, [QUOTA_NAME]: name },
          finalizers: [WORK_FINALIZER],
        },
        spec: { workload: { manifests: [quota] } },
      };
    });
}

/** What the members report; unset if no member has an assignment. */
export function planAggregatedStatus({ spec }: Quota, works: readonly DeepReadonly<Work>[]): Aggregated | undefined {
  const byMember = new Map(works.map((work) => [work.metadata.namespace, work]));
  const found = (spec.staticAssignments ?? []).map(({ clusterName, hard }) => {
    const work = byMember.get(executionNamespace(clusterName));
    const status: unknown = work?.status?.manifestStatuses?.[0]?.status;
    const used = isObject(status) && isObject(status["used"]) ? (status["used"] as Record<string, string>) : undefined;
    return { clusterName, hard, used };
  });
  return found.length > 0 ? found.toSorted((a, b) => (a.clusterName < b.clusterName ? -1 : 1)) : undefined;
}
