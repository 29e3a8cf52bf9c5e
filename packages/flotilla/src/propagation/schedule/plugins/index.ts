/**
 * The plugins in order. The first plugin that rejects a cluster provides its reason, so the order is visible to users:
 * settings that they wrote themselves come first.
 */
import type { FilterPlugin, ScorePlugin } from "../framework.ts";
import { apiEnablement } from "./api-enablement.ts";
import { clusterAffinity } from "./cluster-affinity.ts";
import { clusterEviction } from "./cluster-eviction.ts";
import { clusterLocality } from "./cluster-locality.ts";
import { spreadConstraint } from "./spread-constraint.ts";
import { taintToleration } from "./taint-toleration.ts";
import { workloadAffinity, workloadAntiAffinity } from "./workload-affinity.ts";

export const filterPlugins: readonly FilterPlugin[] = [
  clusterAffinity,
  clusterEviction,
  taintToleration,
  apiEnablement,
  spreadConstraint,
];
/** For the few bindings in a workload group: the group is checked last. */
export const groupPlugins: readonly FilterPlugin[] = [...filterPlugins, workloadAffinity, workloadAntiAffinity];
export const scorePlugins: readonly ScorePlugin[] = [clusterLocality, clusterAffinity];
