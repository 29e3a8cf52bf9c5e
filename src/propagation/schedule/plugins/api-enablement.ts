import { fits, rejects, type FilterPlugin } from "../framework.ts";

const NOT_SERVED = rejects("cluster(s) did not have the API resource");

/**
 * Keeps a resource off clusters that do not serve its kind. A cluster that already runs it stays: the list of what it serves
 * comes from discovery, and a discovery that failed in part must not remove a workload.
 */
export const apiEnablement: FilterPlugin = {
  name: "APIEnablement",
  filter({ served, targets }, { name, serves }) {
    return serves.has(served) || targets.has(name) ? fits : NOT_SERVED;
  },
};
