/**
 * Dispatch turns a scheduled binding into one Work per target cluster.
 *
 * Reads: ResourceBinding or ClusterResourceBinding, its template, OverridePolicy, ClusterOverridePolicy, Cluster,
 * FederatedResourceQuota.
 * Writes: Work, in each cluster's execution namespace; the condition `Dispatched` of the binding on failure, and
 * `MemberDecides` where a rule leaves fields of a release to the members, `PodsFound` where named pods are missing, and
 * `PodsRolledBack` where pods keep a release although the partition was raised, `TemplateActive` where the deletion of the
 * template waits for a finalizer, and `TemplateFound` where a binding that
 * nothing owns has no template; the record of a Job that moves.
 * Before: schedule fills `spec.clusters`. After: execute applies each Work on its member.
 */
import { Work } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { formatTime, TerminalError } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { DivideError } from "@flotilla/openkruise";
import type { QuotaRoom } from "../../quota/quota-room.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { defineController, done, idOfKey, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Lister, Source, StatusWriter } from "@flotilla/controller-runtime";
import { bindingKeyOf, isAtHome, stageName } from "../bindings/binding-scope.ts";
import type { BindingScope } from "../bindings/binding-scope.ts";
import { isRefusal } from "../bindings/refusal.ts";
import type { ReportRuleFailure } from "../rules/rule-failures.ts";
import { runsOnce } from "../jobs/finished-run.ts";
import { namedPodsOf, namedPodsProblem } from "../pods-to-delete/named-pods.ts";
import { RELIST_RETRY_MS } from "../templates/templates.ts";
import type { Templates } from "../templates/templates.ts";
import { isTouched } from "../works/work-index.ts";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { describeDispatch } from "./describe-dispatch.ts";
import { createDispatchEvents } from "./dispatch-events.ts";
import { heldByQuota } from "./held-by-quota.ts";
import { COMPANIONS_WAIT_MS, LOOK_FOR_COMPANIONS_MS, missingCompanions } from "./missing-companions.ts";
import { createSharesWait, newlyAsked, staleShares } from "./stale-shares.ts";
import type { ReleaseOf } from "./release-copies.ts";
import { planDispatch } from "./plan-dispatch.ts";
import { failureOf, FOREIGN, overQuota, planDispatched, undeletedFailure } from "./plan-dispatched.ts";
import type { DispatchFailure } from "./plan-dispatched.ts";
import {
  DIVIDED_OVER_FLEET,
  MEMBER_DECIDES,
  planNotice,
  PODS_FOUND,
  PODS_ROLLED_BACK,
  TEMPLATE_ACTIVE,
  TEMPLATE_FOUND,
} from "./plan-notice.ts";
import { replacedIn } from "./replaced-division.ts";
import type { Notice } from "./plan-notice.ts";
import {
  memberDecidesNotice,
  orphanNotice,
  replacedNotice,
  rolledBackNotice,
  terminatingNotice,
} from "./render-notices.ts";
import { createWorksWriter } from "./write-works.ts";
import type { WorksWriterDependencies } from "./write-works.ts";
import { overrideChanges } from "../override/changes.ts";
import type { Rendered } from "../override/renderer.ts";

