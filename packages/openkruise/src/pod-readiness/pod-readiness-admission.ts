/**
 * Readiness of new OpenKruise pods.
 *
 * Adds the readiness gate `KruisePodReady`, as OpenKruise's webhook does. In a process that also runs the controllers
 * and the kubelets, a pod is also stored as these would leave it: with its gates true, with the lifecycle state Normal
 * once it has a node, and ready again as soon as its last gate becomes true. That saves writes per pod and ends in the
 * same state; in other processes the controllers write these fields.
 */
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { Pod, podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { controllerOf, parseApiVersion } from "@flotilla/apimachinery";
import type { Admission, KindRef, Review } from "@flotilla/apimachinery";
import type { PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { IN_PLACE_READY } from "../in-place/state.ts";
import { lifecycleState, withLifecycleState } from "../lifecycle/lifecycle.ts";
import { KRUISE_POD_READY, hasReadinessGate, withCondition } from "../pod/pod-ready.ts";
import { isPodInScope } from "../api/webhook-scope.ts";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";

/** `nowMs` reads the clock of the controllers. */
export function createPodStartAdmission(options: KruiseWebhookOptions): Admission<Pod> {
  const { gates, nowMs } = options;
  return {
    name: "PodReadiness",
    for: Pod,
    on: ["CREATE", "UPDATE"],

    mutate(review) {
      const { operation, object, subresource } = review;
      if (operation !== "CREATE" || subresource !== undefined || hasReadinessGate(object, KRUISE_POD_READY))
        return object;
      if (!ownerOf(object) && !(gates.isOn("KruisePodReadinessGate") && options.isInstalled(review.read)))
        return object;
      if (!isPodInScope(review, options)) return object;
      return {
        ...object,
        spec: {
          ...object.spec,
          readinessGates: [...(object.spec.readinessGates ?? []), { conditionType: KRUISE_POD_READY }],
        },
      };
    },

    prepare(review) {
      const { operation, object, oldObject, byController, cluster } = review;
      if (!byController || !options.appliesTo(cluster)) return object;
      if (operation === "CREATE") return withOpenGates(object);
      if (review.subresource === "status") return oldObject ? withReadyAgain(object, oldObject, nowMs()) : object;
      const isBound = oldObject?.spec.nodeName === undefined && object.spec.nodeName !== undefined;
      return isBound && lifecycleState(object) === "PreparingNormal" && !waitsForHook(review)
        ? withLifecycleState(object, "Normal", nowMs())
        : object;
    },
  };
}

/** The Kruise workload that controls the pod. */
function ownerOf(pod: ReadonlyPod): { kind: string; name: string } | undefined {
  const owner = controllerOf(pod);
  return owner && parseApiVersion(owner.apiVersion).group === "apps.kruise.io" ? owner : undefined;
}

const UPDATES_IN_PLACE: ReadonlySet<string> = new Set(["CloneSet", "StatefulSet", "DaemonSet"]);

function withOpenGates(pod: ReadonlyPod): ReadonlyPod {
  const lastTransitionTime = pod.metadata.creationTimestamp;
  const open = (type: string): DeepReadonly<PodCondition> => ({
    type,
    status: "True",
    lastTransitionTime,
  });
  // Only for pods whose controller sets the gate: for others the user does.
  const gates = [KRUISE_POD_READY, ...(UPDATES_IN_PLACE.has(ownerOf(pod)?.kind ?? "") ? [IN_PLACE_READY] : [])];
  return gates
    .filter((type) => hasReadinessGate(pod, type))
    .reduce((after, type) => withCondition(after, open(type)), pod);
}

const areGatesOpen = (pod: ReadonlyPod): boolean =>
  pod.spec.readinessGates?.every(({ conditionType }) => podCondition(pod, conditionType)?.status === "True") ?? false;

/**
 * The last gate becomes true and nothing else kept the pod unready: the kubelet would set Ready with its next write.
 */
function withReadyAgain(pod: ReadonlyPod, before: ReadonlyPod, nowMs: number): ReadonlyPod {
  const ready = podCondition(pod, "Ready");
  if (
    ready?.status !== "False" ||
    ready.reason !== "ReadinessGatesNotReady" ||
    podCondition(pod, "ContainersReady")?.status !== "True"
  )
    return pod;
  return !areGatesOpen(before) && areGatesOpen(pod)
    ? withCondition(pod, { type: "Ready", status: "True", lastTransitionTime: formatTime(nowMs) })
    : pod;
}

const WORKLOADS: Readonly<Record<string, KindRef<Workload>>> = { CloneSet, StatefulSet: AdvancedStatefulSet };
type Workload = CloneSet | AdvancedStatefulSet;

/** A preNormal hook decides when the pod is Normal; so does the owner of a pod of another kind. */
function waitsForHook({ object, read }: Review<Pod>): boolean {
  const owner = ownerOf(object);
  const kind = WORKLOADS[owner?.kind ?? ""];
  if (!owner || !kind) return true;
  const workload = read.get(kind, object.metadata.namespace, owner.name);
  return workload === undefined || workload.spec.lifecycle?.preNormal !== undefined;
}
