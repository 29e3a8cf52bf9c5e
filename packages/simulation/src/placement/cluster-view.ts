/**
 * One member cluster as placement sees it: its nodes and their load. A change of a pod or node has constant cost;
 * nothing here scans pods. Planning is synchronous, so preemption may remove pods temporarily to test what would fit.
 */
import type { Node } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { addAmounts, amountsOf } from "../amounts.ts";
import type { Amounts } from "../amounts.ts";
import { createPodCounts } from "./pod-counts.ts";
import type { PodCounts } from "./pod-counts.ts";
import type { PodView } from "./pod-view.ts";

export interface NodeView {
  readonly name: string;
  readonly node: DeepReadonly<Node>;
  /** Allocatable resources, in thousandths. */
  readonly allocatable: Amounts;
  readonly load: Load;
}

/** The load of a node. It survives changes of the node, and exists before the node if its pods are seen first. */
interface Load {
  readonly pods: ReadonlyMap<string, PodView>;
  readonly used: Amounts;
  /** The usage for scoring: a pod without requests counts with a default. */
  readonly weighed: { readonly cpu: number; readonly memory: number };
  /** Number of pods by owner. */
  readonly owners: ReadonlyMap<string, number>;
  /** Pods with host ports; few. */
  readonly withPorts: ReadonlySet<PodView>;
  /** Pods that wait for preemption victims to leave this node. */
  readonly nominated: ReadonlyMap<string, PodView>;
}

interface MutableLoad extends Load {
  pods: Map<string, PodView>;
  used: Map<string, number>;
  weighed: { cpu: number; memory: number };
  owners: Map<string, number>;
  withPorts: Set<PodView>;
  nominated: Map<string, PodView>;
}

/** The defaults of kube-scheduler for containers without requests: a tenth of a core and 200 MB. */
const ASSUMED_CPU = 100;
const ASSUMED_MEMORY = 200 * 2 ** 20 * 1000;

export class ClusterView {
  readonly #nodes = new Map<string, NodeView>();
  readonly #loads = new Map<string, MutableLoad>();
  /** By pod UID: the node on which the pod is counted. */
  readonly #places = new Map<string, { pod: PodView; node: string }>();
  readonly #nominations = new Map<string, string>();
  /** Pods with anti-affinity; few, compared to all. */
  readonly #avoiding = new Map<PodView, string>();
  /** The number of pods per priority; few priorities, compared to pods. */
  readonly #priorities = new Map<number, number>();
  readonly counts: PodCounts = createPodCounts(() => this.#places.values());

  get nodes(): ReadonlyMap<string, NodeView> {
    return this.#nodes;
  }

  /** Pods whose anti-affinity other pods must respect, with their node. */
  get avoiding(): ReadonlyMap<PodView, string> {
    return this.#avoiding;
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0 && this.#places.size === 0;
  }

  setNode(node: DeepReadonly<Node>): void {
    const { name } = node.metadata;
    this.#nodes.set(name, {
      name,
      node,
      allocatable: amountsOf(node.status?.allocatable ?? node.status?.capacity),
      load: this.#loadOf(name),
    });
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
    this.#dropLoad(name);
  }

  /** Whether any pod could be preempted by one of this priority. */
  hasLesser(priority: number): boolean {
    for (const other of this.#priorities.keys()) if (other < priority) return true;
    return false;
  }

  placeOf(uid: string): { readonly pod: PodView; readonly node: string } | undefined {
    return this.#places.get(uid);
  }

  podsOn(node: string): Iterable<PodView> {
    return this.#loads.get(node)?.pods.values() ?? [];
  }

  put(pod: PodView, node: string): void {
    this.lift(pod.uid);
    this.#places.set(pod.uid, { pod, node });
    const load = this.#loadOf(node);
    load.pods.set(pod.uid, pod);
    this.#weigh(load, pod, 1);
    if (pod.hostPorts.length > 0) load.withPorts.add(pod);
    if (pod.avoids.length > 0) this.#avoiding.set(pod, node);
    this.counts.add(pod, node, 1);
  }

  lift(uid: string): void {
    const place = this.#places.get(uid);
    if (!place) return;
    const { pod, node } = place;
    this.#places.delete(uid);
    const load = this.#loadOf(node);
    load.pods.delete(uid);
    this.#weigh(load, pod, -1);
    load.withPorts.delete(pod);
    this.#avoiding.delete(pod);
    this.counts.add(pod, node, -1);
    this.#dropLoad(node);
  }

  /** Nominates the node for the pod that waits for room; undefined clears the nomination. */
  nominate(pod: PodView, node: string | undefined): void {
    const before = this.#nominations.get(pod.uid);
    if (before !== undefined && before !== node) {
      this.#loads.get(before)?.nominated.delete(pod.uid);
      this.#nominations.delete(pod.uid);
      this.#dropLoad(before);
    }
    if (node === undefined) return;
    this.#nominations.set(pod.uid, node);
    this.#loadOf(node).nominated.set(pod.uid, pod);
  }

  #weigh(load: MutableLoad, { requests, owner, priority }: PodView, sign: 1 | -1): void {
    addAmounts(load.used, requests, sign);
    addCount(this.#priorities, priority, sign);
    load.weighed.cpu += sign * (requests.get("cpu") || ASSUMED_CPU);
    load.weighed.memory += sign * (requests.get("memory") || ASSUMED_MEMORY);
    if (owner) addCount(load.owners, owner, sign);
  }

  #loadOf(node: string): MutableLoad {
    let load = this.#loads.get(node);
    if (!load)
      this.#loads.set(
        node,
        (load = {
          pods: new Map(),
          used: new Map(),
          weighed: { cpu: 0, memory: 0 },
          owners: new Map(),
          withPorts: new Set(),
          nominated: new Map(),
        }),
      );
    return load;
  }

  #dropLoad(node: string): void {
    const load = this.#loads.get(node);
    if (load && !this.#nodes.has(node) && load.pods.size === 0 && load.nominated.size === 0) this.#loads.delete(node);
  }
}

function addCount<K>(counts: Map<K, number>, key: K, sign: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + sign;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
