/**
 * Releases that a person must know about. The hub is asked for those that have not succeeded only, and little of each is
 * kept: a FleetRollout contains its template, and every member of it.
 */
import { HUB, parseApiVersion, isForbidden } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { createKindResolver, eachObject, find, UnknownKindError } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { FleetRollout, hasEndedBadly, releaseDigest, reportRelease } from "@flotilla/flotilla";
import type { ReleaseReport } from "@flotilla/flotilla";

type Rollout = DeepReadonly<FleetRollout>;

interface Target {
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
}

export interface ReportedRelease extends ReleaseReport {
  release: string;
  target: Target;
  /** The FleetDisruptionBudget that it waits for. */
  budget?: string | undefined;
}

/** A release that has not ended, or ended badly. */
export interface ReleaseStatus {
  namespace: string;
  /** `cloneset/web` */
  target: string;
  name: string;
  phase: string;
  wave?: string | undefined;
  updated: number;
  total: number;
  waitingFor?: string | undefined;
}

export interface UnsettledReleases {
  reports: ReportedRelease[];
  active: ReleaseStatus[];
  unseen: string[];
}

interface Kept {
  number: number;
  revision: string;
  endedBadly: boolean;
  target: Target;
  release: string;
  report: ReleaseReport | undefined;
  active: ReleaseStatus;
}

/** Two requests each: whether a failed release is still the last one of its template, and what the template is now. */
const MAX_ENDED = 20;
const BUDGET = /\bthe budget (\S+)/;

export function createReleaseCollector(nowMs: number): {
  see(rollout: Rollout): void;
  take(client: Client, signal: AbortSignal): Promise<UnsettledReleases>;
} {
  /** The newest of each template. */
  const newest = new Map<string, Kept>();
  return {
    see(rollout) {
      const { apiVersion, kind, name } = rollout.spec.target;
      const { namespace = "" } = rollout.metadata;
      const id = `${namespace}/${parseApiVersion(apiVersion).group}/${kind}/${name}`;
      if ((newest.get(id)?.number ?? 0) < rollout.spec.number) newest.set(id, keep(rollout, nowMs));
    },
    async take(client, signal) {
      const all = [...newest.values()];
      const ended = all.filter(({ endedBadly }) => endedBadly);
      const checked = await Promise.all(
        ended.slice(0, MAX_ENDED).map(async (kept) => ((await isCurrent(kept, client, signal)) ? [kept] : [])),
      );
      const current = new Set([...all.filter(({ endedBadly }) => !endedBadly), ...checked.flat()]);
      const shown = all.filter((kept) => current.has(kept));
      const unseen = ended.length - MAX_ENDED;
      return {
        reports: shown.flatMap(({ report, release, target, active }) =>
          report ? [{ ...report, release, target, budget: BUDGET.exec(active.waitingFor ?? "")?.[1] }] : [],
        ),
        active: shown.map(({ active }) => active),
        unseen:
          unseen > 0
            ? [`whether ${unseen} more releases that failed are still the last ones: only ${MAX_ENDED} are checked`]
            : [],
      };
    },
  };
}

function keep(rollout: Rollout, nowMs: number): Kept {
  const { metadata, spec, status } = rollout;
  const { apiVersion, kind, name } = spec.target;
  return {
    number: spec.number,
    revision: spec.revision,
    endedBadly: hasEndedBadly(rollout),
    target: { apiVersion, kind, namespace: metadata.namespace, name },
    release: metadata.name,
    report: reportRelease(rollout, nowMs),
    active: {
      namespace: metadata.namespace ?? "",
      target: `${kind.toLowerCase()}/${name}`,
      name: metadata.name,
      phase: status?.phase ?? "New",
      wave: status?.wave,
      updated: status?.updated ?? 0,
      total: status?.total ?? 0,
      waitingFor: withoutCause(status?.waitingFor),
    },
  };
}

/** The cause of a failure is reported with the release. */
export const withoutCause = (waitingFor: string | undefined): string | undefined =>
  waitingFor?.replace(/^a decision after: .*$/s, "a decision");

/** Whether the template is still what failed: it was neither changed nor released again. */
async function isCurrent({ target, number, revision }: Kept, client: Client, signal: AbortSignal): Promise<boolean> {
  const { namespace = "", name, kind } = target;
  const own = eachObject(client, FleetRollout, {
    cluster: HUB,
    namespace,
    fieldSelector: `spec.target.name=${name}`,
    signal,
  });
  const { group } = parseApiVersion(target.apiVersion);
  for await (const { spec } of own)
    if (spec.number > number && spec.target.kind === kind && parseApiVersion(spec.target.apiVersion).group === group)
      return false;
  try {
    const resolved = await createKindResolver({ client, cluster: HUB }).resolve(target);
    const template = await find(client, resolved, { cluster: HUB, namespace, name }, { signal });
    return template !== undefined && releaseDigest(template) === revision;
  } catch (error) {
    if (error instanceof UnknownKindError) return false;
    // A user who may not read the template still sees the release.
    if (isForbidden(error)) return true;
    throw error;
  }
}
