import { fits, rejects, type FilterPlugin, type ScorePlugin } from "../framework.ts";

const NOT_MEANT = rejects("cluster(s) did not match the placement cluster affinity constraint");

/** Keeps a resource on the clusters that its placement names. All of them are equally good. */
export const clusterAffinity: FilterPlugin & ScorePlugin = {
  name: "ClusterAffinity",
  filter({ tierOf }, cluster) {
    return tierOf(cluster) === undefined ? NOT_MEANT : fits;
  },
  score() {
    return 0;
  },
};
