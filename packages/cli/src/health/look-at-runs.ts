/**
 * Looks at the runs of a CronJob or an AdvancedCronJob on a member: how the last one that ended did so, and the pods of
 * the one that is active.
 */
import type { JsonObject } from "@flotilla/base";
import { Job, kubernetesWorkloads } from "@flotilla/kubernetes";
import { kruiseWorkloads } from "@flotilla/openkruise";
import type { Asking } from "../members/ask.ts";
import type { Discovery } from "../members/discovery.ts";
import type { Place } from "../members/members-places.ts";
import { isOwnedBy, podsOwnedBy } from "../members/pods.ts";
import { objectsIn, readList, readOneObject } from "../members/read-objects.ts";
import type { ServedType } from "../members/served-types.ts";
import type { PodProblem } from "./pod-problems.ts";
import { readPodProblems } from "./read-pod-problems.ts";
import type { PodReport } from "./read-pod-problems.ts";
import { textOf, objectOf, objectsOf } from "@flotilla/base";

/** Pods of a run that wait for longer than this do not start by themselves. */
const START_MS = 60_000;
/** Histories are short; more runs than this are not of one schedule. */
const MAX_RUNS = 1_000;
/** The kinds of runs that have pods, by the type in the status of an AdvancedCronJob: `Job.batch`. */
const RUN_KINDS: ReadonlyMap<string, string> = new Map(
  [...kubernetesWorkloads, ...kruiseWorkloads]
    .filter(({ workload }) => workload?.runsToCompletion)
    .map(({ group, kind }) => [kind, `${kind}.${group}`]),
);

interface Where {
  asking: Asking;
  discovery: Discovery;
  place: Place;
  /** Of the schedule. */
  type: ServedType;
}

interface RunReport extends PodReport {
  failedRun?: string | undefined;
}

/** A run may take long; its pods must start. */
export function podProblemsOfRun(problems: readonly PodProblem[], nowMs: number): PodProblem[] {
  return problems
    .filter(({ does }) => does !== "run")
    .map((problem) => ({
      ...problem,
      isCertain: problem.isCertain || (problem.does === "wait" && nowMs - problem.createdMs > START_MS),
    }));
}

export async function lookAtRuns(
  { asking, discovery, place, type }: Where,
  { namespace, name }: { namespace?: string | undefined; name: string },
): Promise<RunReport> {
  const owner = await readOneObject(asking, place, type, namespace, name);
  if (!owner || isSuspended(owner)) return { problems: [] };
  const word = RUN_KINDS.get(textOf(objectOf(owner["status"])["type"]) || Job.kind);
  const [runType] = word === undefined ? [] : await discovery.typesAt(place, word);
  if (!runType) return { problems: [] };
  const uid = textOf(objectOf(owner["metadata"])["uid"]);
  const list = await readList(asking, place, runType, { namespace, accept: "application/json" }, { left: MAX_RUNS });
  const runs = objectsIn(list)
    .filter((run) => isOwnedBy(run, uid))
    .sort((a, b) => createdMs(b) - createdMs(a));
  const ended = runs.find((run) => endOf(run) !== undefined);
  const failed = ended && endOf(ended) === "Failed" ? ended : undefined;
  const looked = runs.filter((run) => run === failed || (endOf(run) === undefined && run === runs[0]));
  const pods = await Promise.all(looked.map((run) => podsOwnedBy(asking, place, run, namespace)));
  const { problems, unseen } = await readPodProblems(asking, place, namespace, pods.flat());
  return {
    problems: podProblemsOfRun(problems, asking.clock.now()),
    unseen,
    failedRun: failed && `the last run failed${reasonOf(failed)}`,
  };
}

const isSuspended = ({ spec }: JsonObject): boolean => {
  const { suspend, paused } = objectOf(spec);
  return suspend === true || paused === true;
};
const createdMs = ({ metadata }: JsonObject): number => Date.parse(textOf(objectOf(metadata)["creationTimestamp"]));
/** `Complete` or `Failed`; undefined for a run that has not ended. */
export const endOf = (run: JsonObject): string | undefined => {
  const end = endConditionOf(run);
  return end && textOf(end["type"]);
};

function endConditionOf({ status }: JsonObject): JsonObject | undefined {
  return objectsOf(objectOf(status)["conditions"]).find(
    ({ type, status: value }) => (type === "Complete" || type === "Failed") && value === "True",
  );
}

/** `: BackoffLimitExceeded: Job has reached the specified backoff limit` */
function reasonOf(run: JsonObject): string {
  const { reason, message } = endConditionOf(run) ?? {};
  return [reason, message]
    .map(textOf)
    .filter(Boolean)
    .map((text) => `: ${text.replaceAll(/\s+/g, " ")}`)
    .join("");
}
