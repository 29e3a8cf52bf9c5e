/** Applies a work on its member, keeps its AppliedManifestWork there, and removes what the work no longer contains. */
import type { ManifestWork } from "@flotilla/ocm";
import { messageOf, type DeepReadonly } from "@flotilla/base";
import { obstacleOf } from "../../delivery/obstacles.ts";
import type { Oscillations } from "../../delivery/oscillations.ts";
import type { ObjectKey } from "@flotilla/client";
import { findCondition } from "@flotilla/apimachinery";
import { done } from "@flotilla/controller-runtime";
import type { Result } from "@flotilla/controller-runtime";
import {
  appliedName,
  claimApplied,
  createApplied,
  findApplied,
  recordResources,
  referenceTo,
  removeApplied,
  type Applied,
  type AppliedResource,
  type WorkOrigin,
} from "./applied-work.ts";
import { appliedResource, applyWork, type Attempt } from "./apply-work.ts";
import type { Waits } from "./deletion-poll.ts";
import { manifestsOf, refOf, type Manifest } from "./manifests.ts";
import type { WorkMember, WorkObjects } from "./member-objects.ts";
import { isOwned, untracked } from "./ownership.ts";
import type { WorkReports } from "./work-reports.ts";
import type { WorkAsks } from "./work-asks.ts";
import type { WorkTargets } from "./work-target.ts";

/** A work and its member, for one reconcile. */
export interface WorkVisit {
  work: DeepReadonly<ManifestWork>;
  key: ObjectKey;
  member: WorkMember;
  beforeRequest(): void;
  signal: AbortSignal;
}

/** `failures` are of manifests that were tried; `next` is when the work is due again without them. */
interface Delivered {
  failures: readonly unknown[];
  next: Result;
}

interface Removed {
  next: Result;
  /** Why the member refuses to delete an object. */
  refusal?: string;
}

export interface DeliverWork {
  deliver(visit: WorkVisit): Promise<Delivered | "busy">;
  /** Removes all objects of the work from the member; `next` is `done` if none are left. */
  remove(visit: WorkVisit): Promise<Removed>;
}

export interface DeliverWorkOptions {
  origin: WorkOrigin;
  objects: WorkObjects;
  targets: WorkTargets;
  reports: WorkReports;
  waits: Waits;
  asks: WorkAsks;
  oscillations: Pick<Oscillations, "guard">;
}

