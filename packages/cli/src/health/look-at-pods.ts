/**
 * Looks at the pods of workloads that are not healthy, on their members, through the hub: in parallel, for a limited
 * number of workloads and a limited time. What could not be read is reported.
 */
import { parseApiVersion, isForbidden } from "@flotilla/apimachinery";
import { ask } from "../members/ask.ts";
import type { Asking } from "../members/ask.ts";
import { createDiscovery } from "../members/discovery.ts";
import type { Discovery } from "../members/discovery.ts";
import { askEach } from "../members/each-place.ts";
import { newestEvents, readEvents } from "../members/events.ts";
import { proxyPath } from "../members/members-places.ts";
import type { Place } from "../members/members-places.ts";
import { podsBelow } from "../members/pods.ts";
import { readOneObject } from "../members/read-objects.ts";
import { isScheduled, runsToCompletion } from "@flotilla/flotilla";
import { nameMembers } from "./name-members.ts";
import { endOf, lookAtRuns, podProblemsOfRun } from "./look-at-runs.ts";
import { outdatedPodsOf } from "./outdated-pods.ts";
import { groupOf, sortProblems, problemText } from "./pod-problems.ts";
import type { PodProblem } from "./pod-problems.ts";
import { readPodProblems, unseenEvents } from "./read-pod-problems.ts";

/** A copy of a workload on a member. */
export interface CopyRef {
  cluster: string;
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
}

/** What the member has. */
export interface CopyReport {
  copy: CopyRef;
  problems: readonly PodProblem[];
  /** The newest warning about the workload itself, if no pod explains it: pods that cannot be created have none. */
  warning?: string | undefined;
  /** How the last run of a schedule failed. */
  failedRun?: string | undefined;
  /** What could not be read beside the pods. */
  unseen?: string | undefined;
}

export interface CopyReports {
  /** By the id of the copy. */
  reports: ReadonlyMap<string, CopyReport>;
  /** The ids of the copies whose pods could not be read. */
  unread: ReadonlySet<string>;
  /** `the pods on member2: no response within 3 s` */
  unseen: string[];
}

export const idOf = (ref: CopyRef): string => {
  const { cluster, apiVersion, kind, namespace = "", name } = ref;
  return [cluster, apiVersion, kind, namespace, name].join("/");
};

/** Requests per workload and member: itself, its pods, their warnings, its events. */
const MAX_COPIES = 60;
const RESPONSE_MS = 3_000;
const ALL_MS = 8_000;
const VOLUME = "PersistentVolumeClaim";
/** An older warning may be about something that is over. */
const RECENT_MS = 15 * 60_000;

export interface LookOptions extends Pick<Asking, "client" | "clock" | "signal"> {
  /** The members; undefined if the user may not list them: then every name is tried. */
  places: readonly Place[] | undefined;
}

export async function lookAtPods(
  copies: readonly CopyRef[],
  { client, clock, signal, places }: LookOptions,
): Promise<CopyReports> {
  if (copies.length === 0) return { reports: new Map(), unread: new Set(), unseen: [] };
  const known = new Map(places?.map((place) => [place.name, place]));
  const unseen = new Set<string>();
  const asked = copies.slice(0, MAX_COPIES).flatMap((copy) => {
    const { cluster: name } = copy;
    const place = places
      ? known.get(name)
      : { name, prefix: proxyPath(name), mode: "push" as const, unready: undefined };
    if (place && place.unready === undefined) return [{ ...place, copy }];
    unseen.add(
      `the pods on ${copy.cluster}: ${place ? "the member is not ready" : "the hub has no access to it, because it has no Cluster"}`,
    );
    return [];
  });
  if (copies.length > MAX_COPIES)
    unseen.add(`the pods of ${copies.length - MAX_COPIES} more copies of workloads: only ${MAX_COPIES} are read`);
  const stop = new AbortController();
  const timer = clock.after(ALL_MS, () => stop.abort());
  const asking: Asking = {
    client,
    clock,
    responseTimeoutMs: RESPONSE_MS,
    signal: AbortSignal.any([signal, stop.signal]),
  };
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  try {
    const { answers, failures } = await askEach(asked, signal, (place) => look(asking, discovery, place, place.copy));
    for (const { place, reason } of failures) unseen.add(`the pods on ${place.name}: ${reason}`);
    for (const { answer } of answers) if (answer.unseen !== undefined) unseen.add(answer.unseen);
    const reports = new Map(answers.map(({ answer }) => [idOf(answer.copy), answer]));
    return {
      reports,
      unread: new Set(copies.slice(0, MAX_COPIES).map(idOf)).difference(reports),
      unseen: [...unseen].toSorted(),
    };
  } finally {
    timer.cancel();
  }
}

