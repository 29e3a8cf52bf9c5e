import type { ScorePlugin } from "../framework.ts";

/** Prefers the clusters that already run the resource: a move costs more than it gains. */
export const clusterLocality: ScorePlugin = {
  name: "ClusterLocality",
  score({ targets }, { name }) {
    return targets.has(name) ? 100 : 0;
  },
};
