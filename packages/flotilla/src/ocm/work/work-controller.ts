/**
 * Applies the manifests of a ManifestWork on its member, repairs drift, and reports their status.
 *
 * Reads: ManifestWork, ManagedCluster; the objects on the member.
 * Writes: those objects, and an AppliedManifestWork on the member that owns them; the ManifestWork's status.
 * Before: a user or a ManifestWorkReplicaSet created the ManifestWork in the namespace of its cluster.
 *
 * The same controller runs on a hub for the members it reaches, and in an agent for its own cluster. It is driven by
 * watches: a change on the member is repaired and reported when it happens, and a converged work costs nothing. When a
 * failed work is retried is decided by the driver of works (`works-driver.ts` of delivery).
 */
import { ManagedCluster, MANIFEST_WORK_FINALIZER, ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { obstacleOf } from "../../delivery/obstacles.ts";
import type { WorksDriver } from "../../delivery/works-driver.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import { defineController, done, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers, ObjectEvent, Result } from "@flotilla/controller-runtime";
import type { WorkOrigin } from "./applied-work.ts";
import { createDeliverWork, type WorkVisit } from "./deliver-work.ts";
import { createWaits } from "./deletion-poll.ts";
import { NOT_ALLOWED_MS, NotAllowedError } from "./executor.ts";
import { manifestsOf } from "./manifests.ts";
import type { MemberFor, WorkMember, WorkObjects } from "./member-objects.ts";
import type { WorkAsks } from "./work-asks.ts";
import { WorkMistakeError } from "./work-mistake.ts";
import { createWorkReports } from "./work-reports.ts";
import { createWorkTargets } from "./work-target.ts";

type Work = DeepReadonly<ManifestWork>;

export interface WorkControllerDependencies {
  /** The logical cluster of the works. */
  hub: string;
  /** The hub's informers. */
  informers: Informers;
  /** Works in namespaces without a member belong to an agent. */
  memberFor: MemberFor;
  origin: WorkOrigin;
  objects: WorkObjects;
  interpreter: Pick<Interpreter, "health">;
  driver: WorksDriver<ManifestWork>;
  asks: WorkAsks;
  /** Whether replica sets are on this API server; an agent cannot read them. */
  followsReplicaSets: boolean;
  clock: Clock;
}

const CONCURRENCY = 64;
const RECHECK_MS = 60_000;

/** The member's requests of one reconcile. */
type MemberWork<T> = (visit: WorkVisit) => Promise<T>;

export function createWorkController(deps: WorkControllerDependencies): Controller<ObjectKey> {
  const { hub, informers, memberFor, origin, objects, interpreter, driver, clock } = deps;
  const waits = createWaits(hub);
  const targets = createWorkTargets(hub, informers);
  const reports = createWorkReports({ origin, objects, interpreter, status: driver.status, clock });
  const { deliver, remove } = createDeliverWork({
    origin,
    objects,
    targets,
    reports,
    waits,
    asks: deps.asks,
    oscillations: driver.oscillations,
  });

  /** Sends requests in the member's lane; a work whose member is busy or unreachable is requeued. */
  async function inLane<T>(
    context: Omit<WorkVisit, "beforeRequest">,
    run: MemberWork<T>,
  ): Promise<T | "busy" | "unreachable"> {
    try {
      return await driver.visit(context.key, { run: (beforeRequest) => run({ ...context, beforeRequest }) });
    } catch (error) {
      const obstacle = obstacleOf(error);
      if (obstacle === "busy" || obstacle === "unreachable") return obstacle;
      throw error;
    }
  }

  /** Reports a work that is not delivered now. */
  const reportOnly = async (work: Work, key: ObjectKey): Promise<void> =>
    reports.status(work, key, await reports.read(work, manifestsOf(work), undefined));

  async function reconcile(work: Work, key: ObjectKey, member: WorkMember, signal: AbortSignal): Promise<Result> {
    if (isConditionTrue(work.status?.conditions, "Complete")) {
      // A completed work is not touched again, even if its spec changes.
      const applied = findCondition(work.status?.conditions, "Applied");
      if (applied?.observedGeneration === work.metadata.generation) await reportOnly(work, key);
      return done;
    }
    const backoffMs = driver.backoffMs(work, key);
    if (backoffMs > 0) {
      await reportOnly(work, key);
      return { requeueAfterMs: backoffMs };
    }
    const delivered = await inLane({ work, key, member, signal }, deliver);
    if (delivered === "busy") return done;
    if (delivered === "unreachable") return { requeueAfterMs: RECHECK_MS };
    const { failures, next } = delivered;
    if (failures.length > 0) return retry(work, key, failures);
    driver.retry(work, key, failures);
    if (next === done) waits.forget(key);
    return next;
  }

  /** An executor's missing permissions are checked again after a fixed time. */
  function retry(work: Work, key: ObjectKey, failures: readonly unknown[]): Result {
    const others = failures.filter((error) => !(error instanceof NotAllowedError));
    const isTransient = others.some((error) => obstacleOf(error) === "passing" && !isMistake(error));
    if (others.length < failures.length && !isTransient) return { requeueAfterMs: NOT_ALLOWED_MS };
    return driver.retry(work, key, others);
  }

  async function finalize(work: Work, key: ObjectKey, member: WorkMember, signal: AbortSignal): Promise<Result> {
    if (member.leaveMode === "abandon") return done;
    const removed = await inLane({ work, key, member, signal }, remove);
    // Objects left on a leaving member are harmless; an unreachable member must not block its works' deletion.
    if (removed === "unreachable" && member.leaveMode === "release") return done;
    if (removed === "unreachable" || removed === "busy") {
      reports.deleting(work, key);
      return { requeueAfterMs: RECHECK_MS };
    }
    const { next, refusal } = removed;
    if (next.requeueAfterMs !== undefined) reports.deleting(work, key, refusal);
    return next;
  }

  /** A change of the set may allow writes to stopped objects, also where it does not change the work. */
  const afterReplicaSetChange = ({ object, old }: ObjectEvent): ObjectKey[] =>
    old && old.metadata.generation !== object.metadata.generation ? driver.oscillations.stopped() : [];

  const controller = defineController({
    name: "ocm-work",
    for: ManifestWork,
    finalizer: MANIFEST_WORK_FINALIZER,
    watches: [
      { source: objects.source() },
      ...driver.watches,
      watch(ManagedCluster, targets.afterLabelChange),
      ...(deps.followsReplicaSets ? [watch(ManifestWorkReplicaSet, afterReplicaSetChange)] : []),
    ],
    writes: [ManifestWork],
    concurrency: CONCURRENCY,

    async reconcile(work, { key, signal }) {
      const member = memberFor(key.namespace ?? "");
      return member ? reconcile(work, key, member, signal) : done;
    },
    async finalize(work, { key, signal }) {
      const member = memberFor(key.namespace ?? "");
      return member ? finalize(work, key, member, signal) : { requeueAfterMs: RECHECK_MS };
    },
    forget(key) {
      waits.forget(key);
      driver.forget(key);
    },
  });
  return driver.onlyServed(controller);
}

/** A work that the member can never apply is retried when it changes. */
export const isMistake = (error: unknown): boolean => error instanceof WorkMistakeError;
