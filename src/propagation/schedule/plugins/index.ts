/**
 * The plugins in the order in which they are asked. A cluster's reason is that of the first one that rejects it, so the
 * order is part of what users read: what they wrote themselves comes first.
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
/** For bindings that are in a workload group, which nearly none is: what the others of the group do is asked last. */
export const groupPlugins: readonly FilterPlugin[] = [...filterPlugins, workloadAffinity, workloadAntiAffinity];
export const scorePlugins: readonly ScorePlugin[] = [clusterLocality, clusterAffinity];
