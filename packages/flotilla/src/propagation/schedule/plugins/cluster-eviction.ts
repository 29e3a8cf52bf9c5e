import { fits, rejects, type FilterPlugin } from "../framework.ts";

const EVICTING = rejects("cluster(s) is in the process of eviction");

/** Excludes the clusters that the resource is being evicted from. */
export const clusterEviction: FilterPlugin = {
  name: "ClusterEviction",
  filter({ evicting }, { name }) {
    return evicting.has(name) ? EVICTING : fits;
  },
};
