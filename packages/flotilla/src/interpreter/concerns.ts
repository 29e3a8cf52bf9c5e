/**
 * What is known of built-in kinds without running a rule: the workloads whose pods an object concerns, and whether a kind
 * is divided by what members report instead of by replicas.
 */
import { formatApiVersion } from "@flotilla/apimachinery";
import { isServed } from "@flotilla/kubernetes";
import type { Concern } from "@flotilla/kubernetes";
import { rulesOfKind } from "./kind-rules.ts";
import type { KindRef } from "./kind-rules.ts";
import { knownDefinitions } from "./known-definitions.ts";
import type { AnyObject } from "./interpreter.ts";

/** Whether copies have parts that follow the pods of workloads. */
export function isDividedByPods(ref: KindRef): boolean {
  const rules = rulesOfKind(ref);
  return rules?.concerns !== undefined && rules.divide !== undefined;
}

/** The kinds whose interpreters have a rule, in each of their versions. */
const kindsWith = (rule: "concerns" | "injectsInto"): KindRef[] =>
  knownDefinitions.flatMap(({ kind, interpreter }) =>
    interpreter?.[rule] !== undefined && isServed(kind)
      ? Object.keys(kind.versions).map((version) => ({
          apiVersion: formatApiVersion(kind.group, version),
          kind: kind.kind,
        }))
      : [],
  );

/** The kinds whose objects concern workloads, in each of their versions. */
export const concerningKinds: readonly KindRef[] = kindsWith("concerns");

/** The kinds whose objects add containers to the pods of namespaces, in each of their versions. */
export const injectingKinds: readonly KindRef[] = kindsWith("injectsInto");

/** Undefined for other kinds, and for an object that concerns nothing. */
export const concernOf = (object: AnyObject): Concern | undefined => rulesOfKind(object)?.concerns?.(object);

/** Whether copies are divided although the scheduler counts no replicas of the kind. */
export function isDividedByReports(ref: KindRef): boolean {
  const rules = rulesOfKind(ref);
  return rules?.divide !== undefined && rules.reviseReplicas === undefined;
}
