/**
 * What a kind means to the fleet: how many replicas it asks for, how it is divided, what its status says. One file per
 * kind in `native/` and `thirdparty/<group>/`; kinds are matched by group and kind across versions.
 *
 * Pure. An operation that is missing means "this kind has no such notion".
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly, Json, JsonObject } from "../base/index.ts";

/** What one replica asks of a cluster, in the shape of a binding's `replicaRequirements`. */
export interface ReplicaRequirements {
  nodeClaim?: { hardNodeAffinity?: JsonObject; nodeSelector?: Record<string, string>; tolerations?: JsonObject[] };
  resourceRequest?: Record<string, string>;
  namespace?: string;
  priorityClassName?: string;
}

export interface Replicas {
  replicas: number;
  requirements?: ReplicaRequirements;
}

export interface Component extends Replicas {
  name: string;
}

/** The part of an object that one member runs. */
export interface Share {
  cluster: string;
  replicas: number;
  /** What it ran before this division. */
  previous?: number;
  /**
   * Whether the placement gives every member all replicas; where that is not known, numbers that are all the same say
   * so.
   */
  isWhole?: boolean;
  /** The status that the member last reported. */
  observed?: Json;
  /** The member's copy as it was last dispatched; what it owns already is read from it. */
  copy?: DeepReadonly<KubernetesObject>;
  /** Override policies changed the copy. */
  isOverridden?: true;
  /**
   * The member gets no copies at the moment, because it cannot be reached or dispatching there is suspended. `behind`:
   * it does not have the last one. `unsure`: it may have got it.
   */
  held?: "behind" | "unsure";
  /**
   * The member is not a target any more. It gets nothing, but what it was given may still run there: a division that
   * gives it a copy all the same has that applied, and only without one is the member's copy removed.
   */
  leaving?: true;
}

/** What one member says about its copy; an element of a binding's `aggregatedStatus`. */
export interface StatusItem {
  clusterName: string;
  status?: Json;
  applied?: boolean;
  appliedMessage?: string;
  health?: "Healthy" | "Unhealthy" | "Unknown";
}

export interface Dependency {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name?: string;
  labelSelector?: JsonObject;
}

export interface KindInterpreter<T extends KubernetesObject = KubernetesObject> {
  group: string;
  kind: string;
  /** The versions that the rules hold for; all of them unless stated. */
  versions?: readonly string[];
  replicas?(object: DeepReadonly<T>): Replicas;
  components?(object: DeepReadonly<T>): Component[];
  /** Shares with its input what stays the same. */
  reviseReplicas?(object: DeepReadonly<T>, replicas: number): DeepReadonly<T>;
  /**
   * Every member's copy at once, keyed by cluster: here a partition, a budget or ordinals become fleet-wide. Without it
   * each copy is `reviseReplicas(object, share.replicas)`.
   */
  divide?(object: DeepReadonly<T>, shares: readonly Share[]): ReadonlyMap<string, DeepReadonly<T>>;
  /** The desired object with the fields that the member's own controllers decide taken from what is observed. */
  retain?(desired: DeepReadonly<T>, observed: DeepReadonly<T>): DeepReadonly<T>;
  /** What of a member object goes back to the hub. Without it, the whole status. */
  reflectStatus?(object: DeepReadonly<T>): Json | undefined;
  /** The template with the members' statuses summed. Returns the template itself when nothing differs. */
  aggregateStatus?(object: DeepReadonly<T>, items: readonly StatusItem[]): DeepReadonly<T>;
  isHealthy?(object: DeepReadonly<T>): boolean;
  dependencies?(object: DeepReadonly<T>): Dependency[];
}
