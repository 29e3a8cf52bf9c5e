/**
 * Manifests on one member: apply them, remove them, watch what became of them. Karmada's Work and OCM's ManifestWork
 * are two faces of this, on the hub (push) or in an agent (pull). `test/contract/delivery.ts` is the suite.
 */
import type { KubernetesObject, OwnerReference } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { AnyKind } from "../client/index.ts";
import type { Lane } from "../runtime/index.ts";
import type { FieldDrift } from "./drift.ts";

/** An object on the member. */
export interface ObjectRef {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
}

/** Takes over what the member decides: the desired object with those fields filled from the observed one. */
export type RetainFn = (
  desired: DeepReadonly<KubernetesObject>,
  observed: DeepReadonly<KubernetesObject>,
) => DeepReadonly<KubernetesObject> | Promise<DeepReadonly<KubernetesObject>>;

export interface ApplyPolicy {
  /**
   * `apply` is server-side apply, `update` a PUT of the merged object as Karmada does, `create-only` never changes what
   * is there, `read-only` writes nothing.
   */
  mode: "apply" | "update" | "create-only" | "read-only";
  /** Take fields from other managers. */
  force: boolean;
  fieldManager: string;
  /**
   * Whether an object that we did not create may be taken over. Without it such an object is left alone and reported.
   */
  adopt: boolean;
  retain?: RetainFn;
  /** Dotted paths that are never written once the object exists. */
  ignoreFields?: string[];
  /** Who delivers, `namespace/name`: an object that was released from the same owner may be taken back. */
  owner?: string;
  /**
   * What happens to fields of ours that somebody on the member changed: `repair` puts them back, which is what happens
   * unless it is said; `report` leaves every field alone that somebody else owns and tells of it.
   */
  drift?: "repair" | "report";
  /**
   * Whose `spec.replicas` of an existing object are: `autoscaled` leaves them to the member while an autoscaler there
   * scales it, `theirs` in any case. Unset, they are ours.
   */
  replicas?: "autoscaled" | "theirs";
  /** Ownership by reference takes the place of our marks, as OCM has it. */
  shared?: SharedOwnership;
  /** With `update`: fields of the object that hold what is wanted and nothing else. */
  exact?: readonly string[];
  /**
   * Nothing was delivered for this manifest before. While it is not known what the member has, making the object is
   * simply tried.
   */
  isFirst?: boolean;
  /** Called before the first request to the member, if one is needed at all. Throws to make none. */
  beforeRequest?(): void;
  /** Called before something is written. Throws to write nothing. */
  beforeWrite?(): Promise<void>;
}

/**
 * An object that is held by references of its own metadata. Several may hold it, and it stays until the last lets go;
 * it may have been there before. What was delivered under our marks is another's, and is left alone.
 */
export interface SharedOwnership {
  /** Names the holder. */
  reference: OwnerReference;
  /** False for one that keeps the object up and does not take it along when it goes: its reference is taken off. */
  isHeld: boolean;
  /**
   * The manifest was delivered before: when another holder has made something else of the object since then, it is left
   * so.
   */
  isDelivered: boolean;
}

/** An object that a holder may have, as it notes it. */
export interface HeldResource {
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  name: string;
  /** Another object under the same name is not meant. */
  uid: string;
}

export interface DisownPolicy {
  reference: OwnerReference;
  /** `delete` deletes what nobody else holds, `release` leaves it running. */
  mode: "delete" | "release";
  beforeRequest?(): void;
}

export type ApplyOutcome =
  /** `drift` is what was found changed on the member, and repaired, or left as it is with `report`. */
  | {
      result: "created" | "updated" | "unchanged";
      object: DeepReadonly<KubernetesObject>;
      drift?: readonly FieldDrift[];
    }
  /** It exists, is not ours, and `adopt` is off. Nothing was written. */
  | { result: "conflict"; message: string }
  /** `read-only`, and it is not there. */
  | { result: "absent" };

export interface RemovePolicy {
  /** `delete` removes it, `release` leaves it running, takes our marks off and gives our fields up. */
  mode: "delete" | "release";
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Only what this owner delivered, or does not say who did, is touched. */
  owner?: string;
  /**
   * The permanent id of that owner: what carries another came from one of the same name that was made later, and stays.
   */
  ownerId?: string;
  /** With `release`: the same owner may take it back later. */
  mayReturn?: boolean;
  /**
   * With `delete`, for a namespace or a definition on the member that still holds something, which would be deleted
   * with it. The answer says what becomes of it: it is released for the owner to take back, or left as it is.
   */
  whenHolding?(found: string): "release" | "leave";
  beforeRequest?(): void;
}

export interface Observation {
  ref: ObjectRef;
  /** Undefined when the member does not have it. */
  object: DeepReadonly<KubernetesObject> | undefined;
}

/** What the member shows of the observed objects: the newest on demand, and a call for every change. */
export interface Subscription {
  /** The newest seen; undefined when it is not there, or not known yet (`isFresh` tells). */
  get(ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined;
  /** The plural under which the member serves this kind; undefined while it is not known. */
  resourceOf(ref: ObjectRef): string | undefined;
  /**
   * True when the view of this object's kind is complete and its connection alive: only then does absence mean absence.
   */
  isFresh(ref: ObjectRef): boolean;
  onChange(listener: (observation: Observation, lane: Lane) => void): void;
  close(): void;
}

export interface Delivery {
  /**
   * Throws `ApiError` when the member refuses, `UnreachableError` when it does not answer, `UnknownKindError` when it
   * does not serve the kind.
   */
  apply(manifest: DeepReadonly<KubernetesObject>, policy: ApplyPolicy, signal: AbortSignal): Promise<ApplyOutcome>;
  /** Touches only objects that carry our mark. Resolves also when the object is already gone. */
  remove(ref: ObjectRef, policy: RemovePolicy, signal: AbortSignal): Promise<void>;
  /**
   * A holder lets go. `going` says that the object is being deleted and still there. Touches only what the reference
   * holds.
   */
  disown(resource: HeldResource, policy: DisownPolicy, signal: AbortSignal): Promise<"gone" | "going">;
  /** How the member serves a kind. Throws as `apply` does. */
  kindOf(ref: { apiVersion: string; kind: string }, policy: Pick<ApplyPolicy, "beforeRequest">): Promise<AnyKind>;
  observe(refs: Iterable<ObjectRef>): Subscription;
}
