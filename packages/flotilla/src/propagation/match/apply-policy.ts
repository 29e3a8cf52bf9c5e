/** Applies the policy that a template matches: claims the template, and writes its binding as `planApplication` decides. */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { isNamespaceTerminating } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import { done, unlessChanged } from "@flotilla/controller-runtime";
import type { ReconcileContext, Result } from "@flotilla/controller-runtime";
import { QUOTA_EXCEEDED } from "../../quota/quota-charge.ts";
import { quotaRejection } from "../../quota/quota-enforcement.ts";
import { scopeIn } from "../bindings/binding-scope.ts";
import { isRefusal } from "../bindings/refusal.ts";
import { recordNamedPods } from "../pods-to-delete/named-pods.ts";
import { APPLY_POLICY_FAILED, BINDING_REJECTED, CLAIM_REJECTED } from "../../flotilla-names.ts";
import { sizeOf } from "../replicas/template-size.ts";
import { RELIST_RETRY_MS, templateId } from "../templates/templates.ts";
import type { Template, TemplateKey } from "../templates/templates.ts";
import type { createClaimWriter } from "./claim.ts";
import type { MatchDependencies } from "./match-dependencies.ts";
import { mergeBinding, planBinding, withFewerReplicas } from "./plan-binding.ts";
import { planApplication } from "./plan-application.ts";
import type { ApplicationPlan } from "./plan-application.ts";
import type { MatchPlan, Policy } from "./plan-match.ts";
import { planPrerequisites } from "./prerequisites.ts";
import type { WaitingTemplates } from "./waiting-templates.ts";

/** How long a named pod of a member that does not respond waits. */
const ASK_AGAIN_MS = 10_000;
/** Conflicts and races end with a second or third attempt. */
const FAILURES_BEFORE_REPORT = 4;

/** Returns `refused` when a retry would not help. */
export type ApplyPolicy = (
  key: TemplateKey,
  template: Template,
  match: Extract<MatchPlan, { outcome: "matched" }>,
  context: ReconcileContext,
) => Promise<Result | "refused">;

export function createApplyPolicy(
  deps: MatchDependencies,
  claims: ReturnType<typeof createClaimWriter>,
  waiting: WaitingTemplates,
  bindingOf: (key: TemplateKey) => DeepReadonly<ResourceBinding> | undefined,
): ApplyPolicy {
  const { hub, client, templates, policies, interpreter, reportRuleFailure, changes, tally, meter } = deps;

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
      if (plan.isNameTaken) waiting.names.wait(key);
      if (plan.awaitsRun) waiting.runs.add(templateId(key));
      else waiting.runs.delete(templateId(key));
      changes.failed(template, policy, plan.message);
      tally.wait(key, { policy, template, reason: plan.reason, message: plan.message });
      return "refused"; // What it waits for enqueues it again.
    }
    waiting.names.leave(key);
    waiting.runs.delete(templateId(key));
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
    waiting.quota.delete(templateId(key));
    const [change] = await Promise.all([
      bind(key, plan.own, desired, signal).catch((error: unknown) => {
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
    const apiVersion = await policies.askedVersion(policy, template);
    if (apiVersion === template.apiVersion) return template;
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
    if (quota !== undefined) waiting.quota.set(templateId(key), key);
    if (!isRefusal(error)) return;
    const message = quota ?? messageOf(error);
    changes.failed(template, policy, message);
    tally.wait(key, { policy, template, reason: quota === undefined ? BINDING_REJECTED : QUOTA_EXCEEDED, message });
  }

  /**
   * Whatever keeps a policy from being applied is reported: a rejection and a failed rule at once, where they occur, any
   * other failure when it lasts.
   */
  function reportLasting(key: TemplateKey, template: Template, policy: Policy, error: unknown): void {
    if (isRefusal(error) || isNamespaceTerminating(error) || error instanceof InterpretError) return;
    const id = templateId(key);
    const count = (waiting.failures.get(id) ?? 0) + 1;
    waiting.failures.set(id, count);
    if (count < FAILURES_BEFORE_REPORT) return;
    const message = messageOf(error);
    changes.failed(template, policy, message);
    tally.wait(key, { policy, template, reason: APPLY_POLICY_FAILED, message });
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
        tally.wait(key, { policy, template, reason: CLAIM_REJECTED, message: messageOf(error) });
      }
      throw error;
    }
    if (preempted) {
      meter?.policyPreempted(true);
      changes.preempted(template, policy, preempted);
    }
    tally.wait(key, undefined);
  }

  async function bind(
    key: TemplateKey,
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
    try {
      await client.update(kind, hub, merged, { signal });
    } catch (error) {
      const smaller = quotaRejection(error) === undefined ? undefined : withFewerReplicas(existing, merged);
      if (!smaller) throw error;
      // The rest follows when the quota has what these replicas give back.
      waiting.quota.set(templateId(key), key);
      await client.update(kind, hub, smaller, { signal });
    }
    return "updated";
  }

  return async (key, template, match, context) => {
    try {
      const result = await applyPolicy(key, template, match, context);
      waiting.failures.delete(templateId(key));
      return result;
    } catch (error) {
      if (!context.signal.aborted) reportLasting(key, template, match.policy, error);
      throw error;
    }
  };
}
