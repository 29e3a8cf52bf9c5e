/**
 * Aggregates the Works of a binding: one item per target cluster, and whether all of them are applied and healthy. Pure.
 */
import { findCondition, isConditionTrue, withCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { withoutOlderPods } from "../works/pods-since.ts";
import { targetsOf } from "../bindings/target-clusters.ts";
import { clusterNameOf, TEMPLATE_GENERATION } from "@flotilla/karmada";
import {
  DISPATCHED,
  INTERPRETED,
  REPLICAS_LEFT,
  STALE,
  STOPPED_REASONS,
  WORKS_REJECTED,
} from "../../flotilla-names.ts";
import { HEALTHY, withBindingHealth } from "../../health/healthy-condition.ts";
import type { MemberVerdict } from "../../health/healthy-condition.ts";
import { whyUnhealthy } from "../../health/why-unhealthy.ts";
import { isJobFinished, timeMs } from "@flotilla/kubernetes";
import { isFinishedRun } from "../jobs/finished-run.ts";
import { isJob } from "../jobs/plan-job.ts";
import { STATUS_UNREAD, whyStale } from "../works/stale-numbers.ts";

type Item = NonNullable<NonNullable<ResourceBinding["status"]>["aggregatedStatus"]>[number];

/**
 * Sorted by cluster name. A Work that is being deleted no longer counts for its cluster, unless a finalizer holds its
 * object there: until then the cluster does not get the copy.
 */
export function planItems(works: readonly DeepReadonly<Work>[], held: readonly DeepReadonly<Work>[] = []): Item[] {
  return works
    .filter((work) => !work.metadata.deletionTimestamp && !isLeftAlone(work))
    .map(itemOf)
    .concat(held.map((work) => ({ ...itemOf(work), status: undefined })))
    .sort(byCluster);
}

/** What members report of what they run, with its health also where the latest copy is not applied: its numbers count. */
export function planReports(works: readonly DeepReadonly<Work>[]): Pick<Item, "clusterName" | "status" | "health">[] {
  return works
    .filter((work) => !work.metadata.deletionTimestamp && !isLeftAlone(work))
    .map((work) => ({ ...itemOf(work), health: work.status?.manifestStatuses?.[0]?.health }));
}

/**
 * Whether reports of members that leave are kept. A Job may be complete on each of its members and lack completions of one
 * that has left: its record has what those that it leaves had done, and another member runs the rest.
 */
export function keepsFinalReports(
  binding: DeepReadonly<ResourceBinding>,
  template: (DeepReadonly<KubernetesObject> & { readonly status?: unknown }) | undefined | "unknown",
): boolean {
  if (!isFinishedRun(binding)) return false;
  return template === undefined || template === "unknown" || !isJob(template) || isJobFinished(template.status);
}

/** A finished run does not run again, so what a member that left reported stays. */
export function withFinalReports({ status }: DeepReadonly<ResourceBinding>, items: readonly Item[]): Item[] {
  const reported = new Map<string, Item>();
  for (const item of status?.aggregatedStatus ?? []) reported.set(item.clusterName, item as Item);
  for (const item of items) if (item.status || !reported.has(item.clusterName)) reported.set(item.clusterName, item);
  return [...reported.values()].sort(byCluster);
}

const byCluster = (a: Item, b: Item): number => (a.clusterName < b.clusterName ? -1 : 1);

/** A member whose agent does not run is never tried; the others are not hidden for longer than this after its Work is sent. */
const FIRST_TRY_MS = 30_000;

/**
 * In how many milliseconds to aggregate; 0 for now, undefined until something changes. Nothing is aggregated before every
 * target has been tried once, or had the time for it: an initial "not applied" would cost writes and alarm users about a
 * workload that is still being delivered.
 */
export function aggregatesInMs(
  binding: DeepReadonly<ResourceBinding>,
  works: readonly DeepReadonly<Work>[],
  nowMs: number,
): number | undefined {
  if (binding.status?.aggregatedStatus) return 0;
  // Before the first scheduling the template keeps its status; after it, no clusters means that nothing runs.
  const held = new Set(binding.spec.suspension?.dispatchingOnClusters?.clusterNames);
  const targets = targetsOf(binding.spec);
  if (targets.length === 0) return isConditionTrue(binding.status?.conditions ?? [], "Scheduled") ? 0 : undefined;
  const workOf = new Map(works.map((work) => [clusterNameOf(work.metadata.namespace ?? ""), work]));
  const isTried = (work: DeepReadonly<Work> | undefined): boolean =>
    findCondition(work?.status?.conditions ?? [], "Applied") !== undefined;
  if (!works.some(isTried)) return undefined;
  const leftAlone = planLeftAlone(works);
  const hasFailed = findCondition(binding.status?.conditions, DISPATCHED)?.status === "False";
  // A member to which nothing is dispatched, or whose object is its own, would never be tried.
  const awaited = targets.filter(
    ({ name }) =>
      !held.has(name) && !leftAlone.has(name) && !isTried(workOf.get(name)) && (!hasFailed || workOf.has(name)),
  );
  // Dispatch may start long after the scheduling: it waits for quota or a release, and Works may be suspended.
  const scheduledAt = binding.status?.lastScheduledTime ?? binding.metadata.creationTimestamp;
  const resumedMs = Math.max(...works.map(resumedAtMs));
  const sinceMs = ({ metadata }: DeepReadonly<Work>): number =>
    Math.max(timeMs(metadata.creationTimestamp ?? scheduledAt), resumedMs);
  const firstMs = Math.min(...works.map(sinceMs));
  const untilMs = awaited.map(({ name }) => {
    const work = workOf.get(name);
    return (work ? sinceMs(work) : firstMs) + FIRST_TRY_MS;
  });
  return untilMs.length === 0 ? 0 : Math.max(0, Math.min(...untilMs) - nowMs);
}

/** When a suspension of the Work ended, as its member reports it; a member that has not answered does not. */
function resumedAtMs({ status }: DeepReadonly<Work>): number {
  const dispatching = findCondition(status?.conditions, "Dispatching");
  return dispatching?.status === "True" ? timeMs(dispatching.lastTransitionTime) : 0;
}

/**
 * The members that keep an object of their own, because the template was never managed there: nothing is awaited from
 * them. One that was released later has applied a copy, which is still reported.
 */
export function planLeftAlone(works: readonly DeepReadonly<Work>[]): ReadonlySet<string> {
  return new Set(works.filter(isLeftAlone).map(({ metadata }) => clusterNameOf(metadata.namespace ?? "") ?? ""));
}

const isLeftAlone = ({ status }: DeepReadonly<Work>): boolean =>
  findCondition(status?.conditions, "Managed")?.status === "False" &&
  findCondition(status?.conditions, "Applied") === undefined;

/** A member that does not apply the latest copy still runs an earlier one, so its numbers count. */
function itemOf(work: DeepReadonly<Work>): Item {
  const clusterName = clusterNameOf(work.metadata.namespace ?? "") ?? "";
  const condition = findCondition(work.status?.conditions ?? [], "Applied");
  const [manifest] = work.status?.manifestStatuses ?? [];
  const isApplied = condition?.status === "True";
  const status = withoutOlderPods(
    work,
    (manifest?.status ?? undefined) as Json | undefined,
    isApplied,
  ) as Item["status"];
  if (!isApplied) {
    return {
      clusterName,
      status,
      applied: false,
      appliedMessage: condition?.message ? condition.message : undefined,
      // A member that the hub stopped writing to still answers, and so still reports its health.
      health: STOPPED_REASONS.has(condition?.reason ?? "") ? (manifest?.health ?? "Unknown") : "Unknown",
    };
  }
  return { clusterName, status, applied: true, health: manifest?.health ?? "Unknown" };
}

const NONE: ReadonlyMap<string, string> = new Map();
const NOWHERE: ReadonlySet<string> = new Set();

/**
 * What is wrong on members, sorted by cluster name. A member that has not applied the latest copy is judged by the
 * earlier one, if it reports it: a rejected update must not hide pods that are down.
 */
export function planVerdicts(
  { spec }: DeepReadonly<ResourceBinding>,
  works: readonly DeepReadonly<Work>[],
): MemberVerdict[] {
  const targets = new Map(targetsOf(spec).map((target) => [target.name, target]));
  return works
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .flatMap((work): MemberVerdict[] => {
      const cluster = clusterNameOf(work.metadata.namespace ?? "") ?? "";
      const target = targets.get(cluster);
      const isApplied = isConditionTrue(work.status?.conditions, "Applied");
      const [manifest] = work.status?.manifestStatuses ?? [];
      if (!target || (!isApplied && !manifest)) return [];
      const condition = findCondition(work.status?.conditions, HEALTHY);
      if (condition) {
        const { status, reason, message, lastTransitionTime: since } = condition;
        return status === "True"
          ? []
          : [{ cluster, status: status === "False" ? "False" : "Unknown", reason, message, since }];
      }
      // Another program's agent reports the status and the verdict of the rule only.
      if (!manifest) return [];
      const { apiVersion, kind, name } = spec.resource;
      const found = whyUnhealthy(
        {
          apiVersion,
          kind,
          metadata: { name },
          spec: { replicas: isApplied && asksForShare(work, manifest.status) ? target.replicas : undefined },
          status: manifest.status,
        } as KubernetesObject,
        manifest.health,
      );
      return found ? [{ cluster, status: "False", ...found }] : [];
    })
    .toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

/**
 * Whether the member's object asks for the replicas of its share: an earlier copy may ask for another number, and so may
 * the member's own autoscaler.
 */
const asksForShare = (work: DeepReadonly<Work>, status: unknown): boolean =>
  !isOfEarlierCopy(work, status) && !isConditionTrue(work.status?.conditions, REPLICAS_LEFT);

/** Whether the member's agent has not seen the latest copy: what it reports is about the one before. */
function isOfEarlierCopy({ spec }: DeepReadonly<Work>, status: unknown): boolean {
  const [copy] = (spec.workload?.manifests ?? []) as unknown as readonly DeepReadonly<KubernetesObject>[];
  const reported = isObject(status) ? status["resourceTemplateGeneration"] : undefined;
  return typeof reported === "number" && reported < Number(copy?.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
}

/** A rule that fails for the objects of a member. */
export interface FailedRule {
  cluster: string;
  reason: string;
  message: string;
}

/** The rules that fail on target members, sorted by cluster name. */
export function planFailedRules(
  { spec }: DeepReadonly<ResourceBinding>,
  works: readonly DeepReadonly<Work>[],
): FailedRule[] {
  return worksOfTargets(spec, works)
    .flatMap(({ cluster, work }): FailedRule[] => {
      const condition = findCondition(work.status?.conditions, INTERPRETED);
      return condition?.status === "False" ? [{ cluster, reason: condition.reason, message: condition.message }] : [];
    })
    .toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

/** Whether the rules were run for the object of every target: before that, a rule that failed may still fail. */
export function areAllRead({ spec }: DeepReadonly<ResourceBinding>, works: readonly DeepReadonly<Work>[]): boolean {
  const read = worksOfTargets(spec, works).filter(({ work }) => work.status?.manifestStatuses?.length);
  return read.length > 0 && read.length === targetsOf(spec).length;
}

function worksOfTargets(
  spec: DeepReadonly<ResourceBinding>["spec"],
  works: readonly DeepReadonly<Work>[],
): { cluster: string; work: DeepReadonly<Work> }[] {
  const targets = new Set(targetsOf(spec).map(({ name }) => name));
  return works.flatMap((work) => {
    const cluster = clusterNameOf(work.metadata.namespace ?? "") ?? "";
    return work.metadata.deletionTimestamp === undefined && targets.has(cluster) ? [{ cluster, work }] : [];
  });
}

export interface Aggregation {
  items: readonly Item[];
  verdicts: readonly MemberVerdict[];
  /** By member: why what the sum has of it may have changed since. */
  stale?: ReadonlyMap<string, string>;
  /** Members that keep an object of their own. */
  leftAlone?: ReadonlySet<string>;
}

/** `away`: the members that are away, with the reason. */
export function planStale(
  works: readonly DeepReadonly<Work>[],
  away: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map(
    works.flatMap((work): [string, string][] => {
      const cluster = clusterNameOf(work.metadata.namespace ?? "") ?? "";
      const why = work.metadata.deletionTimestamp ? undefined : whyStale(work, away.get(cluster));
      return why === undefined ? [] : [[cluster, why]];
    }),
  );
}

export function planAggregation(
  binding: DeepReadonly<ResourceBinding>,
  { items, verdicts, stale = NONE, leftAlone = NOWHERE }: Aggregation,
  now: string,
): DeepReadonly<ResourceBinding> {
  const targets = targetsOf(binding.spec).filter(({ name }) => !leftAlone.has(name));
  // A member that is no longer a target may still have a Work that scales it down.
  const applied = new Set(items.filter((item) => item.applied).map(({ clusterName }) => clusterName));
  const dispatched = findCondition(binding.status?.conditions, DISPATCHED);
  const isUnwritten = dispatched?.status === "False" && dispatched.reason === WORKS_REJECTED;
  const isComplete = !isUnwritten && targets.every(({ name }) => applied.has(name));
  const applies = withCondition(
    binding.status?.conditions ?? [],
    isComplete
      ? {
          type: "FullyApplied",
          status: "True",
          reason: "FullyAppliedSuccess",
          message: "All works have been successfully applied",
        }
      : {
          type: "FullyApplied",
          status: "False",
          reason: "FullyAppliedFailed",
          message: isUnwritten
            ? "Not all works are written, see the condition Dispatched for details"
            : "Failed to apply all works, see status.aggregatedStatus for details",
        },
    now,
  );
  const healthy =
    targets.length === 0 ? applies : withBindingHealth(applies, verdicts, knownOf(targets, items, stale), now);
  const conditions = withStaleness(healthy, { targets, items, stale }, now);
  if (conditions === binding.status?.conditions && equalJson(items, binding.status?.aggregatedStatus ?? []))
    return binding;
  return { ...binding, status: { ...binding.status, conditions: [...conditions], aggregatedStatus: [...items] } };
}

/** How many members the message names; a binding may have thousands. */
const MAX_NAMED = 10;

type Conditions = NonNullable<NonNullable<DeepReadonly<ResourceBinding>["status"]>["conditions"]>;

interface Reports {
  readonly targets: readonly { readonly name: string }[];
  readonly items: readonly Item[];
  readonly stale: ReadonlyMap<string, string>;
}

/** Whether the sum has numbers that may have changed since. A binding that was never stale has no such condition. */
function withStaleness(conditions: Conditions, { targets, items, stale }: Reports, now: string): Conditions {
  const reported = new Set(items.flatMap(({ clusterName, status }) => (status === undefined ? [] : [clusterName])));
  if (stale.size === 0)
    // What it said of the members before may be about others.
    return findCondition(conditions, STALE)
      ? withCondition(
          conditions,
          {
            type: STALE,
            status: "False",
            // A member without a report may be one that never had any.
            ...(targets.every((target) => reported.has(target.name))
              ? { reason: "AllMembersReporting", message: "Every member reports its status" }
              : { reason: "NoneStale", message: "No status of a member is out of date" }),
          },
          now,
        )
      : conditions;
  const named = (hasNumbers: boolean): string[] =>
    items.flatMap(({ clusterName: name, status }) =>
      stale.has(name) && (status !== undefined) === hasNumbers ? [`${name} (${stale.get(name)})`] : [],
    );
  const parts = [
    ["the status has the last numbers of", named(true)],
    ["the status has no numbers of", named(false)],
  ] as const;
  return withCondition(
    conditions,
    {
      type: STALE,
      status: "True",
      reason: stale.values().every((why) => why === STATUS_UNREAD) ? STATUS_UNREAD : "MembersNotReporting",
      message: parts
        .flatMap(([text, members]) => (members.length > 0 ? [`${text} ${listOf(members)}`] : []))
        .join("; "),
    },
    now,
  );
}

function listOf(members: readonly string[]): string {
  const more = members.length > MAX_NAMED ? ` and ${members.length - MAX_NAMED} more` : "";
  return `${members.slice(0, MAX_NAMED).join(", ")}${more}`;
}

/** How far the health of a binding without findings is known. */
function knownOf(
  targets: readonly { readonly name: string }[],
  items: readonly Item[],
  stale: ReadonlyMap<string, string>,
): "all" | "unreported" | "unapplied" | "stale" {
  const itemOf = new Map(items.map((item) => [item.clusterName, item]));
  if (!targets.every(({ name }) => itemOf.get(name)?.applied)) return "unapplied";
  if (targets.some(({ name }) => itemOf.get(name)?.health === "Unknown")) return "unreported";
  return targets.some(({ name }) => stale.has(name)) ? "stale" : "all";
}

type Template = DeepReadonly<KubernetesObject> & { readonly status?: unknown };

/**
 * The latest version of a template with the status that was aggregated for an earlier one. A status of another
 * generation is aggregated again.
 */
export function takeStatus(newest: Template, { metadata }: Template, summed: Template): Template {
  const isSame = newest.metadata.uid === metadata.uid && newest.metadata.generation === metadata.generation;
  if (!isSame || equalJson(newest.status, summed.status)) return newest;
  return { ...newest, status: summed.status };
}

/**
 * Whether some member still reports on an earlier spec: members that observed the latest one will report again soon.
 */
export function isBehind({ metadata: { generation = 0 }, status }: Template): boolean {
  const observed = isObject(status) ? status["observedGeneration"] : undefined;
  return typeof observed === "number" && observed < generation;
}
