/** When the template of a run that is over is deleted, as its controller would delete a single object. Pure. */
import { findCondition, isConditionTrue, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { formatTime, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { clusterNameOf, TEMPLATE_UID } from "@flotilla/karmada";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { timeMs } from "@flotilla/kubernetes";
import type { TimeToLive } from "@flotilla/kubernetes";
import { knownKinds } from "../../interpreter/interpreter.ts";
import { targetsOf } from "../bindings/target-clusters.ts";
import { isJob, planJob } from "../jobs/plan-job.ts";

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

type Binding = DeepReadonly<ResourceBinding>;
type Template = DeepReadonly<KubernetesObject>;

/**
 * Undefined while a member runs it, may still have to run it, or has not reported, and for a template that stays.
 * `works` are those of the binding.
 */
export function planExpiry(
  binding: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
  nowMs: number,
): Expiry | undefined {
  const rule = ruleOf(template);
  const field = rule && fieldAt(template as unknown as Json, rule.path);
  if (!rule || field === undefined || !isWhollyPlaced(binding, template, works, nowMs)) return undefined;
  const reports = reportsOf(binding, template, works);
  // The clocks of members differ from the hub's: no run of this template has ended before the template was created.
  let endedMs = timeMs(template.metadata.creationTimestamp);
  const statuses: JsonObject[] = [];
  for (const report of reports.values()) {
    const time = report === undefined ? undefined : rule.endedAt(report);
    if (report === undefined || time === undefined) return undefined;
    statuses.push(report);
    endedMs = Math.max(endedMs, timeMs(time));
  }
  const seconds = rule.seconds ? rule.seconds(field, statuses) : field;
  if (statuses.length === 0 || typeof seconds !== "number") return undefined;
  return {
    atMs: endedMs + seconds * 1000,
    message:
      `${binding.spec.preserveResourcesOnDeletion ? "deleted; its policy preserves the copies" : "deleted with its copies"}: ` +
      `${rule.path.join(".")} is ${seconds} s, and it has finished on ${listOf([...reports.keys()])}`,
  };
}

/**
 * Whether nothing waits to be placed. The record of a Job says what members that it left had done; of other kinds that
 * are divided, what a member had not done is placed again, unless the whole run is over.
 */
function isWhollyPlaced(
  binding: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
  nowMs: number,
): boolean {
  if (isJob(template)) return planJob(binding, template, works, formatTime(nowMs)).missing === 0;
  const { spec, status } = binding;
  if (findCondition(status?.conditions, "Scheduled")?.status === "False") return false;
  const clusters = spec.clusters ?? [];
  const names = new Set(clusters.map(({ name }) => name));
  // A member that has left reports only if the whole run was over.
  if (spec.placement?.replicaScheduling?.replicaSchedulingType !== "Divided" || !spec.replicas) return true;
  if (status?.aggregatedStatus?.some(({ clusterName }) => !names.has(clusterName))) return true;
  return clusters.reduce((sum, { replicas = spec.replicas ?? 0 }) => sum + replicas, 0) >= spec.replicas;
}

/**
 * The reports of the members on this template, by member; undefined where none counts. What a Work says is newer than
 * what the binding has: a member may run its copy again. A member that has neither a Work nor a share has left a run
 * that was over.
 */
function reportsOf(
  { spec, status }: Binding,
  template: Template,
  works: readonly DeepReadonly<Work>[],
): ReadonlyMap<string, JsonObject | undefined> {
  const reports = new Map<string, JsonObject | undefined>(
    // A member that a run leaves at once is no longer among the targets before another one is found.
    [...(spec.clusters ?? []), ...targetsOf(spec)].map(({ name }) => [name, undefined]),
  );
  for (const { clusterName, status: said } of status?.aggregatedStatus ?? [])
    if (!reports.has(clusterName)) reports.set(clusterName, isObject(said) ? said : undefined);
  for (const work of works) {
    const cluster = clusterNameOf(work.metadata.namespace ?? "");
    if (cluster !== undefined && !work.metadata.deletionTimestamp) reports.set(cluster, reportIn(work, template));
  }
  return reports;
}

/**
 * Undefined where the Work may be that of a deleted object of this name, where its member does not have the latest copy,
 * and for a report of an earlier generation. Kinds such as Job report no generation.
 */
function reportIn({ spec, status }: DeepReadonly<Work>, { metadata }: Template): JsonObject | undefined {
  const copy = spec.workload?.manifests?.[0] as Template | undefined;
  if (copy?.metadata.annotations?.[TEMPLATE_UID] !== metadata.uid) return undefined;
  if (!isConditionTrue(status?.conditions, "Applied")) return undefined;
  const reported = status?.manifestStatuses?.[0]?.status;
  if (!isObject(reported)) return undefined;
  const generation = reported["resourceTemplateGeneration"];
  return typeof generation === "number" && generation < (metadata.generation ?? 0) ? undefined : reported;
}

/** How many members the message names; a run may have thousands. */
const MAX_NAMED = 10;

function listOf(members: readonly string[]): string {
  const more = members.length > MAX_NAMED ? ` and ${members.length - MAX_NAMED} more` : "";
  return `${members.slice(0, MAX_NAMED).join(", ")}${more}`;
}

function ruleOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): TimeToLive | undefined {
  return rules.get(`${parseApiVersion(apiVersion).group}/${kind}`);
}

function fieldAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  let field = value;
  for (const name of path) field = isObject(field) ? field[name] : undefined;
  return field ?? undefined;
}
