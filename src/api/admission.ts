/**
 * In-process admission: pure functions that mutate or reject written objects.
 *
 * The embedded API server calls them directly; on a real cluster the same functions are served as webhooks. `mutate`
 * runs before defaulting, `validate` after it. Neither retains nor modifies its arguments.
 */
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import type { FieldError } from "../machinery/index.ts";
import type { Kind } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";

/**
 * Reads the other objects of the cluster the request is for, in their storage version. Objects are parsed once and
 * shared: read-only.
 */
export interface ClusterReader {
  get(
    group: string,
    resource: string,
    namespace: string | undefined,
    name: string,
  ): DeepReadonly<JsonObject> | undefined;
  /**
   * Returns false when the object does not exist or does not contain the text. Avoids parsing the object when a match
   * is rare.
   */
  mentions(group: string, resource: string, namespace: string | undefined, name: string, text: string): boolean;
  list(group: string, resource: string, namespace?: string): DeepReadonly<JsonObject>[];
  /** The same without the objects of the cluster's profile: cheap when there are no others. */
  written(group: string, resource: string, namespace?: string): DeepReadonly<JsonObject>[];
}

/** Writes that an admission may make before an object is stored. */
export interface ClusterWriter {
  /**
   * Changes the status of an existing object atomically: `change` receives the stored object and returns the new
   * status, or undefined to leave it unchanged. Errors it throws propagate. It may be called again when another process
   * wrote concurrently.
   */
  changeStatus(
    group: string,
    resource: string,
    namespace: string | undefined,
    name: string,
    change: (object: DeepReadonly<JsonObject>) => JsonObject | undefined,
  ): Promise<void>;
}

/** An access check in terms of RBAC rules. The resource need not be stored: `managedclusters/accept`. */
export interface AccessCheck {
  verb: string;
  group: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
}

export interface Review<T> {
  operation: Operation;
  cluster: string;
  /** The version in which the object was sent. */
  version: string;
  /** Set when a subresource is written. */
  subresource?: string;
  user: { name: string; uid?: string; groups: readonly string[]; extra?: Readonly<Record<string, readonly string[]>> };
  /** Set when the caller is one of the controllers that belong to the server, in this process or another. */
  byController?: true;
  /** The object to be stored; for DELETE, the object being deleted. */
  object: DeepReadonly<T>;
  /** The stored object; absent for CREATE. */
  oldObject?: DeepReadonly<T>;
  /**
   * The old object, when it passed these admissions in this process. `object` shares unchanged parts with it, so a part
   * that is identical in both need not be checked again.
   */
  settled?: DeepReadonly<T>;
  /**
   * For CREATE: another object of the same controller that passed these admissions. `object` shares equal parts with
   * it.
   */
  sibling?: DeepReadonly<T>;
  dryRun: boolean;
  /** Returns an id for the object being created, from the server's random source; each call returns a new id. */
  newUid(): string;
  /** The server's time. */
  nowMs(): number;
  /** Whether the cluster's roles allow the action to the requesting user. */
  allows(question: AccessCheck): boolean;
  /** Adds a `Warning:` header to the response. */
  warn(message: string): void;
  /**
   * The rest of the cluster in its current state, for rules that depend on it: sidecars to inject, budgets, deletion
   * protection.
   */
  read: ClusterReader;
}

/** The upstream webhook that enforces a rule. */
export interface Webhook {
  /** `vcloneset.kb.io` */
  name: string;
  /** The status code that upstream returns for an invalid object; not always 422. */
  code(operation: Operation): number;
  /** The reason returned with the code; some webhooks return none. */
  reason?: string;
}

export interface Admission<T extends KubernetesObject> {
  for: Kind<T>;
  on: readonly Operation[];
  /**
   * Set when errors of `validate` are reported as a denial by this webhook. Such rules run last, and the first one with
   * errors ends validation.
   */
  webhook?: Webhook;
  /**
   * For kinds that clients also write in a form other than the declared one: converts the sent object to the declared
   * form. Called before any other code reads it, also for applied objects, and once more for a rejected object; its
   * types are not checked yet. Throws an ApiError to reject.
   */
  canonical?(
    sent: DeepReadonly<JsonObject>,
    reported: { stored?: DeepReadonly<JsonObject>; warn(message: string): void },
  ): DeepReadonly<JsonObject>;
  mutate?(review: Review<T>): DeepReadonly<T>;
  /**
   * Returns the object as the server stores it. Field managers are recorded before this, so fields set or dropped here
   * have no owner.
   */
  prepare?(review: Review<T>): DeepReadonly<T>;
  validate?(review: Review<T>): FieldError[];
  /** Warnings for a valid object; called on every write, also for unchanged fields. */
  warnings?(review: Review<T>): readonly string[];
  /**
   * The last check before the object is stored or deleted; not called in a dry run. Throws an ApiError to reject.
   * Returns a function that releases the reservation (a budget) when the write fails afterwards.
   */
  reserve?(review: Review<T>, write: ClusterWriter): Promise<(() => Promise<void>) | undefined>;
}

/** Admissions of different kinds in one list. */
// oxlint-disable-next-line typescript/no-explicit-any -- T is in- and output, so no narrower type holds every Admission.
export type AnyAdmission = Admission<any>;
