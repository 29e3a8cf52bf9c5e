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

export const isConcerning = (ref: KindRef): boolean => rulesOf(ref)?.concerns !== undefined;

/** Undefined for other kinds, and for an object that concerns nothing. */
export const concernOf = (object: AnyObject): Concern | undefined => rulesOf(object)?.concerns?.(object);

/** Whether copies are divided although the scheduler counts no replicas of the kind. */
export function isDividedByReports(ref: KindRef): boolean {
  const rules = rulesOf(ref);
  return rules?.divide !== undefined && rules.reviseReplicas === undefined;
}
