/**
 * Admission in process: pure functions that complete or refuse what is written.
 *
 * The embedded API server calls them directly; on a real cluster the same functions are served as webhooks. `mutate`
 * runs before defaulting, `validate` after it. Neither keeps or changes what it is handed.
 */
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import type { FieldError } from "../machinery/index.ts";
import type { Kind } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";

/**
 * The other objects of the cluster that a request is for, in their storage version. Parsed once and shared: read-only.
 */
export interface ClusterReader {
  get(
    group: string,
    resource: string,
    namespace: string | undefined,
    name: string,
  ): DeepReadonly<JsonObject> | undefined;
  /**
   * False when the object is not there or has this text nowhere. For what is rarely true of an object that may have to
   * be parsed to be read.
   */
  mentions(group: string, resource: string, namespace: string | undefined, name: string, text: string): boolean;
  list(group: string, resource: string, namespace?: string): DeepReadonly<JsonObject>[];
  /** The same without what the cluster's profile brought: cheap where that is all there is. */
  written(group: string, resource: string, namespace?: string): DeepReadonly<JsonObject>[];
}

/** What an admission may write before an object is stored. */
export interface ClusterWriter {
  /**
   * Changes the status of an object that exists, with nobody in between: `change` is given what is stored and answers
   * the new status, or undefined to leave it. What it throws is passed on; it may be called again when another process
   * wrote in between.
   */
  changeStatus(
    group: string,
    resource: string,
    namespace: string | undefined,
    name: string,
    change: (object: DeepReadonly<JsonObject>) => JsonObject | undefined,
  ): Promise<void>;
}

/**
 * Something that somebody wants to do, as roles speak of it. Nothing need be stored of it: `managedclusters/accept`.
 */
export interface AccessQuestion {
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
  /** The object as it is to be stored; what is being deleted, for DELETE. */
  object: DeepReadonly<T>;
  /** What is stored now; absent for CREATE. */
  oldObject?: DeepReadonly<T>;
  /**
   * The old object again, when it passed these admissions in this process. `object` shares what it repeats of it, so a
   * part that is the very same in both needs no second look.
   */
  settled?: DeepReadonly<T>;
  /**
   * For CREATE: another object of the same controller that passed these admissions. `object` shares with it whatever is
   * equal.
   */
  sibling?: DeepReadonly<T>;
  dryRun: boolean;
  /** An id for what is being created, from the server's source of chance; two calls give two ids. */
  newUid(): string;
  /** The server's time. */
  nowMs(): number;
  /** Whether roles of this cluster allow something to whoever makes the request. */
  allows(question: AccessQuestion): boolean;
  /** Adds a `Warning:` header to the answer. */
  warn(message: string): void;
  /**
   * The rest of the cluster as it is now, for rules that depend on it: sidecars to inject, budgets, what must not be
   * deleted.
   */
  read: ClusterReader;
}

/** The webhook that has a rule upstream. */
export interface Webhook {
  /** `vcloneset.kb.io` */
  name: string;
  /** What upstream answers an object with mistakes, which is not always 422. */
  code(operation: Operation): number;
  /** The reason that it gives with the code; some give none. */
  reason?: string;
}

export interface Admission<T extends KubernetesObject> {
  for: Kind<T>;
  on: readonly Operation[];
  /**
   * Set when what `validate` finds is told as this webhook's denial. Such rules are asked last, and the first that
   * finds something ends it.
   */
  webhook?: Webhook;
  /**
   * For kinds that people also write in another form than the defined one: what was sent, in the defined form. Asked
   * before anything else reads it, of what is applied too, and of a refused object once more; nothing is known of its
   * types yet. Throws an ApiError to refuse.
   */
  canonical?(
    sent: DeepReadonly<JsonObject>,
    told: { stored?: DeepReadonly<JsonObject>; warn(message: string): void },
  ): DeepReadonly<JsonObject>;
  mutate?(review: Review<T>): DeepReadonly<T>;
  /** The object as the server keeps it. Field managers are recorded before, so what this sets or drops is nobody's. */
  prepare?(review: Review<T>): DeepReadonly<T>;
  validate?(review: Review<T>): FieldError[];
  /**
   * What a client should be told of an object that is otherwise right; asked on every write, also of what did not
   * change.
   */
  warnings?(review: Review<T>): readonly string[];
  /**
   * The last word before the object is stored or deleted; not asked in a dry run. Throws an ApiError to refuse. What it
   * takes (a budget) is given back by calling what it returns, when the write fails after all.
   */
  reserve?(review: Review<T>, write: ClusterWriter): Promise<(() => Promise<void>) | undefined>;
}

/** Admissions of different kinds in one list. */
// oxlint-disable-next-line typescript/no-explicit-any -- T is in- and output, so no narrower type holds every Admission.
export type AnyAdmission = Admission<any>;
