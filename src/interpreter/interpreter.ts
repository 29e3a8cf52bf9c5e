/**
 * Finds the rules of an object's kind and answers with them, or with what holds for every kind. Kinds are matched by group
 * and kind, whatever the version: members of different ages serve different versions of the same kind.
 */
import { gvkOf } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly, Json } from "../base/index.ts";
import type { Component, Dependency, KindInterpreter, Replicas, Share, StatusItem } from "./kind-interpreter.ts";
import { deploymentInterpreter } from "./native/deployment.ts";
import { cloneSetInterpreter } from "./thirdparty/apps.kruise.io/cloneset.ts";

export type AnyObject = DeepReadonly<KubernetesObject>;
export type Health = NonNullable<StatusItem["health"]>;

export interface Interpreter {
  /** Undefined for kinds that do not run replicas. */
  replicas(object: AnyObject): Replicas | undefined;
  components(object: AnyObject): Component[];
  /** One copy per share, keyed by cluster. An object without replicas is the same everywhere. */
  divide(object: AnyObject, shares: readonly Share[]): ReadonlyMap<string, AnyObject>;
  retain(desired: AnyObject, observed: AnyObject): AnyObject;
  reflectStatus(object: AnyObject): Json | undefined;
  /** Undefined when nothing is known about summing this kind's status. */
  aggregateStatus(object: AnyObject, items: readonly StatusItem[]): AnyObject | undefined;
  health(object: AnyObject): Health;
  dependencies(object: AnyObject): Dependency[];
}

/** The kinds that Flotilla understands by itself. */
// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export const knownKinds: readonly KindInterpreter<any>[] = [deploymentInterpreter, cloneSetInterpreter];

export function createInterpreter(kinds: readonly KindInterpreter[] = knownKinds): Interpreter {
  const byKind = new Map(kinds.map((kind) => [`${kind.group}/${kind.kind}`, kind]));
  const rulesFor = (object: AnyObject): KindInterpreter | undefined => {
    const { group, kind } = gvkOf(object);
    return byKind.get(`${group}/${kind}`);
  };
  return {
    replicas: (object) => rulesFor(object)?.replicas?.(object),
    components: (object) => rulesFor(object)?.components?.(object) ?? [],
    divide(object, shares) {
      const rules = rulesFor(object);
      if (rules?.divide) return rules.divide(object, shares);
      return new Map(shares.map(({ cluster, replicas }) => [cluster, rules?.reviseReplicas?.(object, replicas) ?? object]));
    },
    retain: (desired, observed) => rulesFor(desired)?.retain?.(desired, observed) ?? desired,
    reflectStatus(object) {
      const rules = rulesFor(object);
      if (rules?.reflectStatus) return rules.reflectStatus(object);
      return (object as { status?: Json }).status;
    },
    aggregateStatus: (object, items) => rulesFor(object)?.aggregateStatus?.(object, items),
    health(object) {
      const healthy = rulesFor(object)?.isHealthy?.(object) ?? true;
      return healthy ? "Healthy" : "Unhealthy";
    },
    dependencies: (object) => rulesFor(object)?.dependencies?.(object) ?? [],
  };
}
