/** Places a pod into a subset of a WorkloadSpread. Pure. */
import { applyStrategicMergePatch, goJson } from "@flotilla/apimachinery";
import type { NodeSelectorTerm } from "@flotilla/apimachinery/facts/core-v1.ts";
import { isObject, required, defined } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { Pod } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlySpread, Subset } from "./spread-targets.ts";

export const MATCHED_ANNOTATION = "apps.kruise.io/matched-workloadspread";

/** What the annotation of a pod says. */
export interface Match {
  name: string;
  subset: string;
  /** Identifies the pod in `creatingPods` if it had no name when it was admitted. */
  uid?: string;
}

/** Undefined without an annotation, or with one that cannot be read. */
export function matchOf({ metadata }: ReadonlyPod): Match | undefined {
  const text = metadata.annotations?.[MATCHED_ANNOTATION];
  if (!text) return undefined;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isObject(value)) return undefined;
  const { name, subset, uid } = value;
  return typeof name === "string" && typeof subset === "string"
    ? { name, subset, uid: typeof uid === "string" && uid !== "" ? uid : undefined }
    : undefined;
}

export const matchText = ({ name, subset, uid }: Match): string => goJson({ name, subset, ...defined({ uid }) });

/** Throws an ApiError for a patch that a pod cannot have. */
export function injectSubset(spread: ReadonlySpread, pod: ReadonlyPod, match: Match): ReadonlyPod {
  const subset = spread.spec.subsets.find(({ name }) => name === match.subset);
  if (!subset) return pod;
  const patched = patchedPod(withPlacement(pod, subset), subset);
  const { annotations } = patched.metadata;
  return {
    ...patched,
    metadata: { ...patched.metadata, annotations: { ...annotations, [MATCHED_ANNOTATION]: matchText(match) } },
  };
}

export function patchedPod(pod: ReadonlyPod, { patch }: Subset): ReadonlyPod {
  if (!isObject(patch)) return pod;
  const schema = required(Pod.versions["v1"]?.schema, "the schema of a pod");
  const patched = applyStrategicMergePatch(pod as unknown as JsonObject, patch, schema) as unknown as ReadonlyPod;
  if (patched.spec.priorityClassName === pod.spec.priorityClassName) return patched;
  // The priority follows from the class, and a priority of another class is rejected.
  const { priority: _priority, ...spec } = patched.spec;
  return { ...patched, spec };
}

function withPlacement(pod: ReadonlyPod, subset: Subset): ReadonlyPod {
  const { tolerations = [], preferredNodeSelectorTerms: preferred = [], requiredNodeSelectorTerm: needed } = subset;
  const { affinity } = pod.spec;
  const nodeAffinity = affinity?.nodeAffinity;
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const before = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  const preferring = before ?? [];
  return {
    ...pod,
    spec: {
      ...pod.spec,
      tolerations: tolerations.length > 0 ? [...(pod.spec.tolerations ?? []), ...tolerations] : pod.spec.tolerations,
      // As OpenKruise does, also if the subset says nothing about nodes.
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...nodeAffinity,
          preferredDuringSchedulingIgnoredDuringExecution:
            preferred.length > 0 ? [...preferring, ...preferred] : before,
          requiredDuringSchedulingIgnoredDuringExecution: needed
            ? { ...required, nodeSelectorTerms: narrowedTerms(required?.nodeSelectorTerms, needed) }
            : required,
        },
      },
    },
  };
}

/** Any term may match, so each is narrowed to the nodes of the subset. */
export function narrowedTerms(
  terms: readonly DeepReadonly<NodeSelectorTerm>[] = [],
  { matchExpressions = [], matchFields = [] }: DeepReadonly<NodeSelectorTerm>,
): DeepReadonly<NodeSelectorTerm>[] {
  const joined = <T>(own: readonly T[] | undefined, more: readonly T[]): readonly T[] | undefined =>
    more.length > 0 ? [...(own ?? []), ...more] : own;
  return (terms.length > 0 ? terms : [{}]).map((term) => ({
    ...term,
    matchExpressions: joined(term.matchExpressions, matchExpressions),
    matchFields: joined(term.matchFields, matchFields),
  }));
}
