import { fits, rejects, type ClusterView, type FilterPlugin } from "../framework.ts";

/**
 * Keeps a resource off clusters that do not serve its kind. A cluster that already runs it stays: the list of what it serves
 * comes from discovery, and a discovery that failed in part must not remove a workload.
 */
export const apiEnablement: FilterPlugin = {
  name: "APIEnablement",
  filter({ spec, targets }, cluster) {
    if (targets.has(cluster.metadata.name) || serves(cluster, spec.resource)) return fits;
    return rejects("cluster(s) did not have the API resource");
  },
};

function serves({ status }: ClusterView, { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  for (const { groupVersion, resources = [] } of status?.apiEnablements ?? []) {
    if (groupVersion === apiVersion && resources.some((resource) => resource.kind === kind)) return true;
  }
  return false;
}