export interface DispatchDependencies {
  scope: BindingScope;
  bindings: Lister<ResourceBinding>;
  templates: Pick<Templates, "get">;
  /** Keys of the bindings whose template changed. */
  templateChanges: Source<ObjectKey>;
  interpreter: Pick<
    Interpreter,
    | "divide"
    | "replacedDivision"
    | "replacedReplicas"
    | "replicas"
    | "components"
    | "levelOf"
    | "retainedFields"
    | "ownerOf"
  >;
  quotaRoom: QuotaRoom;
  /** Whether multi-component workloads are placed as a whole. */
  countsComponents: boolean;
  /** The release that a template is in. */
  releaseOf?: ReleaseOf | undefined;
  /** Bindings whose release gave a member something else. */
  releaseChanges?: Source<ObjectKey> | undefined;
  /** The bindings of the workloads that a template concerns, such as a budget's; `unknown` while one of these is. */
  concernedBy(template: DeepReadonly<KubernetesObject>): Promise<readonly DeepReadonly<ResourceBinding>[] | "unknown">;
  /** The companions that change new pods of a template; undefined while it is not known. */
  companionsOf(
    template: DeepReadonly<KubernetesObject>,
    all: boolean,
  ): readonly DeepReadonly<KubernetesObject>[] | undefined;
  /** The binding of a companion. */
  bindingOf(object: DeepReadonly<KubernetesObject>): DeepReadonly<ResourceBinding> | undefined;
  /** Bindings whose objects may concern a workload that moved. */
  concernedChanges?: Source<ObjectKey> | undefined;
  /** Bindings whose interpreter rules changed. */
  ruleChanges: Source<ObjectKey>;
  reportRuleFailure: ReportRuleFailure;
  /** Overrides for one cluster (the override stage). */
  render(copy: DeepReadonly<KubernetesObject>, cluster: string): Rendered;
  bindingStatus: StatusWriter<ResourceBinding>;
  /** Writes the record of a Job that moves, unless the binding has changed. */
  recordJob(key: ObjectKey, binding: DeepReadonly<ResourceBinding>, record: string, signal: AbortSignal): Promise<void>;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
  worksOf(binding: DeepReadonly<ResourceBinding>): readonly DeepReadonly<Work>[];
  /** Deletes every Work of a binding, including those not yet in an informer. */
  removeWorks(binding: DeepReadonly<ResourceBinding>, signal: AbortSignal): Promise<void>;
  works: WorksWriterDependencies["works"];
}

const CONCURRENCY = 64;
/** How often a template that a quota holds back is looked at, also if no policy updates its binding any more. */
const LOOK_FOR_ROOM_MS = 30_000;