async function look(asking: Asking, discovery: Discovery, place: Place, copy: CopyRef): Promise<CopyReport> {
  const { kind, namespace, name, apiVersion } = copy;
  const { group } = parseApiVersion(apiVersion);
  const [type] = await discovery.typesAt(place, group ? `${kind}.${group}` : kind);
  if (!type) return { copy, problems: [] };
  const nowMs = asking.clock.now();
  if (isScheduled(copy)) return { copy, ...(await lookAtRuns({ asking, discovery, place, type }, copy)) };
  // A cluster-scoped object selects pods of other owners, such as a SidecarSet; only its own warnings are about it.
  const owner = type.scope === "Namespaced" ? await readOneObject(asking, place, type, namespace, name) : undefined;
  // Its warnings are about what it overcame.
  if (owner && runsToCompletion(copy) && endOf(owner) === "Complete") return { copy, problems: [] };
  const pods = owner ? await podsBelow(asking, place, type, owner) : [];
  const isOutdated = owner && outdatedPodsOf(owner);
  const { problems: found, unseen } = await readPodProblems(asking, place, namespace, pods, isOutdated);
  const problems = runsToCompletion(copy) ? podProblemsOfRun(found, nowMs) : found;
  if (problems.some(({ isCertain }) => isCertain)) return { copy, problems, unseen };
  // A pod that waits for its volume does not say why the volume does.
  const isVolume = problems.some(({ detail }) => detail.includes(VOLUME));
  const about = isVolume ? { kind: VOLUME, namespace } : copy;
  return { copy, problems, ...(await newestWarning(asking, place, about)) };
}

async function newestWarning(
  asking: Asking,
  place: Place,
  about: Parameters<typeof readEvents>[2],
): Promise<Pick<CopyReport, "warning" | "unseen">> {
  try {
    const events = await readEvents(asking, place, about);
    const recent = events.filter(
      ({ type, at }) => type === "Warning" && asking.clock.now() - Date.parse(at) < RECENT_MS,
    );
    const [newest] = newestEvents(recent, 1);
    return newest ? { warning: `${newest.reason}: ${newest.message.replaceAll(/\s+/g, " ")}` } : {};
  } catch (error) {
    // A user who may not read events still gets everything else.
    if (isForbidden(error)) return { unseen: unseenEvents(place) };
    throw error;
  }
}

/**
 * The most important problem of the pods of one copy: `2 pods wait: ImagePullBackOff: image nginx:broken`. With
 * `isCertain`, only what does not pass by itself: not a pod that may still be starting.
 */
export async function podCauseOf(
  copy: CopyRef,
  { isCertain, ...options }: Omit<LookOptions, "places"> & { isCertain?: boolean },
): Promise<string | undefined> {
  const { reports } = await lookAtPods([copy], { ...options, places: undefined });
  const { problems = [], warning } = reports.get(idOf(copy)) ?? {};
  const [problem] = isCertain ? problems.filter((each) => each.isCertain) : problems;
  return (isCertain ? undefined : warning) ?? (problem && problemText(problem));
}

