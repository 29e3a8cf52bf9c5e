/** Builds a new CloneSet pod. */
import { controllerReference } from "@flotilla/apimachinery";
import { withClaimVolumes } from "@flotilla/kubernetes";
import type { Pod, ReadonlyPod, ReadonlyPodTemplate as PodTemplate } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { IN_PLACE_READY } from "../in-place/state.ts";
import { withLifecycleState } from "../lifecycle/lifecycle.ts";
import { claimsOfPod } from "./cloneset-claims.ts";
import { INSTANCE_ID_LABEL, revisionLabels } from "./cloneset-names.ts";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export interface NewPod {
  revision: string;
  template: PodTemplate;
  id: string;
}

export function makePod(
  cloneSet: ReadonlyCloneSet,
  { revision, template, id }: NewPod,
  gates: FeatureGates,
  nowMs: number,
): ReadonlyPod {
  const { name, namespace } = cloneSet.metadata;
  const readinessGates = template.spec?.readinessGates ?? [];
  const hasGate = readinessGates.some(({ conditionType }) => conditionType === IN_PLACE_READY);
  const pod: unknown = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${id}`,
      generateName: `${name}-`,
      namespace: namespace || undefined,
      labels: { ...template.metadata?.labels, [INSTANCE_ID_LABEL]: id, ...revisionLabels(revision, gates) },
      annotations: template.metadata?.annotations ? template.metadata.annotations : undefined,
      finalizers: template.metadata?.finalizers ? template.metadata.finalizers : undefined,
      ownerReferences: [controllerReference(cloneSet)],
    },
    // Every pod has the readiness gate, whatever the update strategy: the strategy may change later, but the gates of a
    // pod are immutable.
    spec: {
      ...withClaimVolumes(template.spec ?? {}, claimsOfPod(cloneSet, id)),
      readinessGates: hasGate ? readinessGates : [...readinessGates, { conditionType: IN_PLACE_READY }],
    },
  };
  return withLifecycleState(pod as DeepReadonly<Pod>, "PreparingNormal", nowMs);
}
