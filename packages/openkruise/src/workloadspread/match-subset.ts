/** Finds the subset of a pod that was created before its WorkloadSpread, by the node on which it runs. Pure. */
import type { Node } from "@flotilla/apimachinery/facts/core-v1.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { matchesAnyTerm, matchesTerm, tolerates } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { ApiError } from "@flotilla/apimachinery";
import { narrowedTerms, patchedPod } from "./inject-subset.ts";
import type { Subset } from "./spread-targets.ts";

/** The preferences of a node weigh more than a matching patch, and that more than room in the subset. */
const NODE_WEIGHT = 100;
const PATCH_WEIGHT = 10;

/** How well a subset suits the pod on this node; undefined if the pod cannot belong to it. */
export function scoreSubset(
  pod: ReadonlyPod,
  node: DeepReadonly<Node>,
  subset: Subset,
  missingReplicas: number,
): number | undefined {
  if (!fits(pod, node, subset)) return undefined;
  const preferred = (subset.preferredNodeSelectorTerms ?? [])
    .filter(({ weight, preference }) => weight !== 0 && matchesTerm(preference, node))
    .reduce((sum, { weight }) => sum + weight, 0);
  return preferred * NODE_WEIGHT + (hasPatch(pod, subset) ? PATCH_WEIGHT : 0) + (missingReplicas > 0 ? 1 : 0);
}

function fits(pod: ReadonlyPod, node: DeepReadonly<Node>, subset: Subset): boolean {
  const tolerations = [...(pod.spec.tolerations ?? []), ...(subset.tolerations ?? [])];
  const isTolerated = (node.spec?.taints ?? []).every((taint) =>
    tolerations.some((toleration) => tolerates(toleration, taint)),
  );
  const { requiredNodeSelectorTerm: needed } = subset;
  if (!isTolerated || !needed) return isTolerated;
  const own = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return matchesAnyTerm(narrowedTerms(own, needed), node);
}

/** Whether the patch of the subset would leave the pod as it is, annotations aside: their order may mean nothing. */
function hasPatch(pod: ReadonlyPod, subset: Subset): boolean {
  if (subset.patch === undefined || subset.patch === null) return false;
  let patched: ReadonlyPod;
  try {
    patched = patchedPod(pod, subset);
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
  const { annotations } = pod.metadata;
  return equalJson(
    { ...patched, metadata: { ...patched.metadata, annotations } },
    { ...pod, metadata: { ...pod.metadata, annotations } },
  );
}
