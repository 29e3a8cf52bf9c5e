/**
 * Match finds the policy for a template and maintains the resulting binding.
 *
 * Reads: templates (any kind that a policy names), PropagationPolicy, ClusterPropagationPolicy, and their
 * prerequisites: OverridePolicy, ClusterOverridePolicy, PriorityClass.
 * Writes: ResourceBinding or ClusterResourceBinding, except fields that later stages own; the claim (label and
 * annotations) on the template; events on the template.
 * Before: a user applied the template and the policy. After: schedule fills `spec.clusters`.
 */
import {
  bindingName,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  FederatedResourceQuota,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
} from "@flotilla/karmada";
import { PriorityClass } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { equalJson, messageOf } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { QUOTA_EXCEEDED } from "../../quota/quota-charge.ts";
import { quotaRejection } from "../../quota/quota-enforcement.ts";
import { hasMoreRoom } from "../../quota/quota-room.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { defineKeyedController, done, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Lister, ReconcileContext, Result, Source } from "@flotilla/controller-runtime";
import { clusterScope, namespacedScope, scopeIn } from "../bindings/binding-scope.ts";
import type { PipelineMeter } from "../meter.ts";
import { isRefusal } from "../bindings/refusal.ts";
import type { ReportRuleFailure } from "../rules/rule-failures.ts";
import { isTemplate, keyOfTemplate, RELIST_RETRY_MS } from "../templates/templates.ts";
import type { Template, TemplateKey, Templates } from "../templates/templates.ts";
import { affectedByChange, affectedTemplates } from "./affected-templates.ts";
import { askedVersion } from "./align-selectors.ts";
import { createClaimWriter } from "./claim.ts";
import { bindingConflict, mergeBinding, planBinding } from "./plan-binding.ts";
import { planApplication } from "./plan-application.ts";
import type { ApplicationPlan } from "./plan-application.ts";
import { planMatch } from "./plan-match.ts";
import type { MatchPlan, Policy } from "./plan-match.ts";
import type { PolicyIndex } from "./policy-index.ts";
import type { PolicyEvents } from "./policy-events.ts";
import type { PolicyTally } from "./policy-tally.ts";
import { planPrerequisites } from "./prerequisites.ts";
import type { PrerequisiteListers } from "./prerequisites.ts";
import type { LocatePods } from "../../membership/locate-pods.ts";
import { recordNamedPods } from "../pods-to-delete/named-pods.ts";
import { sizeOf } from "../replicas/template-size.ts";
import { createTakenNames } from "./taken-names.ts";

export interface MatchDependencies extends PrerequisiteListers {
  hub: string;
  client: Client;
  templates: Templates;
  policies: PolicyIndex;
  /** Bindings of each scope. */
  bindings: Lister<ResourceBinding>;
  clusterBindings: Lister<ResourceBinding>;
  interpreter: Pick<Interpreter, "replicas" | "components" | "levelOf">;
  /** Whether multi-component workloads are placed as a whole, so that their components are counted. */
  countsComponents: boolean;
  /** Templates whose interpreter rules changed. */
  ruleChanges: Source<TemplateKey>;
  reportRuleFailure: ReportRuleFailure;
  changes: PolicyEvents;
  locatePods: LocatePods;
  tally: Pick<PolicyTally, "wait">;
  meter?: PipelineMeter;
}

const CONCURRENCY = 64;
/** How long a named pod of a member that does not respond waits. */
const ASK_AGAIN_MS = 10_000;

const idOf = ({ group, kind, namespace, name }: TemplateKey): string => `${group}/${kind}/${namespace}/${name}`;

