/** Bindings indexed by subject, so that a decision reads the bindings of one user instead of all bindings. */
import type { RoleRef } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { keyOfSubject } from "./subjects.ts";
import type { Subject } from "./subjects.ts";

export interface Binding {
  /** Its key without the resource and the cluster: `<namespace>/<name>`, or `<name>` for the whole cluster. */
  readonly key: string;
  readonly name: string;
  readonly namespace?: string;
  readonly role: RoleRef;
  readonly subjects: readonly Subject[];
}

export class BindingTable {
  /** Namespace (empty for the whole cluster), then subject, then key. */
  readonly #filed = new Map<string, Map<string, Map<string, Binding>>>();
  readonly #byKey = new Map<string, Binding>();

  get(key: string): Binding | undefined {
    return this.#byKey.get(key);
  }

  put(binding: Binding): void {
    this.delete(binding.key);
    this.#byKey.set(binding.key, binding);
    const { namespace = "" } = binding;
    let subjects = this.#filed.get(namespace);
    if (!subjects) this.#filed.set(namespace, (subjects = new Map()));
    for (const key of keysOf(binding)) {
      const bindings = subjects.get(key);
      if (bindings) bindings.set(binding.key, binding);
      else subjects.set(key, new Map([[binding.key, binding]]));
    }
  }

  delete(key: string): void {
    const binding = this.#byKey.get(key);
    if (!binding) return;
    this.#byKey.delete(key);
    const { namespace = "" } = binding;
    const subjects = this.#filed.get(namespace);
    for (const subject of keysOf(binding)) {
      const bindings = subjects?.get(subject);
      bindings?.delete(key);
      if (bindings?.size === 0) subjects?.delete(subject);
    }
    if (subjects?.size === 0) this.#filed.delete(namespace);
  }

  /** The bindings that name the subject, in a namespace or (with an empty namespace) in the whole cluster. */
  of(namespace: string, subjectKey: string): Iterable<Binding> {
    return this.#filed.get(namespace)?.get(subjectKey)?.values() ?? NOTHING;
  }
}

const NOTHING: readonly Binding[] = [];

function keysOf({ subjects, namespace }: Binding): Set<string> {
  return new Set(subjects.map((subject) => keyOfSubject(subject, namespace)).filter((key) => key !== undefined));
}
