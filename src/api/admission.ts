/**
 * Admission in process: pure functions that complete or refuse what is written.
 *
 * The embedded API server calls them directly; on a real cluster the same functions are served as webhooks. `mutate` runs
 * before defaulting, `validate` after it. Neither keeps or changes what it is handed.
 */
import type { DeepReadonly } from "../base/index.ts";
import type { FieldError } from "../machinery/index.ts";
import type { Kind } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";

export interface Review<T> {
  operation: Operation;
  cluster: string;
  /** The version in which the object was sent. */
  version: string;
  /** Set when a subresource is written. */
  subresource?: string;
  user: { name: string; groups: readonly string[] };
  /** Set when a controller of this very process writes. */
  inProcess?: true;
  /** The object as it is to be stored; what is being deleted, for DELETE. */
  object: DeepReadonly<T>;
  /** What is stored now; absent for CREATE. */
  oldObject?: DeepReadonly<T>;
  /**
   * The old object again, when it passed these admissions in this process. `object` shares what it repeats of it, so a part that
   * is the very same in both needs no second look.
   */
  settled?: DeepReadonly<T>;
  dryRun: boolean;
  /** An id for what is being created, from the server's source of chance; two calls give two ids. */
  newUid(): string;
  /** Adds a `Warning:` header to the answer. */
  warn(message: string): void;
}

export interface Admission<T extends KubernetesObject> {
  for: Kind<T>;
  on: readonly Operation[];
  mutate?(review: Review<T>): DeepReadonly<T>;
  /** The object as the server keeps it. Field managers are recorded before, so what this sets or drops is nobody's. */
  prepare?(review: Review<T>): DeepReadonly<T>;
  validate?(review: Review<T>): FieldError[];
  /** What a client should be told of an object that is otherwise right; asked on every write, also of what did not change. */
  warnings?(review: Review<T>): readonly string[];
}

/** Admissions of different kinds in one list. */
// oxlint-disable-next-line typescript/no-explicit-any -- T is in- and output, so no narrower type holds every Admission.
export type AnyAdmission = Admission<any>;
