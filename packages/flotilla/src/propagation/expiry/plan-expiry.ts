/** When the template of a run that is over is deleted, as its controller would delete a single object. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { ResourceBinding } from "@flotilla/karmada";
import { timeMs } from "@flotilla/kubernetes";
import type { TimeToLive } from "@flotilla/kubernetes";
import { knownKinds } from "../../interpreter/interpreter.ts";

const rules = new Map(
  knownKinds.flatMap(({ group, kind, timeToLive }) => (timeToLive ? [[`${group}/${kind}`, timeToLive] as const] : [])),
);

export interface Expiry {
  atMs: number;
  /** For people: why it is deleted. */
  message: string;
}

/** Whether objects of this kind can have a time to live. */
export function canExpire(ref: { readonly apiVersion: string; readonly kind: string }): boolean {
  return ruleOf(ref) !== undefined;
}

/** Undefined while a member runs it, may still have to run it, or has not reported, and for a template that stays. */
export function planExpiry(
  { spec, status }: DeepReadonly<Pick<ResourceBinding, "spec" | "status">>,
  template: DeepReadonly<KubernetesObject>,
): Expiry | undefined {
  const rule = ruleOf(template);
  const field = rule && fieldAt(template as unknown as Json, rule.path);
  if (!rule || field === undefined) return undefined;
  const reported = new Map(status?.aggregatedStatus?.map((item) => [item.clusterName, item.status]));
  const members = new Set([...(spec.clusters ?? []).map(({ name }) => name), ...reported.keys()]);
  const statuses: JsonObject[] = [];
  let endedMs = 0;
  for (const member of members) {
    const own = reported.get(member);
    const time = isObject(own) ? rule.endedAt(own) : undefined;
    // An earlier time is that of a deleted object of the same name.
    if (time === undefined || timeMs(time) < timeMs(template.metadata.creationTimestamp)) return undefined;
    statuses.push(own as JsonObject);
    endedMs = Math.max(endedMs, timeMs(time));
  }
  const seconds = rule.seconds ? rule.seconds(field, statuses) : field;
  if (statuses.length === 0 || typeof seconds !== "number") return undefined;
  return {
    atMs: endedMs + seconds * 1000,
    message: `deleted with its copies: ${rule.path.join(".")} is ${seconds} s, and it has finished on ${[...members].join(", ")}`,
  };
}

function ruleOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): TimeToLive | undefined {
  return rules.get(`${parseApiVersion(apiVersion).group}/${kind}`);
}

function fieldAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  let field = value;
  for (const name of path) field = isObject(field) ? field[name] : undefined;
  return field ?? undefined;
}
