/**
 * What the nodes of every member already carry, kept up to date by the pods' changes: choosing a node reads one number per
 * node and never a list of pods. A pod that was just placed counts at once, before the informer shows it.
 */
import { Pod } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { tryParseQuantity, quantityMilliValue } from "../machinery/index.ts";
import type { Informers } from "../runtime/index.ts";

/** Thousandths of a core and of a byte, so that both are whole numbers. */
export interface Resources {
  cpu: number;
  memory: number;
}

export interface Usage extends Resources {
  pods: number;
}

export interface NodeUsage {
  of(cluster: string, node: string): Readonly<Usage>;
  /** The pod was placed; its own change confirms it later. */
  assume(cluster: string, pod: DeepReadonly<Pod>, node: string): void;
  /** The placement failed. */
  release(cluster: string, pod: DeepReadonly<Pod>): void;
}

const NONE: Readonly<Usage> = { pods: 0, cpu: 0, memory: 0 };

export function createNodeUsage(informers: Informers): NodeUsage {
  const usage = new Map<string, Usage>();
  /** By pod UID: where it counts and for how much. */
  const counted = new Map<string, { node: string; requests: Resources }>();

  const add = (node: string, { cpu, memory }: Resources, sign: 1 | -1): void => {
    const before = usage.get(node) ?? NONE;
    const after = { pods: before.pods + sign, cpu: before.cpu + sign * cpu, memory: before.memory + sign * memory };
    if (after.pods > 0) usage.set(node, after);
    else usage.delete(node);
  };
  const place = (uid: string, node: string | undefined, pod: DeepReadonly<Pod>): void => {
    const before = counted.get(uid);
    if (before?.node === node) return;
    if (before) add(before.node, before.requests, -1);
    counted.delete(uid);
    if (node === undefined) return;
    const requests = requestsOf(pod);
    counted.set(uid, { node, requests });
    add(node, requests, 1);
  };

  informers.of(Pod).subscribe(({ cluster, object, deleted }) => {
    const uid = `${cluster}/${object.metadata.uid}`;
    const isOver = deleted || object.status?.phase === "Succeeded" || object.status?.phase === "Failed";
    if (isOver) place(uid, undefined, object);
    // A change from before the placement must not take back what was assumed.
    else if (object.spec.nodeName) place(uid, `${cluster}/${object.spec.nodeName}`, object);
  });
  return {
    of: (cluster, node) => usage.get(`${cluster}/${node}`) ?? NONE,
    assume: (cluster, pod, node) => place(`${cluster}/${pod.metadata.uid}`, `${cluster}/${node}`, pod),
    release: (cluster, pod) => place(`${cluster}/${pod.metadata.uid}`, undefined, pod),
  };
}

/** What the scheduler counts: the sum of the containers, or the largest init container where that is more. */
export function requestsOf({ spec }: DeepReadonly<Pod>): Resources {
  const sum = (name: "cpu" | "memory"): number => {
    const containers = spec.containers.reduce((total, { resources }) => total + milli(resources?.requests?.[name]), milli(spec.overhead?.[name]));
    const init = Math.max(0, ...(spec.initContainers ?? []).map(({ resources }) => milli(resources?.requests?.[name])));
    return Math.max(containers, init);
  };
  return { cpu: sum("cpu"), memory: sum("memory") };
}

/** What cannot be read requests nothing; the API server has already refused such pods. */
export function milli(text: string | number | undefined): number {
  const quantity = text === undefined ? undefined : tryParseQuantity(text);
  return quantity ? Number(quantityMilliValue(quantity)) : 0;
}