export function createDeliverWork(options: DeliverWorkOptions): DeliverWork {
  const { origin, objects, targets, reports, waits, asks, oscillations } = options;
  const find = ({ work, member, beforeRequest, signal }: WorkVisit): Promise<Applied | undefined> =>
    findApplied(work, appliedName(origin, work), member, objects, beforeRequest, signal);

  /** The work's AppliedManifestWork, created on demand; an error is reported like one of a manifest. */
  async function ensureApplied(visit: WorkVisit, isNeeded: boolean): Promise<Applied | undefined | { error: unknown }> {
    const { work, member, beforeRequest, signal } = visit;
    try {
      const known = await find(visit);
      if (known || !isNeeded) return known && (await claimApplied(known, origin, member, beforeRequest, signal));
      beforeRequest();
      return await createApplied(work, appliedName(origin, work), origin, member, signal);
    } catch (error) {
      return { error };
    }
  }

  /** Removes all objects of the work from the member; true if none are left. */
  async function clear(visit: WorkVisit, applied: Applied): Promise<boolean> {
    if ((await release(visit, applied, applied.status?.appliedResources ?? [])).length > 0) return false;
    visit.beforeRequest();
    await removeApplied(applied, visit.member, visit.signal);
    return true;
  }

  const uidOf = (work: WorkVisit["work"], { manifest, outcome }: Attempt): string =>
    ("object" in outcome ? outcome.object : objects.get(work, refOf(manifest.object)))?.metadata.uid ?? "";

  /** Updates the AppliedManifestWork, and removes objects that the work no longer contains. */
  async function syncApplied(
    visit: WorkVisit,
    applied: Applied,
    attempts: readonly Attempt[],
    manifests: readonly Manifest[],
  ): Promise<Result> {
    const { work, member, beforeRequest, signal } = visit;
    const before = applied.status?.appliedResources ?? [];
    const tracked = attempts.flatMap((attempt) => appliedResource(attempt, uidOf(work, attempt)) ?? []);
    const dropped = untracked(before, tracked);
    // Objects that cannot be read right now still belong to the work, and stay listed.
    const unseen = tracked.filter(({ uid }) => uid === "");
    const present = [
      ...tracked.filter(({ uid }) => uid !== ""),
      ...before.filter((resource) => untracked([resource], unseen).length === 0),
    ];
    // Nothing is removed before its replacement is applied and the work reports so: a restored hub knows less than its
    // members.
    const isSettled =
      attempts.length === manifests.length &&
      attempts.every(({ outcome }) => outcome.result !== "failed") &&
      findCondition(work.status?.conditions, "Applied")?.observedGeneration === work.metadata.generation;
    const remaining = isSettled && dropped.length > 0 ? await release(visit, applied, dropped) : dropped;
    await recordResources(applied, [...present, ...remaining], member, beforeRequest, signal);
    return isSettled && remaining.length > 0 ? { requeueAfterMs: waits.nextMs(work) } : done;
  }

  async function deliver(visit: WorkVisit): Promise<Delivered | "busy"> {
    const { work, key, signal } = visit;
    const target = targets.stateOf(work);
    if (target === "unknown") return { failures: [], next: done };
    const withheld = target === "targeted" ? undefined : target.withheld;
    const manifests = withheld === undefined ? manifestsOf(work) : [];
    const applied = await ensureApplied(visit, manifests.length > 0);
    if (!applied) {
      reports.status(work, key, [], withheld);
      return { failures: [], next: done };
    }
    if ("error" in applied && manifests.length === 0) throw applied.error;
    if (!("error" in applied) && applied.metadata.deletionTimestamp) {
      // A user on the member deleted it. Its objects are deleted, and the work is applied again.
      const isCleared = await clear(visit, applied);
      return { failures: [], next: { requeueAfterMs: isCleared ? 0 : waits.nextMs(work) } };
    }
    const attempts =
      "error" in applied
        ? allFailed(manifests, applied.error)
        : await applyWork(work, manifests, { ...visit, applied, ask: asks.of(work), oscillations });
    const failures = attempts.flatMap(({ outcome }) => (outcome.result === "failed" ? [outcome.error] : []));
    if (signal.aborted || failures.some((error) => obstacleOf(error) === "busy")) return "busy";
    reports.status(work, key, await reports.read(work, manifests, attempts), withheld);
    const unreachable = failures.find((error) => obstacleOf(error) === "unreachable");
    if (unreachable !== undefined) throw unreachable;
    const next = "error" in applied ? done : await syncApplied(visit, applied, attempts, manifests);
    return { failures, next };
  }

  return {
    deliver,
    async remove(visit) {
      const applied = await find(visit);
      try {
        if (!applied || (await clear(visit, applied))) return { next: done };
        return { next: { requeueAfterMs: waits.nextMs(visit.work) } };
      } catch (error) {
        // The work reports it, and is retried with backoff.
        if (obstacleOf(error) !== "refused") throw error;
        return { next: { requeueAfterMs: waits.nextMs(visit.work) }, refusal: messageOf(error) };
      }
    },
  };
}

/** Releases objects that the work no longer contains; returns those that still exist. */
async function release(
  { work, member, beforeRequest, signal }: WorkVisit,
  applied: Applied,
  resources: readonly AppliedResource[],
): Promise<AppliedResource[]> {
  const reference = referenceTo(applied);
  const outcomes = await Promise.allSettled(
    resources.map(({ group = "", version, resource, namespace, name, uid = "" }) => {
      const isDeleted = isOwned({ group, resource, namespace: namespace ?? "", name }, work.spec.deleteOption);
      return member.delivery.disown(
        { group, version, resource, namespace: namespace || undefined, name, uid },
        { reference, mode: isDeleted ? "delete" : "release", beforeRequest },
        signal,
      );
    }),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason as Error;
  return resources.filter(
    (_resource, index) => outcomes[index]?.status === "fulfilled" && outcomes[index].value === "going",
  );
}

const allFailed = (manifests: readonly Manifest[], error: unknown): Attempt[] =>
  manifests.map((manifest) => ({ manifest, outcome: { result: "failed", error } }));
