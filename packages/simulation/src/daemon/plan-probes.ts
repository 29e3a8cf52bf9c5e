/**
 * The results of probes in simulated containers. A plain command succeeds or fails as written; any other probe succeeds
 * while its container is ready. An annotation of the pod makes probes fail. Pure.
 */
import type {
  ContainerProbe,
  ContainerProbeState,
  PodProbeStatus,
} from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Pod } from "@flotilla/kubernetes";
import type { NodePodProbe } from "@flotilla/openkruise";
import { FAILING_PROBES, annotationOf } from "../annotations.ts";
import { scriptOf } from "../kubelet/script.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type Probe = DeepReadonly<ContainerProbe>;
type State = DeepReadonly<ContainerProbeState>;

export interface ProbePlan {
  status: NonNullable<DeepReadonly<NodePodProbe>["status"]>;
  /** New results. */
  changed: readonly { pod: ReadonlyPod; state: State }[];
  /** Until a delayed probe runs. */
  waitMs?: number;
}

export function planProbes(
  { spec, status }: DeepReadonly<NodePodProbe>,
  podWith: (uid: string, namespace: string, name: string) => ReadonlyPod | undefined,
  nowMs: number,
): ProbePlan {
  const changed: { pod: ReadonlyPod; state: State }[] = [];
  const waits: number[] = [];
  const podProbeStatuses: DeepReadonly<PodProbeStatus>[] = [];
  for (const { uid, namespace, name, probes = [] } of spec?.podProbes ?? []) {
    const pod = podWith(uid, namespace, name);
    if (!pod) continue;
    const before = status?.podProbeStatuses?.find((one) => one.uid === uid)?.probeStates ?? [];
    const probeStates = probes.flatMap((probe): State[] => {
      const known = before.find((state) => state.name === probe.name);
      const result = resultOf(pod, probe, nowMs);
      if (typeof result === "number") waits.push(result);
      if (result === undefined || typeof result === "number") return known ? [known] : [];
      if (known?.state === result.state && (known.message ?? "") === result.message) return [known];
      const now = formatTime(nowMs);
      const state = { name: probe.name, ...result, lastProbeTime: now, lastTransitionTime: now };
      changed.push({ pod, state });
      return [state];
    });
    if (probeStates.length > 0) podProbeStatuses.push({ name, namespace, uid, probeStates });
  }
  return {
    status: podProbeStatuses.length > 0 ? { podProbeStatuses } : {},
    changed,
    waitMs: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

/** Milliseconds until the probe runs, or its result; undefined if the container has not started. */
function resultOf(
  pod: ReadonlyPod,
  { name, containerName, probe }: Probe,
  nowMs: number,
): number | { state: string; message: string } | undefined {
  const container = pod.status?.containerStatuses?.find((one) => one.name === containerName);
  if (!container?.containerID) return undefined;
  const startedAt = container.state?.running?.startedAt;
  if (!startedAt) return { state: "Failed", message: `Container(${containerName}) is Non-running` };
  const leftMs = Date.parse(startedAt) + Math.max(1, probe.initialDelaySeconds ?? 0) * 1000 - nowMs;
  if (leftMs > 0) return leftMs;
  const failing = (annotationOf(pod, FAILING_PROBES) ?? "").split(",").map((text) => text.trim());
  if (failing.includes(name.slice(name.indexOf("#") + 1)))
    return { state: "Failed", message: `annotation ${FAILING_PROBES}` };
  const script = scriptOf({ command: [...(probe.exec?.command ?? [])] });
  const isSuccess = script ? script.exitCode === 0 : container.ready;
  return {
    state: isSuccess ? "Succeeded" : "Failed",
    message: script?.echoes.map(({ text }) => text).join("\n") ?? "",
  };
}
