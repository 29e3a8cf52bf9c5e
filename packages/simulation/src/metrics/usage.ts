/**
 * Resource usage of pods: nothing runs, so an annotation sets it, or else it is a share of the requests derived from
 * the UID: the same on every read, and different between pods. Pure.
 */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { fnv1a32 } from "@flotilla/apimachinery";
import { milli } from "../amounts.ts";
import { CPU_USAGE, MEMORY_USAGE, annotationOf } from "../annotations.ts";

type ReadonlyPod = DeepReadonly<Pod>;

interface ContainerUsage {
  name: string;
  /** Thousandths of a core. */
  cpu: number;
  /** Bytes. */
  memory: number;
}

export interface PodUsage {
  cpu: number;
  memory: number;
  containers: readonly ContainerUsage[];
}

/** The usage of a container without requests. */
const IDLE = { cpu: 10, memory: 20 * 2 ** 20 } as const;
const LOWEST_SHARE = 0.3;
const HIGHEST_SHARE = 0.7;

/**
 * Undefined for a pod in which nothing runs. `loadMilli` are the thousandths of a core that the clients of its Services
 * keep busy; they replace the share of the requests.
 */
export function usageOf(pod: ReadonlyPod, loadMilli?: number): PodUsage | undefined {
  const { metadata, spec, status } = pod;
  if (status?.phase !== "Running") return undefined;
  const running = new Set(
    [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].flatMap(({ name, state }) =>
      state?.running ? [name] : [],
    ),
  );
  const named = [...spec.containers, ...(spec.initContainers ?? [])].filter(({ name }) => running.has(name));
  if (named.length === 0) return undefined;
  const share = LOWEST_SHARE + (fnv1a32(metadata.uid ?? metadata.name) / 2 ** 32) * (HIGHEST_SHARE - LOWEST_SHARE);
  // The annotated value is for the whole pod.
  const cpu = dividedBy(milli(annotationOf(pod, CPU_USAGE)), annotationOf(pod, CPU_USAGE), named.length);
  const memory = dividedBy(
    milli(annotationOf(pod, MEMORY_USAGE)) / 1000,
    annotationOf(pod, MEMORY_USAGE),
    named.length,
  );
  const ofLoad = loadMilli === undefined ? undefined : loadMilli / named.length;
  const containers = named.map((container) => ({
    name: container.name,
    cpu: Math.round(cpu ?? ofLoad ?? (share * requested(container, "cpu") || IDLE.cpu)),
    memory: Math.round(memory ?? ((share * requested(container, "memory")) / 1000 || IDLE.memory)),
  }));
  return { cpu: total(containers, "cpu"), memory: total(containers, "memory"), containers };
}

const dividedBy = (value: number, stated: string | undefined, count: number): number | undefined =>
  stated === undefined ? undefined : value / count;
const requested = ({ resources }: DeepReadonly<Container>, name: "cpu" | "memory"): number =>
  milli(resources?.requests?.[name] ?? resources?.limits?.[name]);
const total = (containers: readonly ContainerUsage[], name: "cpu" | "memory"): number =>
  containers.reduce((sum, container) => sum + container[name], 0);
