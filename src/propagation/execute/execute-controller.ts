/**
 * Execute applies a Work's manifests on its member, and repairs drift there.
 *
 * Reads: Work, the member's objects, Cluster.
 * Writes: the objects on the member; the conditions `Applied`, `Dispatching`, `Drifted` and `Managed` in the Work's
 * status.
 * Before: dispatch created the Work. After: reflect collects the objects' status.
 *
 * A failure is reported on the Work with the member's own message. The retry depends on the obstacle (`obstacles.ts` of
 * delivery): an unreachable member is waited for without affecting others (`member-lanes.ts` there), a rejection is
 * retried slowly, and at once when something relevant changes (`refusals.ts` there), anything else uses the queue's
 * backoff.
 */
import { Cluster, clusterNameOf, Work } from "../../api/index.ts";
import { equalJson, FlotillaError, formatTime, messageOf } from "../../base/index.ts";
import type { Clock, DeepReadonly, Random } from "../../base/index.ts";
import { createRefusals, marks, obstacleOf } from "../../delivery/index.ts";
import type { Delivery, MemberLanes, ObjectRef, Obstacle, Passage } from "../../delivery/index.ts";
import type { Interpreter } from "../../interpreter/index.ts";
import { findCondition, isConditionTrue } from "../../machinery/index.ts";
import { defineController, done, watch } from "../../runtime/index.ts";
import type { Controller, EventRecorder, Informer, ObjectEvent, Source, StatusWriter } from "../../runtime/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { manifestsOf, refOf, refsOf } from "../member-objects.ts";
import type { DeliveryFor, MemberObjects } from "../member-objects.ts";
import type { ExecutionMeter } from "../meter.ts";
import { PROGRESS_DEBOUNCE_MS } from "../status-timing.ts";
import { WORK_FINALIZER } from "../well-known.ts";
import { isConvertedByCode, isUnmanaged, ownerOf, planApplyPolicy } from "./apply-policy.ts";
import type { AutoscaledWorks } from "./autoscaled-works.ts";
import { createDepartures, RECHECK_CONTENTS_MS } from "./departures.ts";
import { createLostAnswers } from "./lost-answers.ts";
import { failureOf, pendingAnswer, planApplied, planDispatching, planManaged } from "./plan-applied.ts";
import type { Attempt, Failure } from "./plan-applied.ts";
import { planDrifted, renderDrift } from "./plan-drift.ts";
import type { ObjectDrift } from "./plan-drift.ts";
import { createRemoveManifest } from "./remove-manifest.ts";
import { watchPassage } from "./slow-answers.ts";

export interface ExecuteDependencies {
  hub: string;
  works: Pick<Informer<Work>, "addIndex" | "by">;
  deliveryFor: DeliveryFor;
  memberObjects: MemberObjects;
  interpreter: Pick<Interpreter, "retain">;
  autoscaledWorks: AutoscaledWorks;
  /** Works whose interpreter rules changed. */
  ruleChanges: Source<ObjectKey>;
  workStatus: StatusWriter<Work>;
  lanes: MemberLanes;
  meter?: ExecutionMeter;
  events: EventRecorder;
  clock: Clock;
  random: Random;
}

/** Works delivered concurrently: enough to keep several members busy, few enough to bound memory. */
const CONCURRENCY = 64;
/**
 * A Work that is being deleted is requeued when its member answers again; this interval covers changes without an
 * event.
 */
const RECHECK_MS = 60_000;

type ManifestAttempt = { kind: string; name: string; repairs: boolean; servesAsItIs: boolean; attempt: Attempt };

