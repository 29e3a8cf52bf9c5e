/** A pod of an Advanced DaemonSet: Kubernetes' daemon pod, with the readiness gate of in-place updates. */
import type { Random } from "@flotilla/base";
import { daemonPod } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { IN_PLACE_READY } from "../in-place/state.ts";
import { hasReadinessGate } from "../pod/pod-ready.ts";
import { rollingOf } from "./limits.ts";
import type { ReadonlyDaemonSet } from "./nodes.ts";

export function makePod(set: ReadonlyDaemonSet, node: string, hash: string, random: Random): ReadonlyPod {
  const pod = daemonPod(set, node, hash, random);
  if (rollingOf(set).rollingUpdateType !== "InPlaceIfPossible" || hasReadinessGate(pod, IN_PLACE_READY)) return pod;
  return {
    ...pod,
    spec: { ...pod.spec, readinessGates: [...(pod.spec.readinessGates ?? []), { conditionType: IN_PLACE_READY }] },
  };
}
