/**
 * Admission: the steps that complete, check or reject a write before its object is stored.
 *
 * The API server runs one ordered list of steps: the rules of kinds, its own built-in steps, and those of the products
 * that it serves. A step may be asynchronous; where no matching step is, the server awaits nothing. What a step
 * concluded from other objects holds until the object is stored only if the write is guarded by them: the server does
 * that for the namespace, the CRD and the cluster of an object, and counters are changed in `reserve`.
 *
 * Steps neither retain nor modify their arguments.
 */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { forbidden } from "../status.ts";
import type { ApiError } from "../status.ts";
import type { FieldError } from "../field.ts";
import type { Kind } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";

/** Names the objects of a kind; a `Kind` also says what type they have. */
export type KindRef<T extends KubernetesObject> = Pick<Kind<T>, "group" | "plural" | "type">;

/**
 * Reads the other objects of the cluster the request is for, in their storage version. Objects are parsed once and
 * shared: read-only.
 */
export interface ClusterReader {
  get<T extends KubernetesObject>(
    kind: KindRef<T>,
    namespace: string | undefined,
    name: string,
  ): DeepReadonly<T> | undefined;
  /**
   * Returns false when the object does not exist or does not contain the text. Avoids parsing the object when a match
   * is rare.
   */
  mentions(kind: Pick<Kind, "group" | "plural">, namespace: string | undefined, name: string, text: string): boolean;
  list<T extends KubernetesObject>(kind: KindRef<T>, namespace?: string): DeepReadonly<T>[];
  /** The same without the objects of the cluster's profile: cheap when there are no others. */
  written<T extends KubernetesObject>(kind: KindRef<T>, namespace?: string): DeepReadonly<T>[];
  /** The versions in which the cluster serves a kind, the preferred one first. */
  versions(group: string, kind: string): readonly string[];
  /** The kinds that the cluster serves. */
  kinds(): Iterable<{ group: string; kind: string; plural: string }>;
}

