/** The decisions of an EphemeralJob: its pods, their states, and which get the containers now. Pure. */
import type { EphemeralContainer } from "@flotilla/apimachinery/facts/core-v1.ts";
import { compareText, formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { isActive, timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyEphemeralJob } from "./ephemeraljob-kind.ts";

type Status = NonNullable<ReadonlyEphemeralJob["status"]>;
type Condition = NonNullable<Status["conditions"]>[number];
type ReadonlyContainer = DeepReadonly<EphemeralContainer>;

/** On every container of a job: its uid. */
const JOB_VARIABLE = "KRUISE_EJOB_ID";
const DEFAULT_PARALLELISM = 1;
const DEFAULT_TTL_SECONDS = 1800;

export interface EphemeralJobPlan {
  status: Status;
  /** The pods that get the containers. */
  inject: readonly ReadonlyPod[];
  /** Until the deadline; unset without one, or when the job has ended. */
  waitMs?: number;
}

/** `pods` match the selector. */
export function planEphemeralJob(
  job: ReadonlyEphemeralJob,
  pods: readonly ReadonlyPod[],
  nowMs: number,
): EphemeralJobPlan {
  const { spec, status: before } = job;
  const targets = targetsOf(job, pods);
  const startTime = before?.startTime ?? formatTime(nowMs);
  const deadlineMs =
    spec.activeDeadlineSeconds === undefined ? undefined : timeMs(startTime) + spec.activeDeadlineSeconds * 1000;
  const counts = countStates(job, targets);
  const status = planStatus(job, { ...before, startTime, match: targets.length, ...counts }, deadlineMs, nowMs);
  const isOver = status.completionTime !== undefined;
  const waitMs = isOver || deadlineMs === undefined ? undefined : Math.max(0, deadlineMs - nowMs) + 1;
  if (isOver || status.phase === "Paused" || status.phase === "Error") return { status, inject: [], waitMs };
  const injected = targets.filter((pod) => isInjected(job, pod));
  const missing = targets.filter((pod) => !injected.includes(pod));
  // Also those whose containers have no status yet.
  const busy = injected.filter((pod) => !["succeeded", "failed"].includes(stateOf(job, pod) ?? "")).length;
  const room = (spec.parallelism ?? DEFAULT_PARALLELISM) - busy;
  return { status, inject: missing.slice(0, Math.max(0, room)), waitMs };
}

/** Milliseconds until a finished job is deleted; undefined for one that has not finished. */
export function expiresInMs({ spec, status }: ReadonlyEphemeralJob, nowMs: number): number | undefined {
  return status?.completionTime === undefined
    ? undefined
    : timeMs(status.completionTime) + (spec.ttlSecondsAfterFinished ?? DEFAULT_TTL_SECONDS) * 1000 - nowMs;
}

/** The containers of the job, for a pod. */
export const containersOf = ({ metadata, spec }: ReadonlyEphemeralJob): ReadonlyContainer[] =>
  spec.template.ephemeralContainers.map((container) => ({
    ...container,
    env: [...(container.env ?? []), { name: JOB_VARIABLE, value: metadata.uid ?? "" }],
  }));

const isOfJob = ({ metadata }: ReadonlyEphemeralJob, { env = [] }: ReadonlyContainer): boolean =>
  env.some(({ name, value }) => name === JOB_VARIABLE && value === metadata.uid);

const isNamed = ({ spec }: ReadonlyEphemeralJob, { name }: { readonly name: string }): boolean =>
  spec.template.ephemeralContainers.some((container) => container.name === name);

const isInjected = (job: ReadonlyEphemeralJob, { spec }: ReadonlyPod): boolean =>
  spec.ephemeralContainers?.some((container) => isNamed(job, container) && isOfJob(job, container)) ?? false;

/** The oldest pods first; pods with another container of that name are left out. */
function targetsOf(job: ReadonlyEphemeralJob, pods: readonly ReadonlyPod[]): ReadonlyPod[] {
  const isTaken = ({ spec }: ReadonlyPod): boolean =>
    spec.ephemeralContainers?.some((container) => isNamed(job, container) && !isOfJob(job, container)) ?? false;
  return pods
    .filter((pod) => isActive(pod) && !isTaken(pod))
    .toSorted(
      (a, b) =>
        compareText(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
        compareText(a.metadata.name, b.metadata.name),
    )
    .slice(0, job.spec.replicas ?? pods.length);
}

type PodState = "succeeded" | "failed" | "running" | "waiting";

function countStates(job: ReadonlyEphemeralJob, pods: readonly ReadonlyPod[]): Record<PodState, number> {
  const counts = { succeeded: 0, failed: 0, running: 0, waiting: 0 };
  for (const pod of pods) {
    const state = stateOf(job, pod);
    if (state) counts[state]++;
  }
  return counts;
}

/** Undefined before a container of the job has a status. */
function stateOf(job: ReadonlyEphemeralJob, { status }: ReadonlyPod): PodState | undefined {
  const own = (status?.ephemeralContainerStatuses ?? []).filter((container) => isNamed(job, container));
  const ends = own.map(({ state }) => state?.terminated);
  const hasFailed = own.some(
    ({ state }, index) =>
      (ends[index] !== undefined && ends[index].exitCode !== 0) || state?.waiting?.reason === "RunContainerError",
  );
  if (hasFailed) return "failed";
  const succeeded = ends.filter((end) => end?.exitCode === 0).length;
  if (succeeded > 0 && succeeded === job.spec.template.ephemeralContainers.length) return "succeeded";
  if (own.some(({ state }) => state?.running)) return "running";
  return own.some(({ state }) => state?.waiting) ? "waiting" : undefined;
}

function planStatus(
  { metadata, spec }: ReadonlyEphemeralJob,
  counted: Status,
  deadlineMs: number | undefined,
  nowMs: number,
): Status {
  const { match = 0, succeeded = 0, failed = 0, running = 0, waiting = 0 } = counted;
  const replicas = spec.replicas ?? match;
  const name = `EphemeralJob ${metadata.namespace ?? ""}/${metadata.name}`;
  const initialized = { type: "Initialized", reason: "Initialized", message: "" };
  let status = counted.conditions ? counted : withCondition(counted, initialized, nowMs);
  const end = (phase: string, type: string, reason: string, message: string): Status => ({
    ...withCondition(status, { type, reason, message }, nowMs),
    phase,
    completionTime: formatTime(nowMs),
  });
  if (match === 0)
    status = {
      ...withCondition(status, { type: "MatchedEmpty", reason: "MatchEmpty", message: "job match no pods" }, nowMs),
      phase: "Waiting",
    };
  else if (succeeded === replicas && succeeded > 0)
    status = end("Succeeded", "JobSucceeded", "JobSucceeded", "job success to run all tasks");
  else if (running > 0) status = { ...status, phase: "Running" };
  else if (failed === replicas) status = end("Failed", "JobFailed", "JobFailed", "job failed to run all tasks");
  else status = { ...status, phase: waiting === replicas ? "Waiting" : "Unknown" };
  if (spec.paused) status = { ...status, phase: "Paused" };
  if (failed > 0)
    status = withCondition(
      status,
      { type: "JobFailed", reason: "CreateFailed", message: `${name} failed to create ephemeral container` },
      nowMs,
    );
  const isLate = deadlineMs !== undefined && nowMs >= deadlineMs;
  if (isLate && ["Waiting", "Unknown", "Running"].includes(status.phase ?? ""))
    status = end("Failed", "JobFailed", "DeadlineExceeded", `${name} was active longer than specified deadline`);
  return spec.template.ephemeralContainers.length > 0
    ? status
    : {
        ...withCondition(status, { type: "JobError", reason: "Error", message: "job spec invalid fields." }, nowMs),
        phase: "Error",
      };
}

/** Keeps the times of an equal condition, so that an unchanged job is not written. */
function withCondition(status: Status, next: Pick<Condition, "type" | "reason" | "message">, nowMs: number): Status {
  const conditions = status.conditions ?? [];
  const known = conditions.findIndex(({ type }) => type === next.type);
  if (known >= 0 && conditions[known]?.reason === next.reason && conditions[known]?.message === next.message)
    return status;
  const now = formatTime(nowMs);
  const condition: Condition = { ...next, status: "True", lastProbeTime: now, lastTransitionTime: now };
  return { ...status, conditions: known < 0 ? [...conditions, condition] : conditions.with(known, condition) };
}
