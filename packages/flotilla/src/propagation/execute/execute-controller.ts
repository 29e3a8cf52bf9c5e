/**
 * Execute applies a Work's manifests on its member, and repairs drift there.
 *
 * Reads: Work, the member's objects, Cluster.
 * Writes: the objects on the member; the conditions `Applied`, `Dispatching`, `Drifted`, `Managed`, `ReplicasLeft` and
 * `ReleaseLeft` in the Work's status.
 * Before: dispatch created the Work. After: reflect collects the objects' status.
 *
 * A failure is reported on the Work with the member's own message. When it is retried is decided by the driver of works
 * (`works-driver.ts` of delivery).
 */
import {
  clusterNameOf,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  OverridePolicy,
  PropagationPolicy,
  Work,
  WORK_FINALIZER,
} from "@flotilla/karmada";
import { writtenAtMs } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { FlotillaError, formatTime, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { obstacleOf } from "../../delivery/obstacles.ts";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import type { Delivery } from "../../delivery/delivery.ts";
import type { WorksDriver } from "../../delivery/works-driver.ts";
import { APPLIED_FAILED } from "../../flotilla-names.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { defineController, done, isStatusChange, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informer, ObjectEvent, Result, Source } from "@flotilla/controller-runtime";
import { manifestsOf, refsOf } from "../members/member-objects.ts";
import type { DeliveryFor, MemberObjects } from "../members/member-objects.ts";
import type { ExecutionMeter } from "../meter.ts";
import { createApplyManifests } from "./apply-manifests.ts";
import type { ManifestAttempt } from "./apply-manifests.ts";
import type { AutoscaledWorks } from "./autoscaled-works.ts";
import { createDepartures, RECHECK_CONTENTS_MS } from "./departures.ts";
import { createLostAnswers } from "./lost-answers.ts";
import { failureOf, isReflection, pendingAnswer, planApplied, terminatingOf } from "./plan-applied.ts";
import { createRemoveManifest } from "./remove-manifest.ts";
import { createWorkReports } from "./work-reports.ts";

export interface ExecuteDependencies {
  hub: string;
  works: Pick<Informer<Work>, "addIndex" | "by">;
  deliveryFor: DeliveryFor;
  memberObjects: MemberObjects;
  interpreter: Pick<Interpreter, "retain" | "ownerOf" | "onChange">;
  autoscaledWorks: AutoscaledWorks;
  /** Works whose interpreter rules changed. */
  ruleChanges: Source<ObjectKey>;
  /** Whether policies are on this API server; an agent cannot read them. */
  followsPolicies: boolean;
  driver: WorksDriver<Work>;
  meter?: ExecutionMeter;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

/** Works delivered concurrently: enough to keep several members busy, few enough to bound memory. */
const CONCURRENCY = 64;
/**
 * A Work that is being deleted is requeued when its member answers again; this interval covers changes without an
 * event.
 */
const RECHECK_MS = 60_000;
/** How long the member may take to delete an object before the Work reports what holds it there. */
const TERMINATION_MS = 5000;
const POLICIES = [
  PropagationPolicy,
  ClusterPropagationPolicy,
  OverridePolicy,
  ClusterOverridePolicy,
] as unknown as readonly Kind[];

export function createExecuteController(deps: ExecuteDependencies): Controller<ObjectKey> {
  const { hub, works, memberObjects, driver, meter, events, clock } = deps;
  const lostAnswers = createLostAnswers();
  const departures = createDepartures({ works, clock });
  const { oscillations } = driver;
  // A user who changes the rules of a kind, or a policy, expects another result. Their works are found by ruleChanges.
  deps.interpreter.onChange(({ group, kind, atMs }) => void oscillations.changed({ group, kind }, atMs));
  function afterPolicyChange({ object, old, deleted }: ObjectEvent): ObjectKey[] {
    if (old && !deleted && old.metadata.generation === object.metadata.generation) return [];
    // A policy that is seen for the first time may be new, or was there before this process started.
    const atMs = old || deleted ? undefined : writtenAtMs(object.metadata);
    return oscillations.changed({ namespace: object.metadata.namespace ?? "" }, atMs);
  }
  const applyManifests = createApplyManifests({ ...deps, oscillations });
  const removeManifest = createRemoveManifest({ hub, departures, events });
  const report = createWorkReports({ hub, status: driver.status, events, recorder: deps.recorder });
  const nowText = (): string => formatTime(clock.now());

  function deliveryOf(work: DeepReadonly<Work>): Delivery {
    const delivery = deps.deliveryFor(clusterOf(work));
    if (!delivery)
      throw new FlotillaError(
        "NotJoined",
        `no connection to the cluster of ${work.metadata.namespace}; check that it has joined`,
      );
    return delivery;
  }

  /** Applies the Work, and reports a member that accepts requests and does not answer. */
  async function apply(
    work: DeepReadonly<Work>,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<{ attempts: readonly ManifestAttempt[]; isSlow: boolean }> {
    const cluster = clusterOf(work);
    let isSlow = false;
    const startMs = meter?.nowMs() ?? 0;
    const attempts = await driver.visit(key, {
      run: (beforeRequest) =>
        applyManifests({ work, cluster, delivery: () => deliveryOf(work), beforeRequest, signal }),
      failuresOf: failuresIn,
      onSlow() {
        isSlow = true;
        driver.status.set(key, "execute", (newest) => planApplied(newest, pendingAnswer(cluster), nowText()));
      },
    });
    if (!signal.aborted && !isBusy(failuresIn(attempts)))
      meter?.workSynced(meter.nowMs() - startMs, failuresIn(attempts).length === 0);
    return { attempts, isSlow };
  }

  async function reconcile(work: DeepReadonly<Work>, key: ObjectKey, log: Log, signal: AbortSignal): Promise<Result> {
    const now = nowText();
    report.dispatching({ work, key, now });
    if (work.spec.suspendDispatching) return done;
    const backoffMs = driver.backoffMs(work, key);
    if (backoffMs > 0) return { requeueAfterMs: backoffMs };

    const { attempts, isSlow } = await apply(work, key, signal);
    const failures = failuresIn(attempts);
    if (signal.aborted || isBusy(failures)) return done; // It is requeued when a place is free.
    const changed = attempts.filter(({ attempt: { result } }) => result === "created" || result === "updated").length;
    if (changed > 0) log.info("manifests applied", { manifests: changed });

    const isManaged = !attempts.some(({ attempt }) => attempt.result === "unmanaged");
    report.managed({ work, key, now }, isManaged);
    // Unmanaged objects do not determine whether the rest is applied.
    if (isManaged || failures.length > 0 || isSlow) {
      const before = isSlow ? planApplied(work, pendingAnswer(clusterOf(work)), now) : work;
      report.applied({ work: before, key, now }, lostAnswers.after(key, failureOf(attempts)));
    }
    report.drift({ work, key, now }, attempts);
    // What could not be read is as it was.
    if (failures.length === 0) report.left({ work, key, now }, attempts);
    report.adopted({ work, key, now }, attempts);
    return driver.retry(work, key, failures);
  }

  async function finalize(work: DeepReadonly<Work>, key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const cluster = clusterOf(work);
    if (cluster === "") return done; // A Work outside execution namespaces was never delivered.
    const delivery = deliveryOf(work);
    const outcomes = await driver.visit(key, {
      run: (beforeRequest) =>
        Promise.allSettled(
          manifestsOf(work).map((manifest) =>
            removeManifest({ work, key, cluster, delivery, beforeRequest }, manifest, signal),
          ),
        ),
      failuresOf: rejectionsIn,
    });
    const failures = rejectionsIn(outcomes);
    const [failure] = failures;
    if (failure === undefined) {
      const removals = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
      if (removals.includes("going")) return awaitDeletion(work, key);
      return removals.includes("waits") ? { requeueAfterMs: RECHECK_CONTENTS_MS } : done;
    }
    if (obstacleOf(failure) !== "busy")
      report.applied({ work, key, now: nowText() }, { reason: APPLIED_FAILED, message: messageOf(failure) });
    for (const error of failures) if (["passing", "refused"].includes(obstacleOf(error))) throw error;
    return { requeueAfterMs: RECHECK_MS };
  }

  /** The Work stays until its objects are gone, so that the hub does not report them as deleted before. */
  function awaitDeletion(work: DeepReadonly<Work>, key: ObjectKey): Result {
    const leftMs = Date.parse(work.metadata.deletionTimestamp ?? "") + TERMINATION_MS - clock.now();
    // The deletion itself requeues the Work.
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const objects = refsOf(work).flatMap((ref) => memberObjects.get(work, ref) ?? []);
    const held = terminatingOf(objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined));
    if (held) report.applied({ work, key, now: nowText() }, held);
    return { requeueAfterMs: RECHECK_CONTENTS_MS };
  }

  return defineController({
    name: "execute",
    for: Work,
    concerns: ({ object, old }) => !isReflection(old, object),
    finalizer: WORK_FINALIZER,
    watches: [
      {
        source: memberObjects.source(
          // A user's Retain rule may read the status of the member's object.
          ({ ref, object, old }) =>
            !isStatusChange(old, object) || deps.interpreter.ownerOf("retain", ref) !== undefined,
        ),
      },
      { source: deps.ruleChanges },
      ...driver.watches,
      ...(deps.followsPolicies ? POLICIES.map((kind) => watch(kind, afterPolicyChange)) : []),
      watch(Work, ({ object, deleted }) => (deleted ? departures.after(object) : [])),
    ],
    writes: [Work],
    concurrency: CONCURRENCY,
    reconcile: (work, { key, log, signal }) => reconcile(work, key, log, signal),
    finalize: (work, { key, signal }) => finalize(work, key, signal),
    forget(key) {
      driver.forget(key);
      departures.forget(key);
      lostAnswers.forget(key);
    },
  });
}

const clusterOf = ({ metadata }: DeepReadonly<Work>): string => clusterNameOf(metadata.namespace ?? "") ?? "";
const isBusy = (failures: readonly unknown[]): boolean => failures.some((error) => obstacleOf(error) === "busy");

const failuresIn = (attempts: readonly ManifestAttempt[]): unknown[] =>
  attempts.flatMap(({ attempt }) => (attempt.result === "failed" ? [attempt.error] : []));

const rejectionsIn = (outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
