import { fits, rejects, type FilterPlugin } from "../framework.ts";

const EVICTING = rejects("cluster(s) is in the process of eviction");

/** Keeps a resource off the clusters that it is being moved away from. */
export const clusterEviction: FilterPlugin = {
  name: "ClusterEviction",
  filter({ evicting }, { name }) {
    return evicting.has(name) ? EVICTING : fits;
  },
};
