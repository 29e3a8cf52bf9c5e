import { fits, rejects, type FilterPlugin, type ScorePlugin } from "../framework.ts";

const NOT_MEANT = rejects("cluster(s) did not match the placement cluster affinity constraint");

/** Restricts a resource to the clusters that its placement selects. All of them score equally. */
export const clusterAffinity: FilterPlugin & ScorePlugin = {
  name: "ClusterAffinity",
  filter({ tierOf }, cluster) {
    return tierOf(cluster) === undefined ? NOT_MEANT : fits;
  },
  score() {
    return 0;
  },
};
