/** A pod of a DaemonSet: bound to one node by name, with tolerations for node problems. */
import { omitZero } from "@flotilla/base";
import type { DaemonSet } from "./daemonset-kind.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Pod } from "../pod/pod-kind.ts";
import type { PodTemplateSpec, Toleration } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly, Random } from "@flotilla/base";
import { REVISION_LABEL } from "../controllerrevision/revisions.ts";
import { generatedPod } from "../pod/pod-from-template.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

export type ReadonlyDaemonSet = DeepReadonly<DaemonSet>;
/** A set with one pod per node: Kubernetes' own, or OpenKruise's. */
export type PerNodeSet = DeepReadonly<KubernetesObject & { spec: { template: PodTemplateSpec } }>;
type Spec = DeepReadonly<Pod["spec"]>;

const GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";
const GENERATION_LABEL = "pod-template-generation";

const tolerated = (key: string, effect: "NoExecute" | "NoSchedule"): DeepReadonly<Toleration> => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect,
});
const TOLERATIONS: readonly DeepReadonly<Toleration>[] = [
  tolerated("not-ready", "NoExecute"),
  tolerated("unreachable", "NoExecute"),
  tolerated("disk-pressure", "NoSchedule"),
  tolerated("memory-pressure", "NoSchedule"),
  tolerated("pid-pressure", "NoSchedule"),
  tolerated("unschedulable", "NoSchedule"),
];
const NETWORK_UNAVAILABLE = tolerated("network-unavailable", "NoSchedule");

/** Daemons stay on unhealthy nodes, and start on unschedulable ones. */
export function withDaemonTolerations(spec: Spec): Spec {
  const added = spec.hostNetwork ? [...TOLERATIONS, NETWORK_UNAVAILABLE] : TOLERATIONS;
  const own =
    spec.tolerations?.filter(
      ({ key, effect }) => !added.some((toleration) => toleration.key === key && toleration.effect === effect),
    ) ?? [];
  return { ...spec, tolerations: [...own, ...added] };
}

/** The target node of a DaemonSet's pod, placed or not. */
export function targetNode({ spec }: ReadonlyPod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const byName = terms
    .flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === "metadata.name" && operator === "In");
  return byName?.values?.length === 1 ? byName.values[0] : undefined;
}

export function daemonPod(set: PerNodeSet, node: string, hash: string, random: Random): DeepReadonly<Pod> {
  const pod = generatedPod(set, set.spec.template, random);
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION];
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [node] }] }];
  const { affinity } = pod.spec;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata.labels, ...omitZero({ [GENERATION_LABEL]: generation }), [REVISION_LABEL]: hash },
    },
    // The node was already selected by the template's node constraints; the scheduler needs only its name.
    spec: {
      ...withDaemonTolerations(pod.spec),
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
        },
      },
    },
  };
}

export function isUpdated(set: PerNodeSet, { metadata }: ReadonlyPod, hash: string): boolean {
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION];
  return (
    metadata.labels?.[REVISION_LABEL] === hash ||
    (generation !== undefined && metadata.labels?.[GENERATION_LABEL] === generation)
  );
}
