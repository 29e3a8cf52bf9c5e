/**
 * Decides how many completions of a Job each member runs. Pure.
 *
 * The first division is Karmada's: by the parallelism of each member. The completions of a Job are immutable on its
 * member, so later ones only hand out the rest: what no member has, and no member that the Job has left had finished
 * (`job-record.ts`). A new member gets the rest; without one, the Job of one member is created again with the rest
 * added. A finished Job has no rest, so it does not run again, unless its policy or the Job itself asks for that.
 *
 * The numbers are those that members have reported. A pod that succeeds after the last report of its member, while the
 * Job moves away, runs again.
 */
import { findCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { clusterNameOf } from "@flotilla/karmada";
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import { countOf, finishOf, isJobFinished } from "@flotilla/kubernetes";
import { targetsOf } from "../bindings/target-clusters.ts";
import { divideByWeight } from "../replicas/webster.ts";
import { tieBreakerOf } from "../replicas/tie-breaker.ts";
import { divideCompletions, type JobToDivide } from "./job-completions.ts";
import { runsAgain } from "./finished-run.ts";
import { formatJobRecord, parseJobRecord, type JobRecord, type JobRecordEntry } from "./job-record.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Job = DeepReadonly<KubernetesObject> &
  JobToDivide & {
    readonly spec?: { readonly parallelism?: number; readonly completionMode?: string };
    readonly status?: unknown;
  };

export interface JobPlan {
  /** The completions of each target's copy; a target that is missing here keeps those of the template. */
  readonly completions: ReadonlyMap<string, number>;
  /** The record after this step. */
  readonly record: JobRecord;
  /** The annotation to write before any Work is changed; undefined when it is up to date. */
  readonly recordText?: string;
  /** Works that are deleted without waiting for a replacement: what they had finished is in the record. */
  readonly retired: ReadonlySet<DeepReadonly<Work>>;
  /** Completions that no member runs yet. */
  readonly rest: number;
  /**
   * Completions that no member has done or runs: `rest`, and what copies lack that are complete with fewer than their
   * Work asks for, because the member rejected a change of it. None of a Job that failed on a member: it has failed as a
   * whole, and nothing of it is missing.
   */
  readonly missing: number;
}

export function isJob({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return kind === "Job" && apiVersion.startsWith("batch/");
}

/** `works` are the current Works of the binding, including those that are being deleted. */
export function planJob(binding: Binding, job: Job, works: readonly DeepReadonly<Work>[], now: string): JobPlan {
  const targets = targetsOf(binding.spec).map(({ name, replicas }) => ({
    name,
    replicas: replicas ?? binding.spec.replicas ?? 0,
  }));
  const names = new Set(targets.map(({ name }) => name));
  const copies = works.flatMap((work) => copyIn(work) ?? []);
  const live = copies.filter(({ work, cluster }) => names.has(cluster) && !work.metadata.deletionTimestamp);
  const again = runsAgain(binding);
  const left = copies.filter((copy) => !live.includes(copy));
  const record = again ? [] : withEntries(withoutLive(parseJobRecord(binding), live), left, now);

  const held = new Set(live.map(({ cluster }) => cluster));
  const fresh = targets.filter(({ name }) => !held.has(name));
  const isOver = !again && isJobFinished(job.status);
  const asked = askedCompletions(binding, job, targets.length);
  // A Job that runs in one place follows its template: an Indexed Job may be resized there. What ran in several places
  // keeps its share, also when it is the last one: completions are immutable.
  const isAlone =
    !isOver &&
    targets.length === 1 &&
    record.length === 0 &&
    live.length === 1 &&
    (live[0]?.completions === asked || isResizable(job));
  const rest =
    asked === undefined || isOver || isAlone
      ? 0
      : Math.max(0, asked - sumOf(live, ({ completions }) => completions ?? asked) - sumOf(record, succeededIn));
  const receiver = rest > 0 && fresh.length === 0 ? receiverOf(live) : undefined;
  const retired = receiver ? [...left, receiver] : left;
  const after = receiver && !again ? withEntries(record, [receiver], now) : record;
  return {
    completions: isAlone
      ? new Map()
      : new Map([
          ...live.flatMap(({ cluster, completions }) =>
            completions === undefined ? [] : [[cluster, completions] as const],
          ),
          ...freshCompletions({ binding, job, fresh, rest, isOver, live, record }),
        ]),
    record: after,
    recordText: again ? undefined : changedRecord(binding, after, works),
    retired: new Set(retired.map(({ work }) => work)),
    rest,
    missing: live.some(({ hasFailed }) => hasFailed)
      ? 0
      : rest + (asked === undefined || isOver || isIndexed(job) ? 0 : sumOf(live, (copy) => shortfallOf(copy, asked))),
  };
}

/** One member's copy of the Job, and its last report. */
interface Copy {
  readonly work: DeepReadonly<Work>;
  readonly cluster: string;
  readonly completions: number | undefined;
  readonly succeeded: number;
  readonly active: number;
  readonly isFinished: boolean;
  readonly hasFailed: boolean;
}

function copyIn(work: DeepReadonly<Work>): Copy | undefined {
  const cluster = clusterNameOf(work.metadata.namespace ?? "");
  const manifest = work.spec.workload?.manifests?.[0] as DeepReadonly<JobToDivide> | undefined;
  if (cluster === undefined || !manifest) return undefined;
  const reported = work.status?.manifestStatuses?.[0]?.status;
  const status: JsonObject = isObject(reported) ? reported : {};
  return {
    work,
    cluster,
    completions: manifest.spec?.completions ?? undefined,
    succeeded: countOf(status["succeeded"]),
    active: countOf(status["active"]),
    isFinished: isJobFinished(status),
    hasFailed: finishOf(status) === "Failed",
  };
}

const sumOf = <T>(items: readonly T[], count: (item: T) => number): number =>
  items.reduce((sum, item) => sum + count(item), 0);
const succeededIn = ({ succeeded }: JobRecordEntry): number => succeeded;
const uidOf = ({ metadata }: DeepReadonly<Work>): string => metadata.uid ?? `${metadata.namespace}/${metadata.name}`;

/** The completions of the whole fleet; undefined for a work queue, whose pods decide when it is done. */
function askedCompletions(binding: Binding, job: Job, targets: number): number | undefined {
  const completions = job.spec?.completions ?? undefined;
  return completions !== undefined && isWhole(binding) ? completions * targets : completions;
}

const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === "Indexed";

/** Only an Indexed Job may be complete with fewer completions than its own spec asks for, by its success policy. */
const shortfallOf = ({ isFinished, completions, succeeded }: Copy, asked: number): number =>
  isFinished ? Math.max(0, (completions ?? asked) - succeeded) : 0;

/** An API server accepts new completions of an Indexed Job together with the same parallelism. */
export const isResizable = (job: Job): boolean => isIndexed(job) && job.spec?.completions === job.spec?.parallelism;

/** Every member runs all completions. */
function isWhole({ spec: { placement } }: Binding): boolean {
  return placement?.replicaScheduling?.replicaSchedulingType !== "Divided";
}

/** A member that is a target again before its Work was deleted keeps that Work, which then counts by itself. */
function withoutLive(record: JobRecord, live: readonly Copy[]): JobRecord {
  const uids = new Set(live.map(({ work }) => uidOf(work)));
  return record.some(({ work }) => work !== undefined && uids.has(work))
    ? record.filter(({ work }) => work === undefined || !uids.has(work))
    : record;
}

function withEntries(record: JobRecord, left: readonly Copy[], now: string): JobRecord {
  const known = new Set(record.map(({ work }) => work));
  const more = left.filter(({ work, succeeded }) => succeeded > 0 && !known.has(uidOf(work)));
  return more.length === 0
    ? record
    : [...record, ...more.map(({ work, cluster, succeeded }) => ({ cluster, succeeded, at: now, work: uidOf(work) }))];
}

function changedRecord(binding: Binding, record: JobRecord, works: readonly DeepReadonly<Work>[]): string | undefined {
  const before = parseJobRecord(binding);
  if (record.length === before.length && record.every((entry, index) => entry.work === before[index]?.work))
    return undefined;
  return formatJobRecord(record, new Set(works.map(uidOf)));
}

/** The member whose Job is created again costs the least: nothing if its share is finished. */
function receiverOf(live: readonly Copy[]): Copy | undefined {
  return live
    .filter(({ work }) => findCondition(work.status?.conditions ?? [], "Applied")?.status === "True")
    .toSorted(
      (a, b) => Number(b.isFinished) - Number(a.isFinished) || a.active - b.active || (a.cluster < b.cluster ? -1 : 1),
    )[0];
}

interface FreshInput {
  readonly binding: Binding;
  readonly job: Job;
  readonly fresh: readonly { name: string; replicas: number }[];
  readonly rest: number;
  readonly isOver: boolean;
  readonly live: readonly Copy[];
  readonly record: JobRecord;
}

/** A Job of no completions is complete at once, without a pod. */
function freshCompletions({ binding, job, fresh, rest, isOver, live, record }: FreshInput): [string, number][] {
  if ((job.spec?.completions ?? undefined) === undefined) {
    // Once a pod of a work queue has succeeded, no new pod is started.
    const isDone = isOver || record.length > 0 || (!isWhole(binding) && live.some(({ succeeded }) => succeeded > 0));
    return isDone ? fresh.map(({ name }) => [name, 0]) : [];
  }
  // Without parallelism no pod starts anywhere; it may be raised later.
  const isPaused = fresh.every(({ replicas }) => replicas === 0);
  const tieBreaker = tieBreakerOf(binding.spec.resource);
  const divided =
    isWhole(binding) || isPaused
      ? divideByWeight(
          rest,
          fresh.map(({ name }) => ({ name, weight: 1 })),
          { uid: tieBreaker },
        )
      : (divideCompletions({ metadata: job.metadata, spec: { completions: rest } }, fresh, tieBreaker) ?? []);
  const shares = new Map(divided.map(({ name, replicas }) => [name, replicas]));
  return fresh.map(({ name }) => [name, shares.get(name) ?? 0]);
}
