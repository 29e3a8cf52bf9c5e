import { fits, rejects, type FilterPlugin } from "../framework.ts";

/** Keeps a resource off the clusters that it is being moved away from. */
export const clusterEviction: FilterPlugin = {
  name: "ClusterEviction",
  filter({ evicting }, { metadata }) {
    return evicting.has(metadata.name) ? rejects("cluster(s) is in the process of eviction") : fits;
  },
};