/** Why a workload does not run. */
export interface Cause {
  text: string;
  /** The members that it is on. */
  clusters: readonly string[];
  /** There are pods that show it; a member that cannot create them has only events of the workload. */
  hasPods: boolean;
  /** Pods that continue only when they are deleted, by member. */
  outdated: readonly OutdatedPods[];
}

interface OutdatedPods {
  cluster: string;
  namespace: string | undefined;
  pods: readonly string[];
}

export const causesOf = (reports: readonly CopyReport[], isOverdue: boolean): string[] =>
  explainCauses(reports, isOverdue).map(({ text }) => text);

/**
 * The causes on all members of one workload, most important first, each once: `3 pods wait on member1 and member2:
 * ImagePullBackOff: image nginx:broken`. `isOverdue`: the workload has had enough time to start.
 */
export function explainCauses(reports: readonly CopyReport[], isOverdue: boolean): Cause[] {
  const groups = new Map<string, { problem: PodProblem; clusters: string[]; outdated: OutdatedPods[] }>();
  // Of what does not pass by itself, and of what may be over.
  const [certain, recent] = [new Map<string, string[]>(), new Map<string, string[]>()];
  const add = (to: Map<string, string[]>, text: string, cluster: string): void => {
    to.set(text, [...(to.get(text) ?? []), cluster]);
  };
  for (const { copy, problems, warning, failedRun } of reports) {
    if (failedRun !== undefined) add(certain, failedRun, copy.cluster);
    for (const problem of problems) {
      if (!problem.isCertain && !isOverdue) continue;
      const id = groupOf(problem);
      const { cluster, namespace } = copy;
      const outdated = problem.outdated.length > 0 ? [{ cluster, namespace, pods: problem.outdated }] : [];
      const group = groups.get(id);
      if (group) {
        group.problem = { ...group.problem, count: group.problem.count + problem.count };
        group.clusters.push(cluster);
        group.outdated.push(...outdated);
      } else groups.set(id, { problem, clusters: [cluster], outdated });
    }
    if (warning !== undefined && counts(warning, isOverdue))
      add(counts(warning, false) ? certain : recent, warning, copy.cluster);
  }
  const all = [...groups.values()];
  const sorted = sortProblems(all.map(({ problem, ...where }) => ({ ...problem, where })));
  const causesIn = (found: ReadonlyMap<string, string[]>): Cause[] =>
    Array.from(found, ([text, clusters]) => ({
      text: `${nameMembers(clusters)}: ${text}`,
      clusters,
      hasPods: reports.some(
        ({ copy, problems, warning }) =>
          clusters.includes(copy.cluster) && (warning === undefined || problems.length > 0),
      ),
      outdated: [],
    }));
  const ofPods = (isCertain: boolean): Cause[] =>
    sorted
      .filter((problem) => problem.isCertain === isCertain)
      .map(({ where: { clusters, outdated }, ...problem }) => ({
        text: problemText(problem, ` on ${nameMembers(clusters)}`),
        clusters,
        hasPods: true,
        outdated,
      }));
  return [...causesIn(certain), ...ofPods(true), ...causesIn(recent), ...ofPods(false)];
}

/** Pods that a quota forbids are not created by waiting; other warnings may be about something that passes. */
const counts = (warning: string, isOverdue: boolean): boolean =>
  isOverdue || /^FailedCreate: .*exceeded quota/.test(warning);

/** The members that `causesOf` has a cause for. */
export const afflictedMembers = (reports: readonly CopyReport[], isOverdue: boolean): string[] => [
  ...new Set(
    reports
      .filter(
        ({ problems, warning, failedRun }) =>
          failedRun !== undefined ||
          (warning !== undefined && counts(warning, isOverdue)) ||
          problems.some(({ isCertain }) => isCertain || isOverdue),
      )
      .map(({ copy }) => copy.cluster),
  ),
];
