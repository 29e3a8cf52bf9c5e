/** What the results of probes change on a pod. Pure. */
import type { PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyMarker } from "./podprobemarker-kind.ts";
import type { NodePodProbe } from "../nodepodprobe/nodepodprobe-kind.ts";

type Results = NonNullable<NonNullable<DeepReadonly<NodePodProbe>["status"]>["podProbeStatuses"]>[number];

type Metadata = Readonly<Record<string, string>>;

/** Returns the same pod if it needs no change. `markerNamed` returns no marker that ends. */
export function markPod(
  pod: ReadonlyPod,
  { probeStates = [] }: Results,
  markerNamed: (name: string) => ReadonlyMarker | undefined,
): ReadonlyPod {
  const types = new Set<string>();
  let conditions = pod.status?.conditions ?? [];
  let labels: Metadata = pod.metadata.labels ?? {};
  let annotations: Metadata = pod.metadata.annotations ?? {};
  for (const { name, state, message, lastProbeTime, lastTransitionTime } of probeStates) {
    const [marker = "", probeName] = name.split("#");
    const probe = state ? markerNamed(marker)?.spec.probes.find((one) => one.name === probeName) : undefined;
    if (!probe) continue;
    const { podConditionType: type = "", markerPolicy: policies = [] } = probe;
    // Of two probes for one condition the first decides.
    if (type !== "" && !types.has(type)) {
      types.add(type);
      const status = state === "Succeeded" ? "True" : "False";
      conditions = withProbeCondition(conditions, { type, status, message, lastProbeTime, lastTransitionTime });
    }
    const other = policies.findLast((policy) => policy.state !== state);
    const own = policies.findLast((policy) => policy.state === state);
    labels = { ...without(labels, other?.labels), ...own?.labels };
    annotations = { ...without(annotations, other?.annotations), ...own?.annotations };
  }
  const isSame =
    equalJson(conditions, pod.status?.conditions ?? []) &&
    equalJson(labels, pod.metadata.labels ?? {}) &&
    equalJson(annotations, pod.metadata.annotations ?? {});
  if (isSame) return pod;
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: filled(labels), annotations: filled(annotations) },
    status: { ...pod.status, conditions },
  };
}

const filled = (map: Metadata): Metadata | undefined => (Object.keys(map).length > 0 ? map : undefined);

const without = (map: Metadata, gone: Metadata = {}): Metadata =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !Object.hasOwn(gone, key)));

type Conditions = readonly DeepReadonly<PodCondition>[];

/** A new result of the same kind does not change the pod. */
function withProbeCondition(conditions: Conditions, next: DeepReadonly<PodCondition>): Conditions {
  const known = podCondition({ status: { conditions } } as unknown as ReadonlyPod, next.type);
  if (known?.status === next.status && (known.message ?? "") === (next.message ?? "")) return conditions;
  const changed = known?.status === next.status ? { ...next, lastTransitionTime: known.lastTransitionTime } : next;
  return known ? conditions.map((one) => (one === known ? changed : one)) : [...conditions, changed];
}
