/**
 * Manifests on one member: apply them, remove them, watch their state. Karmada's Work and OCM's ManifestWork both use
 * it, on the hub (push) or in an agent (pull). `test/contract/delivery.ts` is the contract suite.
 */
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { AnyKind } from "@flotilla/client";
import type { Lane } from "@flotilla/controller-runtime";
import type { FieldDrift } from "./drift.ts";
import type { ApplyMode, Ownership } from "./ownership.ts";

/** An object on the member. */
export interface ObjectRef {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
}

/**
 * Retains the fields that the member decides: returns the desired object with those fields copied from the observed
 * one.
 */
export type RetainFn = (
  desired: DeepReadonly<KubernetesObject>,
  observed: DeepReadonly<KubernetesObject>,
) => DeepReadonly<KubernetesObject> | Promise<DeepReadonly<KubernetesObject>>;

export interface ApplyPolicy {
  mode: ApplyMode;
  /** Take fields from other managers. */
  force: boolean;
  fieldManager: string;
  /** Who owns the object, and how the object records it. Unset are marks of any owner. */
  ownership?: Ownership;
  retain?: RetainFn;
  /** Dotted paths that are never written once the object exists. */
  ignoreFields?: string[];
  /**
   * Handling of our fields that were changed on the member: `repair` (default) restores them; `report` keeps every
   * field that another manager owns and reports it.
   */
  drift?: "repair" | "report";
  /**
   * Who owns `spec.replicas` of an existing object: `autoscaled` leaves it to the member while an autoscaler there
   * scales the object, `theirs` always does. Unset, we own it.
   */
  replicas?: "autoscaled" | "theirs";
  /** With `update`: fields of the object that contain the desired entries and nothing else. */
  exact?: readonly string[];
  /**
   * This manifest was not delivered before. While the member's state is unknown, delivery attempts a create directly.
   */
  isFirst?: boolean;
  /** Called before the first request to the member, if any is needed. May throw to prevent it. */
  beforeRequest?(): void;
  /** Called before a write. May throw to prevent it. */
  beforeWrite?(): Promise<void>;
  /** Called before an object that the member does not have is created. May throw to prevent it. */
  beforeCreate?: (() => void) | undefined;
  /** Called with the fields to write before an existing object is changed. May throw to prevent it. */
  beforeChange?(applied: DeepReadonly<KubernetesObject>, observed: DeepReadonly<KubernetesObject>): void;
}

/** An object that a holder may own, as recorded in its status. */
export interface HeldResource {
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  name: string;
  /** Excludes another object with the same name. */
  uid: string;
}

interface DisownPolicy {
  reference: OwnerReference;
  /** `delete` deletes an object without other holders, `release` leaves it running. */
  mode: "delete" | "release";
  beforeRequest?(): void;
}

export type ApplyOutcome =
  /** `drift` lists the fields that were changed on the member; they were repaired, or kept with `report`. */
  | {
      result: "created" | "updated" | "unchanged";
      object: DeepReadonly<KubernetesObject>;
      drift?: readonly FieldDrift[];
      /** It existed without our marks, and is ours now. */
      isAdopted?: true | undefined;
      /** The member decides its replicas: it has another number than the manifest. */
      leavesReplicas?: true | undefined;
    }
  /** It exists, is not ours, and `adopt` is off. Nothing was written. */
  | { result: "conflict"; message: string }
  /** `read-only`, and the object does not exist. */
  | { result: "absent" };

export interface RemovePolicy {
  /** `delete` deletes the object; `release` leaves it running, removes our marks and gives up our fields. */
  mode: "delete" | "release";
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Only objects of this owner are touched. Unset are marks of any owner. */
  ownership?: Ownership;
  /** With `release`: the same owner may reclaim it later. */
  mayReturn?: boolean;
  /**
   * With `delete`, called for a namespace or CRD on the member that still contains objects, which would be deleted with
   * it. Returns whether the object is released for the owner to reclaim, or left unchanged.
   */
  whenHolding?(found: string): "release" | "leave";
  beforeRequest?(): void;
}

export interface Observation {
  ref: ObjectRef;
  /** Undefined when the member does not have it. */
  object: DeepReadonly<KubernetesObject> | undefined;
  /** The version before; unset when something else than the object itself changed, or it is new. */
  old?: DeepReadonly<KubernetesObject> | undefined;
}

/** The member's state of the observed objects: the latest on demand, and a call for every change. */
export interface Subscription {
  /** The latest observed object; undefined when it does not exist, or is not known yet (see `isFresh`). */
  get(ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined;
  /** The plural under which the member serves this kind; undefined while unknown. */
  resourceOf(ref: ObjectRef): string | undefined;
  /**
   * True when the cache of this object's kind is complete and its watch is connected: only then does absence mean
   * absence.
   */
  isFresh(ref: ObjectRef): boolean;
  onChange(listener: (observation: Observation, lane: Lane) => void): void;
  close(): void;
}

/** `going`: its deletion was requested, and the member still has it. */
export type Removed = "gone" | "going";

export interface Delivery {
  /**
   * Throws `ApiError` when the member rejects the request, `UnreachableError` when it does not answer,
   * `UnknownKindError` when it does not serve the kind.
   */
  apply(manifest: DeepReadonly<KubernetesObject>, policy: ApplyPolicy, signal: AbortSignal): Promise<ApplyOutcome>;
  /**
   * Touches only objects of the policy's owner. Returns `going` while the object is terminating, and `gone` when it
   * does not exist or stays on purpose.
   */
  remove(ref: ObjectRef, policy: RemovePolicy, signal: AbortSignal): Promise<Removed>;
  /**
   * Releases the object from one holder. Returns `going` while the object is terminating. Touches only objects that the
   * reference holds.
   */
  disown(resource: HeldResource, policy: DisownPolicy, signal: AbortSignal): Promise<Removed>;
  /** Resolves a kind as the member serves it. Throws as `apply` does. */
  kindOf(ref: { apiVersion: string; kind: string }, policy: Pick<ApplyPolicy, "beforeRequest">): Promise<AnyKind>;
  observe(refs: Iterable<ObjectRef>): Subscription;
}
