/**
 * Defines what a kind means to the fleet: how many replicas it requests, how it is divided, how its status is read.
 * Kinds are matched by group and kind across versions.
 *
 * Pure. A missing operation means that the kind has no such concept.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { ConditionSums } from "./summed-conditions.ts";
import type { StatusItem } from "./status-item.ts";
import type { TimeToLive } from "./time-to-live.ts";

/** The requirements of one replica, in the format of a binding's `replicaRequirements`. */
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
  /** Whether the placement gives every member all replicas; if unknown, equal numbers imply it. */
  isWhole?: boolean;
  /** The status last reported by the member. */
  observed?: Json;
  /** The member's copy as last dispatched; the division reads existing assignments from it. */
  copy?: DeepReadonly<KubernetesObject>;
  /** The copy was never reported as applied: the member may not have the object yet, at any generation. */
  isUndelivered?: true;
  /** Override policies changed the copy. */
  isOverridden?: true;
  /**
   * The member gets no copies at the moment, because it is unreachable or dispatching to it is suspended. `behind`: it
   * does not have the last copy. `unsure`: it may have received it.
   */
  held?: "behind" | "unsure";
  /** The member rejected the last copy, or a user's rule failed before it was sent: the member has the one before. */
  isRejected?: true;
  /** The member has lost the object, with its pods, and gets this copy as a new object. */
  isGone?: true;
  /**
   * A user's rule leaves the partition or the strategy to the member, so a copy does not decide how many pods it
   * updates.
   */
  memberDecides?: true;
  /**
   * The member is no longer a target. It gets no replicas, but its workload may still run there: if a division still
   * returns a copy for it, that copy is applied; without one, the member's copy is removed.
   */
  leaving?: true;
  /** For a kind that `concerns` workloads: these on the member. Unset if the hub propagates none of them. */
  workloads?: WorkloadsOnMember;
}

/** The workloads that an object concerns, on one member. */
export interface WorkloadsOnMember {
  /** The replicas that the hub assigned to the member. */
  replicas: number;
  /** Pods that the member still has to update, or that are not available yet, as it last reported. */
  unsettled: number;
  /** Every member runs all replicas. */
  isWhole: boolean;
}

/** The workloads whose pods an object concerns: a named one, or those whose pods have matching labels. */
export type Concern =
  | { readonly workload: { readonly apiVersion: string; readonly kind: string; readonly name: string } }
  | { readonly pods: DeepReadonly<JsonObject> };

/** What selectors of pods read. */
export type LabelledPod = DeepReadonly<Pick<KubernetesObject, "metadata">>;

/** The labels of a namespace; undefined if it does not exist. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined;

export interface Dependency {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name?: string;
  labelSelector?: JsonObject;
}

/** What a release allows the copy of one member. */
export interface ReleaseLimits {
  /** How many pods keep the revision before; unset leaves the partition of the template. */
  partition?: number | undefined;
  /** How many pods may be unavailable; unset leaves the budget of the template. */
  maxUnavailable?: number | undefined;
  isPaused: boolean;
}

/** Pods of a member that keep a release. */
export interface UnreturnedPods {
  readonly cluster: string;
  /** Pods that the copy lets have the release, and pods that have it. */
  readonly asked: number;
  readonly updated: number;
  readonly why: string;
}

/** The owner of a pod that manages it. */
export interface ControllerReference {
  readonly kind: string;
  readonly name: string;
}

/** How the member's controller of a kind updates pods, and how a release limits it. */
interface KindRelease<T extends KubernetesObject = KubernetesObject> {
  /** Whether `limit` can keep part of the pods at the revision before. */
  hasPartition?: true;
  /** How many pods an update makes unavailable: `maxUnavailable` of them, one, or all. */
  takesDown(object: DeepReadonly<T>): "budget" | "one" | "all";
  /**
   * Whether a pod with this controller is one of the object's: another workload may select the same labels. Unset where
   * the selector decides alone.
   */
  ownsPodOf?(object: DeepReadonly<T>, controller: ControllerReference | undefined): boolean;
  /** The object with the limits for which the kind has fields. Unset for a kind that has none. */
  limit?(object: DeepReadonly<T>, limits: ReleaseLimits): DeepReadonly<T>;
}