export function createDispatchController(deps: DispatchDependencies): Controller<ObjectKey> {
  const updates = createDispatchEvents(deps.events);
  const timeoutMs = createSharesWait();
  const companions = createSharesWait(COMPANIONS_WAIT_MS);
  const writer = createWorksWriter({ ...deps, report });

  /**
   * If a template cannot be divided, or an override cannot be applied, the Work of that cluster stays unchanged, and
   * the binding reports the reason.
   */
  function report(binding: DeepReadonly<ResourceBinding>, key: ObjectKey, failure: DispatchFailure | undefined): void {
    if (setDispatched(binding, key, failure)) updates.synced(key, binding, failure);
    else updates.settled(key, binding, failure);
  }

  /** Whether the condition changes. */
  function setDispatched(
    binding: DeepReadonly<ResourceBinding>,
    key: ObjectKey,
    failure: DispatchFailure | undefined,
  ): boolean {
    const now = formatTime(deps.clock.now());
    if (planDispatched(binding, failure, now) === binding) return false;
    deps.bindingStatus.set(key, "dispatch", (newest) => planDispatched(newest, failure, now));
    return true;
  }

  /** What blocks nothing has conditions of its own. */
  function notice(
    binding: DeepReadonly<ResourceBinding>,
    key: ObjectKey,
    type: string,
    found: Notice | undefined,
  ): void {
    const now = formatTime(deps.clock.now());
    if (planNotice(binding, type, found, now) !== binding)
      deps.bindingStatus.set(key, type, (newest) => planNotice(newest, type, found, now));
  }

  return defineController({
    name: stageName("dispatch", deps.scope),
    for: deps.scope.kind,
    finalizer: deps.scope.finalizer,
    watches: [
      { source: deps.ruleChanges },
      { source: deps.templateChanges },
      ...(deps.releaseChanges ? [{ source: deps.releaseChanges }] : []),
      ...(deps.concernedChanges ? [{ source: deps.concernedChanges }] : []),
      ...overrideChanges(deps.bindings),
      // A Work that another client changed or deleted is restored.
      watch(Work, (event) => {
        const key = bindingKeyOf(deps.scope, event.cluster, event.old ?? event.object);
        return key && isTouched(event) ? [key] : [];
      }),
    ],
    writes: [Work, deps.scope.kind],
    concurrency: CONCURRENCY,

    async reconcile(binding, { key, log, signal }) {
      if (!isAtHome(binding)) {
        report(binding, key, FOREIGN);
        return done;
      }
      const template = await deps.templates.get(binding.spec.resource);
      if (template === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
      // The deletion of the template deletes the binding that it owns, and finalize cleans up. A binding that it does
      // not own any longer stays, and so do the copies, until it is deleted, or a new object of that name takes it over;
      // one that runs once replaces it.
      const isOther = template !== undefined && template.metadata.uid !== binding.spec.resource.uid;
      if (!template || (isOther && runsOnce(template))) {
        notice(binding, key, TEMPLATE_FOUND, orphanNotice(binding, isOther));
        return done;
      }
      // A new object of the same name gets its own binding first.
      if (isOther) return done;
      notice(binding, key, TEMPLATE_FOUND, undefined);
      notice(binding, key, TEMPLATE_ACTIVE, terminatingNotice(template));

      const works = deps.worksOf(binding);
      const held = await heldByQuota(binding, template, deps);
      if (held?.refusal !== undefined) {
        report(binding, key, overQuota(held.refusal));
        // The new binding enqueues the key again when the quota has room.
        return { requeueAfterMs: LOOK_FOR_ROOM_MS };
      }
      const waitMs = timeoutMs.waitMs(
        idOfKey(key),
        staleShares(binding, await newlyAsked(binding, template, works, deps.interpreter)) ??
          (held ? "requests that are not charged yet" : undefined),
        deps.clock.now(),
      );
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const companionMs = companions.waitMs(
        idOfKey(key),
        missingCompanions(binding, template, works, deps),
        deps.clock.now(),
      );
      if (companionMs > 0) return { requeueAfterMs: Math.min(companionMs, LOOK_FOR_COMPANIONS_MS) };

      const release = deps.releaseOf?.(template);
      // The event of the FleetRollout enqueues the key again; until then every member keeps what it has.
      if (release === "pending") return done;
      // Without its workloads a budget would get other parts.
      const concerned = await deps.concernedBy(template);
      if (concerned === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
      const plan = await planDispatch(binding, template, {
        works,
        concerned,
        release,
        divide: (...what) => deps.interpreter.divide(...what),
        retainedFields: (object) => deps.interpreter.retainedFields(object),
        render: deps.render,
        now: formatTime(deps.clock.now()),
      });
      const { desired, failures } = plan;
      if (plan.jobRecord !== undefined) {
        // Its event enqueues the key again. A Work that is deleted before its numbers are recorded would run again.
        await deps.recordJob(key, binding, plan.jobRecord, signal);
        return done;
      }
      if (plan.isHandingOver) {
        // The deletion of the last Work that must be removed enqueues the key again.
        const written = await writer.write(binding, key, { works: desired, failure: undefined }, { log, signal });
        return "changes" in written ? done : { requeueAfterMs: written.retryAfterMs };
      }
      if (plan.indivisible) deps.reportRuleFailure(template, "DivideFailed", plan.indivisible);
      else deps.reportRuleFailure.over(template, "DivideFailed");
      updates.overridden(key, template, failures);
      const owner = deps.interpreter.ownerOf("retain", template);
      notice(binding, key, MEMBER_DECIDES, memberDecidesNotice(plan.retained, owner));
      notice(binding, key, PODS_FOUND, namedPodsProblem(template, namedPodsOf(binding)));
      notice(binding, key, PODS_ROLLED_BACK, rolledBackNotice(plan.unreturned));
      notice(binding, key, DIVIDED_OVER_FLEET, replacedNotice(await replacedIn(binding, template, deps.interpreter)));
      const written = await writer.write(
        binding,
        key,
        { works: desired, failure: failureOf(failures, plan) },
        { log, signal },
      );
      if (!("changes" in written)) return { requeueAfterMs: written.retryAfterMs };
      const { changes } = written;
      if (changes.created + changes.updated + changes.deleted > 0) {
        log.info("works dispatched", { clusters: desired.length, ...changes });
        const described = deps.recorder && describeDispatch(binding, template, works, desired);
        if (described) deps.recorder?.record({ controller: "dispatch", ...described });
      }
      // Reported on the binding. Errors in the template itself wait for a change; others are retried with backoff.
      for (const { error } of failures)
        throw error instanceof DivideError ? new TerminalError(error.message, { cause: error }) : error;
      return done;
    },

    async finalize(binding, { key, signal }) {
      try {
        await deps.removeWorks(binding, signal);
      } catch (error) {
        updates.notCleaned(key, binding, error);
        if (isRefusal(error)) setDispatched(binding, key, undeletedFailure(error));
        throw error;
      }
      return done;
    },

    forget(key) {
      writer.forget(key);
      updates.forget(key);
      timeoutMs.forget(idOfKey(key));
      companions.forget(idOfKey(key));
    },
  });
}
