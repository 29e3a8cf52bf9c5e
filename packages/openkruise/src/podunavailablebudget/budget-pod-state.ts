/**
 * Predicates of a PodUnavailableBudget on a pod: whether it is available, and whether a change would make it
 * unavailable. Pure.
 */
import { isReady, qosClassOf } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { compareQuantities, tryParseQuantity } from "@flotilla/apimachinery";
import { whyIncomplete } from "../in-place/refresh.ts";
import { isSidecarUpdateComplete, runsDigest } from "../sidecarset/consistency.ts";
import { injectedSets, isInjectedContainer } from "../sidecarset/sidecarset-names.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export type ReadonlyBudget = DeepReadonly<PodUnavailableBudget>;

/** On pods: the name of their budget. */
export const RELATED_BUDGET_ANNOTATION = "kruise.io/related-pub";
/** The prefix of labels with which users mark a pod as unavailable. */
const UNAVAILABLE_LABEL_PREFIX = "unavailable-pod.kruise.io/";
/** Kubelets record the source of a pod; a pod from another source than the API server is a static pod. */
const CONFIG_SOURCE_ANNOTATION = "kubernetes.io/config.source";

const isLabelledUnavailable = ({ metadata }: ReadonlyPod): boolean =>
  Object.keys(metadata.labels ?? {}).some((key) => key.startsWith(UNAVAILABLE_LABEL_PREFIX));

/** Whether the pod is available, according to its conditions and labels. */
export function isServing(pod: ReadonlyPod): boolean {
  return pod.status?.phase === "Running" && isReady(pod) && !isLabelledUnavailable(pod);
}

/** Whether its containers run the spec: during an in-place update they do not, and conditions lag behind. */
export function isConsistent(pod: ReadonlyPod, gates: FeatureGates): boolean {
  const containers = pod.spec.containers ?? [];
  const digests = containers.map(({ name, image = "" }) => runsDigest(pod, name, image));
  if (digests.includes(false)) return false;
  if (!digests.includes(undefined)) return true;
  const sets = injectedSets(pod);
  const sidecars = new Set(containers.filter(isInjectedContainer).map(({ name }) => name));
  if (sets.length > 0 && sidecars.size > 0 && !isSidecarUpdateComplete(pod, sets, sidecars)) return false;
  return isUpdateComplete(pod, gates);
}

function isUpdateComplete(pod: ReadonlyPod, gates: FeatureGates): boolean {
  try {
    return whyIncomplete(pod, gates) === undefined;
  } catch (error) {
    // The annotation has an unknown format, so the progress of the update is unknown.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

export const isAvailable = (pod: ReadonlyPod, gates: FeatureGates): boolean =>
  isServing(pod) && isConsistent(pod, gates);

/** Whether a change may make the pod unavailable. */
export function mayBecomeUnavailable(before: ReadonlyPod, after: ReadonlyPod): boolean {
  return addsUnavailableLabel(before, after) || (before.spec !== after.spec && !equalJson(before.spec, after.spec));
}

const addsUnavailableLabel = (before: ReadonlyPod, after: ReadonlyPod): boolean =>
  !isLabelledUnavailable(before) && isLabelledUnavailable(after);

/** Whether only cpu and memory change, of containers that need no restart for it. */
export function canResizeInPlace(before: ReadonlyPod, after: ReadonlyPod): boolean {
  if (addsUnavailableLabel(before, after) || !equalJson(withoutResources(before), withoutResources(after)))
    return false;
  if (isStatic(before) || isStatic(after) || qosClassOf(before.spec) !== qosClassOf(after.spec)) return false;
  const old = new Map(before.spec.containers?.map((container) => [container.name, container]));
  return (after.spec.containers ?? []).every((container) => {
    const { resources: was } = old.get(container.name) ?? {};
    const { resources: is, resizePolicy = [] } = container;
    const names = new Set(
      [was?.requests, is?.requests, was?.limits, is?.limits].flatMap((amounts) => Object.keys(amounts ?? {})),
    );
    return [...names].every((name) => {
      if (
        isSameAmount(was?.requests?.[name], is?.requests?.[name]) &&
        isSameAmount(was?.limits?.[name], is?.limits?.[name])
      )
        return true;
      const policy = resizePolicy.findLast(({ resourceName }) => resourceName === name)?.restartPolicy;
      return (name === "cpu" || name === "memory") && (policy === undefined || policy === "NotRequired");
    });
  });
}

function withoutResources({ spec }: ReadonlyPod): unknown {
  return { ...spec, containers: spec.containers?.map((container) => ({ ...container, resources: undefined })) };
}

function isStatic({ metadata }: ReadonlyPod): boolean {
  const source = metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];
  return source !== undefined && source !== "api";
}

function isSameAmount(a: string | number | undefined, b: string | number | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b;
  const [left, right] = [tryParseQuantity(a), tryParseQuantity(b)];
  return left !== undefined && right !== undefined && compareQuantities(left, right) === 0;
}