/** Writes that a step may make before an object is stored. */
export interface ClusterWriter {
  /**
   * Changes the status of an existing object atomically: `change` receives the stored object and returns the new
   * status, or undefined to leave it unchanged. Errors it throws propagate. It may be called again when another process
   * wrote concurrently.
   */
  changeStatus<T extends KubernetesObject>(
    kind: KindRef<T>,
    namespace: string | undefined,
    name: string,
    change: (object: DeepReadonly<T>) => object | undefined,
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

/** What a request writes and who sent it. Everything but the object. */
export interface RequestInfo {
  operation: Operation;
  cluster: string;
  kind: Pick<Kind, "group" | "kind" | "plural" | "scope" | "builtIn" | "foreign">;
  /** The version in which the object was sent. */
  version: string;
  namespace?: string;
  /** The name in the path; unset for a create. */
  name?: string;
  /** Set when a subresource is written. */
  subresource?: string;
  user: { name: string; uid?: string; groups: readonly string[]; extra?: Readonly<Record<string, readonly string[]>> };
  /** Set when the caller is one of the controllers that belong to the server, in this process or another. */
  byController?: true;
  dryRun: boolean;
  /** The request is a patch, including apply. */
  isPatch?: boolean;
}

export interface Review<T> extends RequestInfo {
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
  /** Returns an id for the object being created, from the server's random source; each call returns a new id. */
  newUid(): string;
  /** The server's time. */
  nowMs(): number;
  /** Whether the requesting user may do it. Not in `reserve`: the answer may have to be awaited, and the step runs again. */
  allows(question: AccessCheck): boolean;
  /** The same with the reason of the authorizer, which is often empty. */
  decide(question: AccessCheck): { readonly allowed: boolean; readonly reason: string };
  /** Adds a `Warning:` header to the response. */
  warn(message: string): void;
  /** Adds an annotation to the event of the request in the audit log. Unset where the request is not audited. */
  annotate?: ((key: string, value: string) => void) | undefined;
  /**
   * The rest of the cluster in its current state, for rules that depend on it: sidecars to inject, budgets, deletion
   * protection.
   */
  read: ClusterReader;
}

/** The upstream webhook that enforces a rule. */
interface Webhook {
  /** `vcloneset.kb.io` */
  name: string;
  /** The status code that upstream returns for an invalid object; not always 422. */
  code(operation: Operation): number;
  /** The reason returned with the code; some webhooks return none. */
  reason?: string;
}

/** What a step took for a write. */
export interface Reservation {
  /** Undoes it when the write fails. */
  release(): Promise<void>;
  /** For objects that are created or updated: keys of the store that must not change before the object is written. */
  guards?: readonly { key: string; expect: number | "absent" }[];
}

/** One step of admission. The methods are listed in the order in which they run. */
export interface AdmissionStep<T extends KubernetesObject = KubernetesObject> {
  /** Unlike those of the other steps of a server, except for steps that one feature has for several kinds. */
  name: string;
  /** The kind that the step is for, or a condition on kinds, which is evaluated once per kind. Unset: every kind. */
  for?: Kind<T> | ((kind: RequestInfo["kind"]) => boolean);
  on: readonly Operation[];
  /**
   * The kinds whose objects on a hub the step reads with `read`: a process that answers for another API server watches them.
   */
  readonly reads?: readonly Kind[];
  /** A further condition. Cheap and synchronous: evaluated for every request of these kinds and operations. */
  matches?(request: RequestInfo): boolean;
  /**
   * Set when errors of `validate` are reported as a denial by this webhook. Such rules run last, and the first one with
   * errors ends validation.
   */
  webhook?: Webhook;
  /**
   * For kinds that clients also write in a form other than the declared one: converts the sent object to the declared
   * form. Called before any other code reads it, also for applied objects and whatever `matches` says, and once more for
   * a rejected object; its types are not checked yet. Throws an ApiError to reject.
   */
  canonical?(
    sent: DeepReadonly<JsonObject>,
    reported: { stored?: DeepReadonly<JsonObject>; warn(message: string): void },
  ): DeepReadonly<JsonObject>;
  /**
   * Checks the types of a whole sent object of a version, also of the parts that the request does not write. Parts that
   * are identical in `known` are not checked. Throws a DecodeError.
   */
  decode?(version: string, sent: DeepReadonly<T>, known: DeepReadonly<T> | undefined): void;
  /**
   * `mutate` runs again when a policy or a webhook has changed the object: for defaults of a kind, which change nothing in an
   * object that has them. A step that adds to objects runs once, as webhooks do, so that it does not undo the change.
   */
  readonly isReinvoked?: true;
  /** Returns the object to continue with. Runs before the schema: the writer owns the fields that it sets. */
  mutate?(review: Review<T>): DeepReadonly<T> | Promise<DeepReadonly<T>>;
  /**
   * Returns the object to continue with. Runs after the schema and after field managers are recorded: the fields that it
   * sets have no manager. Throws an ApiError to reject before validation.
   */
  complete?(review: Review<T>): DeepReadonly<T> | Promise<DeepReadonly<T>>;
  /** Returns the object as the server stores it: first status, generated fields. Also without a field manager. */
  prepare?(review: Review<T>): DeepReadonly<T> | Promise<DeepReadonly<T>>;
  /** All errors of all steps are reported together. */
  validate?(review: Review<T>): FieldError[] | Promise<FieldError[]>;
  /** Warnings for a valid object; called on every write, also for unchanged fields. */
  warnings?(review: Review<T>): readonly string[] | Promise<readonly string[]>;
  /** Throws an ApiError to reject an object that is otherwise valid. */
  check?(review: Review<T>): void | Promise<void>;
  /**
   * The last step before the object is stored or deleted; not called in a dry run of one request. Takes from a counter (a quota, a
   * budget), or throws an ApiError to reject. Returns what it took, or `stale` when something that admission relied on is
   * gone: then the object is admitted again. Undefined at once where there is nothing to take from, so that the write waits
   * for nothing.
   */
  reserve?(review: Review<T>, write: ClusterWriter): Promise<Reservation | "stale" | undefined> | undefined;
  /**
   * `reserve` changes nothing but what it writes with `write`. So it also runs for requests that are tried together:
   * what one takes, those after it have no longer.
   */
  readonly reservesInDryRuns?: true;
}

/** The rules of one kind: a step that needs nothing but the object and waits for nothing, except in `reserve`. */
export interface Admission<T extends KubernetesObject> extends AdmissionStep<T> {
  for: Kind<T>;
  mutate?(review: Review<T>): DeepReadonly<T>;
  prepare?(review: Review<T>): DeepReadonly<T>;
  validate?(review: Review<T>): FieldError[];
  warnings?(review: Review<T>): readonly string[];
}

/** The rules of one kind that may have to be awaited, because they are loaded when they first run. */
export type KindStep<T extends KubernetesObject> = AdmissionStep<T> & { for: Kind<T> };

/** Admissions of different kinds in one list. */
// oxlint-disable-next-line typescript/no-explicit-any -- T is in- and output, so no narrower type holds every Admission.
export type AnyAdmission = Admission<any>;
/** The same, of which some may have to be awaited. */
// oxlint-disable-next-line typescript/no-explicit-any -- The same.
export type AnyKindStep = KindStep<any>;
/** Steps of different kinds in one list. */
// oxlint-disable-next-line typescript/no-explicit-any -- The same.
export type AnyStep = AdmissionStep<any>;

/** The condition `for` of a step that is for several built-in kinds, by group and kind: `/Pod`, `apps/Deployment`. */
export function builtInKinds(...names: readonly string[]): (kind: RequestInfo["kind"]) => boolean {
  const known = new Set(names);
  return ({ group, kind, builtIn }) => builtIn && known.has(`${group}/${kind}`);
}

/** The error with which a step rejects an object: 403, about the object. */
export function refusal(
  {
    kind: { group, plural },
    object,
  }: { kind: RequestInfo["kind"]; object: DeepReadonly<{ metadata: { name?: string } }> },
  why: string,
): ApiError {
  return forbidden({ group, resource: plural }, object.metadata.name ?? "", why);
}
