/** The PersistentPodState that annotations of a StatefulSet ask for. */
import { controllerReference } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { PersistentPodState } from "./persistentpodstate-kind.ts";
import type { ReadonlyPodState, Target } from "./targets.ts";

const GENERATE = "kruise.io/auto-generate-persistent-pod-state";
const REQUIRED = "kruise.io/required-persistent-topology";
const PREFERRED = "kruise.io/preferred-persistent-topology";
const ANNOTATIONS = "kruise.io/persistent-pod-annotations";
/** Of the only preference. */
const WEIGHT = 100;

/** Whether a StatefulSet has, or had, a generated PersistentPodState. */
export const mentionsGeneration = ({ metadata }: DeepReadonly<Target>): boolean =>
  metadata.annotations?.[GENERATE] !== undefined;

/** Undefined if the annotations ask for none. */
export function generatedPodState(target: DeepReadonly<Target>): ReadonlyPodState | undefined {
  const { name, namespace, annotations = {} } = target.metadata;
  const { [GENERATE]: generate, [REQUIRED]: required, [PREFERRED]: preferred, [ANNOTATIONS]: kept } = annotations;
  if (generate !== "true" || (!required && !preferred)) return undefined;
  const spec: PersistentPodState["spec"] = {
    targetRef: { apiVersion: target.apiVersion, kind: target.kind, name },
    persistentPodAnnotations: kept ? kept.split(",").map((key) => ({ key })) : undefined,
    requiredPersistentTopology: required ? { nodeTopologyKeys: required.split(",") } : undefined,
    preferredPersistentTopology: preferred
      ? [{ weight: WEIGHT, preference: { nodeTopologyKeys: preferred.split(",") } }]
      : undefined,
  };
  return {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "PersistentPodState",
    metadata: { name, namespace, ownerReferences: [controllerReference(target)] },
    spec,
  };
}