export function createMatchController(deps: MatchDependencies): Controller<TemplateKey> {
  const { hub, client, templates, policies, interpreter, ruleChanges, reportRuleFailure, changes, tally, meter } = deps;
  const claims = createClaimWriter(hub, client);
  const takenNames = createTakenNames();
  /** Templates whose requests a FederatedResourceQuota rejects, until it has room or they change. */
  const overQuota = new Map<string, TemplateKey>();
  /** Templates that wait for the run of a deleted object of their name. */
  const awaitingRuns = new Set<string>();
  /** Templates whose binding was deleted, until their next reconcile, which the deletion causes. */
  const withoutBinding = new Set<string>();
  const affectedBy = (found: readonly Policy[]): TemplateKey[] =>
    found.flatMap((policy) => [...affectedTemplates(templates, policy)]);

  function bindingOf({ kind, namespace, name }: TemplateKey): DeepReadonly<ResourceBinding> | undefined {
    return (namespace ? deps.bindings : deps.clusterBindings).get({
      cluster: hub,
      namespace: namespace || undefined,
      name: bindingName(kind, name),
    });
  }

  /**
   * A binding is deleted with its template, and the deletion of the template may be known later: a binding that is
   * created in between is garbage-collected at once, and so would be the next one. So the server is asked first.
   */
  async function isGone(key: TemplateKey, template: Template, signal: AbortSignal): Promise<boolean> {
    const id = idOf(key);
    if (!withoutBinding.has(id)) return false;
    const { namespace, name, uid } = template.metadata;
    const newest = await find(client, await templates.kindOf(template), { cluster: hub, namespace, name }, { signal });
    withoutBinding.delete(id);
    return newest?.metadata.uid !== uid;
  }

  async function bind(
    existing: DeepReadonly<ResourceBinding> | undefined,
    desired: DeepReadonly<ResourceBinding>,
    signal: AbortSignal,
  ): Promise<"created" | "updated" | undefined> {
    const { kind } = scopeIn(desired.metadata.namespace);
    if (!existing) {
      await client.create(kind, hub, desired, { signal });
      return "created";
    }
    const merged = mergeBinding(existing, desired);
    if (merged === existing) return undefined;
    await client.update(kind, hub, merged, { signal });
    return "updated";
  }

  /**
   * No policy any more. The binding stays, because losing a policy must not remove running workloads; only the claim is
   * removed, from the binding first, because an unclaimed template no longer leads to its binding.
   */
  async function release(key: TemplateKey, template: Template, signal: AbortSignal): Promise<void> {
    changes.forget(template);
    tally.wait(key, undefined);
    takenNames.leave(key);
    awaitingRuns.delete(idOf(key));
    overQuota.delete(idOf(key));
    const binding = bindingOf(key);
    if (binding && !bindingConflict(binding, template))
      await claims.write(binding, scopeIn(key.namespace).kind, undefined, undefined, signal);
    await claims.write(template, await templates.kindOf(template), undefined, undefined, signal);
  }

  /** Applies the policy; returns `refused` when a retry would not help. */
  async function applyPolicy(
    key: TemplateKey,
    template: Template,
    match: Extract<MatchPlan, { outcome: "matched" }>,
    { log, signal }: ReconcileContext,
  ): Promise<Result | "refused"> {
    const { policy, preempted } = match;
    const selected = await inSelectedVersion(key, template, policy);
    if (selected === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
    if (!selected) return done;
    const needs = planPrerequisites(hub, policy, deps);
    const plan = planApplication({ key, template, selected, policy, preempted, needs, binding: bindingOf(key) });
    if (plan.outcome === "rejected") {
      if (plan.isNameTaken) takenNames.wait(key);
      if (plan.awaitsRun) awaitingRuns.add(idOf(key));
      else awaitingRuns.delete(idOf(key));
      changes.failed(template, policy, plan.message);
      tally.wait(key, { policy, template, reason: plan.reason, message: plan.message });
      return "refused"; // What it waits for enqueues it again.
    }
    takenNames.leave(key);
    awaitingRuns.delete(idOf(key));
    const claim = (): Promise<void> => writeClaim(key, template, match, plan.claimDigest, signal);
    const claimsInParallel = plan.outcome === "bound" && plan.claimsInParallel;
    if (!claimsInParallel) await claim();
    // The deletion of that binding enqueues the key again.
    if (plan.outcome === "claimed until the earlier binding is gone") return done;
    if (plan.outcome === "replaces an earlier run") {
      changes.replaced(template, plan.message);
      log.info("earlier run replaced", { binding: plan.earlier.metadata.name });
      const { uid, namespace, name } = plan.earlier.metadata;
      const { kind } = scopeIn(namespace);
      await unlessChanged(client.delete(kind, { cluster: hub, namespace, name }, { preconditions: { uid }, signal }));
      return done;
    }
    if (plan.outcome === "claimed until the template changes") {
      if (!preempted) changes.applied(template, policy);
      if (plan.own) await claims.write(plan.own, scopeIn(key.namespace).kind, policy, plan.digest, signal);
      return done;
    }
    const { desired, hasUnlocated } = await desiredBinding(selected, policy, plan);
    overQuota.delete(idOf(key));
    const [change] = await Promise.all([
      bind(plan.own, desired, signal).catch((error: unknown) => {
        reportRejectedBinding(key, template, policy, error);
        throw error;
      }),
      claimsInParallel && claim(),
    ]);
    if (!preempted) changes.applied(template, policy);
    if (change) log.info("binding written", { change, policy: policy.metadata.name });
    return hasUnlocated ? { requeueAfterMs: ASK_AGAIN_MS } : done;
  }

  /** The template in the version that the policy's selector names; undefined when it is gone there. */
  async function inSelectedVersion(
    { kind, namespace, name }: TemplateKey,
    template: Template,
    policy: Policy,
  ): Promise<Template | "unknown" | undefined> {
    const original = policies.original(policy);
    if (!original) return template;
    const apiVersion = askedVersion(original, template);
    return templates.get({ apiVersion, kind, namespace: namespace || undefined, name });
  }

  /** `hasUnlocated`: a named pod was not found while some members did not respond. */
  async function desiredBinding(
    template: Template,
    policy: Policy,
    { own, digest, schedulePriority }: Extract<ApplicationPlan, { outcome: "bound" }>,
  ): Promise<{ desired: DeepReadonly<ResourceBinding>; hasUnlocated: boolean }> {
    const size = await sizeOf(template, interpreter, deps.countsComponents, (rule, error) =>
      reportRuleFailure(template, rule, error),
    );
    reportRuleFailure.over(template, size.components ? "GetComponentsFailed" : "GetReplicasFailed");
    const namedPods = await recordNamedPods(template, size.replicas?.replicas ?? 0, own, deps.locatePods);
    const desired = planBinding({ template, policy, ...size, namedPods, schedulePriority, activated: digest });
    return { desired, hasUnlocated: namedPods?.open !== undefined };
  }

  function reportRejectedBinding(key: TemplateKey, template: Template, policy: Policy, error: unknown): void {
    const quota = quotaRejection(error);
    if (quota !== undefined) overQuota.set(idOf(key), key);
    if (!isRefusal(error)) return;
    const message = quota ?? messageOf(error);
    changes.failed(template, policy, message);
    tally.wait(key, { policy, template, reason: quota === undefined ? "BindingRejected" : QUOTA_EXCEEDED, message });
  }

  async function writeClaim(
    key: TemplateKey,
    template: Template,
    { policy, preempted }: Extract<MatchPlan, { outcome: "matched" }>,
    activated: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await claims.write(template, await templates.kindOf(template), policy, activated, signal);
    } catch (error) {
      if (preempted) meter?.policyPreempted(false);
      if (isRefusal(error)) {
        if (preempted) changes.notPreempted(template, policy, preempted, messageOf(error));
        else changes.failed(template, policy, messageOf(error));
        tally.wait(key, { policy, template, reason: "ClaimRejected", message: messageOf(error) });
      }
      throw error;
    }
    if (preempted) {
      meter?.policyPreempted(true);
      changes.preempted(template, policy, preempted);
    }
    tally.wait(key, undefined);
  }

  return defineKeyedController<TemplateKey>({
    name: "match",
    // Only what it watches, so that after a restart new templates do not wait for the caches of others.
    reads: [],
    writes: [ResourceBinding, ClusterResourceBinding],
    concurrency: CONCURRENCY,
    idOf,
    sources: [
      { source: ruleChanges },
      { source: templates.source(({ object }) => [keyOfTemplate(object)]) },
      watch<PropagationPolicy, TemplateKey>(PropagationPolicy, (event) => affectedByChange(templates, event)),
      watch<ClusterPropagationPolicy, TemplateKey>(ClusterPropagationPolicy, (event) =>
        affectedByChange(templates, event),
      ),
      // Policies that wait for one of these are applied when it exists.
      watch<OverridePolicy, TemplateKey>(OverridePolicy, ({ object: { metadata }, old, deleted }) =>
        old && !deleted ? [] : affectedBy(policies.dependingOn(metadata.name, metadata.namespace)),
      ),
      watch<ClusterOverridePolicy, TemplateKey>(ClusterOverridePolicy, ({ object: { metadata }, old, deleted }) =>
        old && !deleted ? [] : affectedBy(policies.dependingOn(metadata.name)),
      ),
      watch<PriorityClass, TemplateKey>(PriorityClass, ({ object: { metadata } }) =>
        affectedBy(policies.withPriorityClass(metadata.name)),
      ),
      watch<FederatedResourceQuota, TemplateKey>(FederatedResourceQuota, ({ object, old, deleted }) =>
        overQuota.size > 0 && (deleted || hasMoreRoom(old, object))
          ? [...overQuota.values()].filter(({ namespace }) => namespace === object.metadata.namespace)
          : [],
      ),
      // A binding that another client deleted or changed is restored; its status is ignored.
      ...[namespacedScope, clusterScope].map((scope) =>
        watch<ResourceBinding, TemplateKey>(scope.kind, ({ object, old, deleted }) => {
          const { apiVersion, kind, namespace, name } = object.spec.resource;
          const isMarked = deleted || (old !== undefined && !equalJson(marksOf(old), marksOf(object)));
          if (!isMarked && awaitingRuns.size === 0) return [];
          const key = keyOfTemplate({ apiVersion, kind, metadata: { name, namespace: namespace || undefined } });
          if (!isMarked && !awaitingRuns.has(idOf(key))) return [];
          if (deleted) withoutBinding.add(idOf(key));
          return [key, ...takenNames.waitingFor(key)];
        }),
      ),
    ],

    async reconcile(key, { log, signal }) {
      // No policies and unlisted policies look alike; only the former means that a claim has ended.
      if (!policies.isSynced()) return { requeueAfterMs: RELIST_RETRY_MS };
      const template = templates.find(key);
      if (!template || template.metadata.deletionTimestamp) {
        // The template owns its binding, so garbage collection deletes both.
        withoutBinding.delete(idOf(key));
        tally.wait(key, undefined);
        takenNames.leave(key);
        awaitingRuns.delete(idOf(key));
        overQuota.delete(idOf(key));
        return done;
      }
      // The event of its deletion enqueues the key again.
      if ((await isGone(key, template, signal)) || !isTemplate(template)) return done;

      const startMs = meter?.nowMs() ?? 0;
      const plan = planMatch({ template, ...policies.candidates(template) });
      meter?.policyFound(meter.nowMs() - startMs);
      if (plan.outcome === "none") {
        await release(key, template, signal);
        return done;
      }
      const foundMs = meter?.nowMs() ?? 0;
      let isApplied = false;
      try {
        const result = await applyPolicy(key, template, plan, { log, signal });
        isApplied = result !== "refused";
        return result === "refused" ? done : result;
      } finally {
        meter?.policyApplied(meter.nowMs() - foundMs, isApplied);
      }
    },
  });
}

/** Everything except the status. */
function marksOf({ metadata }: DeepReadonly<ResourceBinding>): unknown {
  return [
    metadata.uid,
    metadata.generation,
    metadata.deletionTimestamp,
    metadata.labels,
    metadata.annotations,
    metadata.ownerReferences,
    metadata.finalizers,
  ];
}