export function createExecuteController({
  hub,
  works,
  deliveryFor,
  memberObjects,
  interpreter,
  autoscaledWorks,
  ruleChanges,
  workStatus,
  lanes,
  meter,
  events,
  clock,
  random,
}: ExecuteDependencies): Controller<ObjectKey> {
  const refusals = createRefusals(random);
  const lostAnswers = createLostAnswers();
  const departures = createDepartures({ works, clock });
  const removeManifest = createRemoveManifest({ hub, departures, events });

  const clusterOf = ({ metadata }: DeepReadonly<Work>): string => clusterNameOf(metadata.namespace ?? "") ?? "";
  const deliveryOf = (work: DeepReadonly<Work>): Delivery => {
    const delivery = deliveryFor(clusterOf(work));
    if (!delivery)
      throw new FlotillaError(
        "NotJoined",
        `no connection to the cluster of ${work.metadata.namespace}; check that it has joined`,
      );
    return delivery;
  };

  /** The Work, and the member's object: a rejection of one combination does not apply to another. */
  function questionOf(work: DeepReadonly<Work>): string {
    const stamps = refsOf(work).map((ref) => {
      const { uid, generation, resourceVersion } = memberObjects.get(work, ref)?.metadata ?? {};
      return `${uid} ${generation ?? resourceVersion}`;
    });
    return `${work.metadata.generation} ${stamps.join()}`;
  }

  async function deliver(work: DeepReadonly<Work>, passage: Passage, signal: AbortSignal): Promise<ManifestAttempt[]> {
    const attempts: ManifestAttempt[] = [];
    const beforeRequest = (): void => passage.enter();
    for (const manifest of manifestsOf(work)) {
      const policy = planApplyPolicy(work, manifest, autoscaledWorks.has(work.metadata.namespace ?? "", manifest));
      const note = (attempt: Attempt): void =>
        void attempts.push({
          kind: manifest.kind,
          name: manifest.metadata.name,
          repairs: policy.drift === "repair",
          servesAsItIs: attempt.result === "conflict" && isConvertedByCode(manifest),
          attempt,
        });
      try {
        if (isUnmanaged(manifest, clusterOf(work))) {
          await release(work, refOf(manifest), passage, signal);
          note({ result: "unmanaged" });
        } else
          note(
            await deliveryOf(work).apply(
              manifest,
              {
                ...policy,
                isFirst: work.status === undefined,
                beforeRequest,
                retain: (desired, observed) => interpreter.retain(desired, observed),
              },
              signal,
            ),
          );
      } catch (error) {
        note({ result: "failed", error });
        // The rest of the Work would fail in the same manner.
        if (["busy", "unreachable"].includes(obstacleOf(error))) break;
      }
    }
    return attempts;
  }

  /** Releases an object that carries our marks, as far as known; an object without them is already not ours. */
  async function release(
    work: DeepReadonly<Work>,
    ref: ObjectRef,
    passage: Passage,
    signal: AbortSignal,
  ): Promise<void> {
    if (memberObjects.isFresh(work, ref) && !memberObjects.isDelivered(work, ref)) return;
    await deliveryOf(work).remove(
      ref,
      {
        mode: "release",
        ownership: marks({ owner: ownerOf(work) }),
        mayReturn: true,
        beforeRequest: () => passage.enter(),
      },
      signal,
    );
  }

  function reportDispatching(work: DeepReadonly<Work>, key: ObjectKey, now: string): void {
    const next = planDispatching(work, now);
    if (next === work) return;
    workStatus.set(key, "dispatching", (newest) => planDispatching(newest, now));
    events.record(hub, work, {
      type: "Normal",
      reason: "WorkDispatching",
      message: findCondition(next.status?.conditions, "Dispatching")?.message ?? "",
    });
  }

  function reportApplied(work: DeepReadonly<Work>, key: ObjectKey, failure: Failure | undefined, now: string): void {
    if (planApplied(work, failure, now) === work) return;
    // Reflect will report the applied object shortly; a success waits for that, a failure does not.
    workStatus.set(
      key,
      "execute",
      (newest) => planApplied(newest, failure, now),
      failure === undefined ? { debounceMs: PROGRESS_DEBOUNCE_MS } : {},
    );
    const { namespace, name } = work.metadata;
    const before = findCondition(work.status?.conditions, "Applied");
    if (failure)
      events.record(hub, work, {
        type: "Warning",
        reason: "SyncFailed",
        message: `Failed to sync work(${namespace}/${name}) to cluster(${clusterOf(work)}), err: ${failure.message}`,
      });
    // A success is reported as an event only after a failure: otherwise every Work would cost one more write.
    else if (before?.status === "False")
      events.record(hub, work, {
        type: "Normal",
        reason: "SyncSucceed",
        message: `Sync work(${namespace}/${name}) to cluster(${clusterOf(work)}) successful.`,
      });
  }

  function reportDrift(
    work: DeepReadonly<Work>,
    key: ObjectKey,
    attempts: readonly ManifestAttempt[],
    now: string,
  ): void {
    const drift = attempts.flatMap(({ kind, name, repairs, attempt }): ObjectDrift[] =>
      "drift" in attempt && attempt.drift ? [{ kind, name, isRepaired: repairs, fields: attempt.drift }] : [],
    );
    if (planDrifted(work, drift, now) === work) return;
    // The end of drift is queued behind the finding, which may not be written yet, and does not replace it.
    workStatus.set(key, drift.length > 0 ? "drift" : "drift-over", (newest) => planDrifted(newest, drift, now));
    for (const each of drift)
      events.record(hub, work, {
        type: "Warning",
        reason: each.isRepaired ? "DriftRepaired" : "DriftFound",
        message: renderDrift(each),
      });
  }

  /**
   * Works to retry after a change of a Cluster: all when it answers again, and those that wait for a kind when its
   * served kinds change.
   */
  function afterClusterChange({ object, old }: ObjectEvent<Cluster>): ObjectKey[] {
    if (!old) return [];
    const { name } = object.metadata;
    if (isConditionTrue(object.status?.conditions, "Ready") && !isConditionTrue(old.status?.conditions, "Ready"))
      lanes.restore(name);
    return equalJson(object.status?.apiEnablements, old.status?.apiEnablements)
      ? []
      : refusals.takeWaitingForKinds(name);
  }

  return defineController({
    name: "execute",
    for: Work,
    finalizer: WORK_FINALIZER,
    watches: [
      { source: memberObjects.source() },
      { source: ruleChanges },
      { source: lanes.source },
      watch(Cluster, afterClusterChange),
      watch(Work, ({ object, deleted }) => (deleted ? departures.after(object) : [])),
    ],
    writes: [Work],
    concurrency: CONCURRENCY,

    async reconcile(work, { key, log, signal }) {
      const now = formatTime(clock.now());
      reportDispatching(work, key, now);
      if (work.spec.suspendDispatching) return done;
      const restMs = refusals.restMs(key, () => questionOf(work), clock.now());
      if (restMs > 0) return { requeueAfterMs: restMs };

      let isPending = false;
      const passage = watchPassage(lanes.passage(clusterOf(work), key), clock, () => {
        isPending = true;
        workStatus.set(key, "execute", (newest) =>
          planApplied(newest, pendingAnswer(clusterOf(work)), formatTime(clock.now())),
        );
      });
      const startMs = meter?.nowMs() ?? 0;
      const attempts = await deliver(work, passage, signal);
      const failures = attempts.flatMap(({ attempt }) => (attempt.result === "failed" ? [attempt.error] : []));
      const obstacles = new Set<Obstacle>(failures.map(obstacleOf));
      passage.leave(obstacles.has("unreachable") ? messageOf(failures.at(-1)) : undefined);
      if (signal.aborted || obstacles.has("busy")) return done; // It is requeued when a place is free.
      meter?.workSynced(meter.nowMs() - startMs, failures.length === 0);

      const changed = attempts.filter(({ attempt: { result } }) => result === "created" || result === "updated").length;
      if (changed > 0) log.info("manifests applied", { manifests: changed });
      const isManaged = !attempts.some(({ attempt }) => attempt.result === "unmanaged");
      if (planManaged(work, isManaged, now) !== work)
        workStatus.set(key, "managed", (newest) => planManaged(newest, isManaged, now));
      // Unmanaged objects do not determine whether the rest is applied.
      if (isManaged || failures.length > 0 || isPending)
        reportApplied(
          isPending ? planApplied(work, pendingAnswer(clusterOf(work)), now) : work,
          key,
          lostAnswers.after(key, failureOf(attempts)),
          now,
        );
      reportDrift(work, key, attempts, now);

      // An unreachable member is waited for; other failures were reported on the Work.
      for (const error of failures) if (obstacleOf(error) === "passing") throw error;
      const waitsForKind = obstacles.has("missing-kind");
      if (waitsForKind || obstacles.has("refused"))
        return {
          requeueAfterMs: refusals.note(
            key,
            { cluster: clusterOf(work), question: questionOf(work), waitsForKind },
            clock.now(),
          ),
        };
      refusals.forget(key);
      return done;
    },

    async finalize(work, { key, signal }) {
      const cluster = clusterOf(work);
      if (cluster === "") return done; // A Work outside execution namespaces was never delivered.
      const delivery = deliveryOf(work);
      const passage = lanes.passage(cluster, key);
      const removal = { work, key, cluster, delivery, beforeRequest: () => passage.enter() };
      const outcomes = await Promise.allSettled(
        manifestsOf(work).map((manifest) => removeManifest(removal, manifest, signal)),
      );
      const failures = outcomes.flatMap((outcome) =>
        outcome.status === "rejected" ? [outcome.reason as unknown] : [],
      );
      const unreachable = failures.find((error) => obstacleOf(error) === "unreachable");
      passage.leave(unreachable === undefined ? undefined : messageOf(unreachable));
      const [failure] = failures;
      if (failure === undefined)
        return outcomes.some((outcome) => outcome.status === "fulfilled" && outcome.value === "waits")
          ? { requeueAfterMs: RECHECK_CONTENTS_MS }
          : done;
      if (obstacleOf(failure) !== "busy")
        reportApplied(work, key, { reason: "AppliedFailed", message: messageOf(failure) }, formatTime(clock.now()));
      for (const error of failures) if (["passing", "refused"].includes(obstacleOf(error))) throw error;
      return { requeueAfterMs: RECHECK_MS };
    },

    forget(key) {
      lanes.forget(clusterNameOf(key.namespace ?? "") ?? "", key);
      refusals.forget(key);
      departures.forget(key);
      lostAnswers.forget(key);
    },
  });
}