export interface KindInterpreter<T extends KubernetesObject = KubernetesObject> {
  group: string;
  kind: string;
  /** The versions that the rules apply to; all by default. */
  versions?: readonly string[];
  replicas?(object: DeepReadonly<T>): Replicas;
  components?(object: DeepReadonly<T>): Component[];
  /** The result shares unchanged parts with its input. */
  reviseReplicas?(object: DeepReadonly<T>, replicas: number): DeepReadonly<T>;
  /**
   * All copies at once, keyed by cluster: this makes a partition, a budget or ordinals fleet-wide. Without it each copy
   * is `reviseReplicas(object, share.replicas)`.
   */
  divide?(object: DeepReadonly<T>, shares: readonly Share[]): ReadonlyMap<string, DeepReadonly<T>>;
  /** The desired object with the fields that the member's own controllers set copied from the observed object. */
  retain?(desired: DeepReadonly<T>, observed: DeepReadonly<T>): DeepReadonly<T>;
  /** The part of a member object that is reported to the hub. Without it, the whole status. */
  reflectStatus?(object: DeepReadonly<T>): Json | undefined;
  /**
   * Restates what a user's rule reflected in the terms of the hub, where `divide` writes copies whose counters mean
   * something else than on the template. Fields that the kind does not know are the rule's own and stay.
   */
  restateStatus?(object: DeepReadonly<T>, status: Json | undefined): Json | undefined;
  /** The template with the members' aggregated status. Returns the template itself when nothing differs. */
  aggregateStatus?(object: DeepReadonly<T>, items: readonly StatusItem[]): DeepReadonly<T>;
  /** The conditions that are summed after `aggregateStatus`, unless a user's rule aggregates the status. */
  conditions?: ConditionSums;
  isHealthy?(object: DeepReadonly<T>): boolean;
  dependencies?(object: DeepReadonly<T>): Dependency[];
  /** For kinds whose pods are updated when the template changes. */
  release?: KindRelease<T>;
  /**
   * For kinds whose updated pods keep the release when a partition is raised: the fields of the spec that a release
   * changes.
   */
  keepsUpdated?: readonly string[];
  /**
   * For kinds whose pods keep a release although its partition was raised, where nothing rolls them back. `copies` is the
   * result of `divide` for the shares.
   */
  unreturned?(copies: ReadonlyMap<string, DeepReadonly<KubernetesObject>>, shares: readonly Share[]): UnreturnedPods[];
  /** For kinds whose users name the pods that are deleted first. */
  podsToDelete?: {
    /** Where the spec has the list of names. */
    readonly path: readonly string[];
    /** What the names of the object's pods begin with. */
    podPrefix(name: string): string;
  };
  /** For kinds that limit or change the pods of workloads in their namespace. */
  concerns?(object: DeepReadonly<T>): Concern | undefined;
  /** For cluster-scoped kinds that add containers to the pods of namespaces: whether they do to this pod. */
  injectsInto?(object: DeepReadonly<T>, pod: LabelledPod, labelsOf: NamespaceLabels): boolean;
  /** For kinds that change pods only when they are created; the others act on pods that run. */
  changesNewPods?: true;
  /** A template without the fields that a member allocates or generates itself. Returns the template if it has none. */
  prune?(template: DeepReadonly<T>): DeepReadonly<T>;
  /** For kinds with a field that makes their controller delete a finished object. */
  timeToLive?: TimeToLive;
  /** For kinds that run once: whether a member's reported status says that its run is over, successful or not. */
  isFinished?(status: JsonObject): boolean;
}
