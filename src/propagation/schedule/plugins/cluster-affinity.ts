import { fits, rejects, type FilterPlugin, type ScorePlugin } from "../framework.ts";

/** Keeps a resource on the clusters that its placement names. All of them are equally good. */
export const clusterAffinity: FilterPlugin & ScorePlugin = {
  name: "ClusterAffinity",
  filter({ affinity }, cluster) {
    if (!affinity || affinity(cluster)) return fits;
    return rejects("cluster(s) did not match the placement cluster affinity constraint");
  },
  score() {
    return 0;
  },
};
