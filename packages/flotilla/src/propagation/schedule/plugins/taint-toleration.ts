import { fits, rejects, type FilterPlugin } from "../framework.ts";
import { findUntoleratedTaint, formatTaint } from "../tolerations.ts";

/** Keeps new workloads off tainted clusters. Running workloads stay; only NoExecute evicts them. */
export const taintToleration: FilterPlugin = {
  name: "TaintToleration",
  filter({ placement, targets, nowMs }, { name, spec }) {
    const taints = spec?.taints;
    if (!taints?.length || targets.has(name)) return fits;
    const taint = findUntoleratedTaint(taints, placement.clusterTolerations ?? [], nowMs);
    return taint ? rejects(`cluster(s) had untolerated taint {${formatTaint(taint)}}`) : fits;
  },
};
