/**
 * What is known of built-in kinds without running a rule: the workloads whose pods an object concerns, and whether a kind
 * is divided by what members report instead of by replicas.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { Concern, KindInterpreter } from "@flotilla/kubernetes";
import { knownKinds } from "./interpreter.ts";
import type { AnyObject } from "./interpreter.ts";

type KindRef = Pick<AnyObject, "apiVersion" | "kind">;

const kinds = new Map(knownKinds.map((kind) => [`${kind.group}/${kind.kind}`, kind as KindInterpreter]));
const rulesOf = ({ apiVersion, kind }: KindRef): KindInterpreter | undefined =>
  kinds.get(`${parseApiVersion(apiVersion).group}/${kind}`);

/** Whether copies have parts that follow the pods of workloads. */
export function isDividedByPods(ref: KindRef): boolean {
  const rules = rulesOf(ref);
  return rules?.concerns !== undefined && rules.divide !== undefined;
}

/** The kinds whose objects concern workloads. */
export const concerningKinds: readonly { readonly apiVersion: string; readonly kind: string }[] = knownKinds
  .filter(({ concerns }) => concerns !== undefined)
  .flatMap(({ group, kind }) =>
    ["v1beta1", "v1alpha1"].map((version) => ({ apiVersion: `${group}/${version}`, kind })),
  );

/** Undefined for other kinds, and for an object that concerns nothing. */
export const concernOf = (object: AnyObject): Concern | undefined => rulesOf(object)?.concerns?.(object);

/** Whether copies are divided although the scheduler counts no replicas of the kind. */
export function isDividedByReports(ref: KindRef): boolean {
  const rules = rulesOf(ref);
  return rules?.divide !== undefined && rules.reviseReplicas === undefined;
}
