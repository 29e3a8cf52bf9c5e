/**
 * Match finds the policy for a template and maintains the resulting binding.
 *
 * Reads: templates (any kind that a policy names), PropagationPolicy, ClusterPropagationPolicy, and their
 * prerequisites: OverridePolicy, ClusterOverridePolicy, PriorityClass. CustomResourceDefinitions, for the versions of
 * selectors.
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
import { CustomResourceDefinition, PriorityClass } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { equalJson } from "@flotilla/base";
import { find } from "@flotilla/client";
import { hasMoreRoom } from "../../quota/quota-room.ts";
import { defineKeyedController, done, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { clusterScope, namespacedScope, scopeIn } from "../bindings/binding-scope.ts";
import { isTemplate, keyOfTemplate, RELIST_RETRY_MS, templateId } from "../templates/templates.ts";
import type { Template, TemplateKey } from "../templates/templates.ts";
import { affectedByChange, affectedTemplates } from "./affected-templates.ts";
import { createApplyPolicy } from "./apply-policy.ts";
import { createClaimWriter } from "./claim.ts";
import type { MatchDependencies } from "./match-dependencies.ts";
import { bindingConflict } from "./plan-binding.ts";
import { planMatch } from "./plan-match.ts";
import type { Policy } from "./plan-match.ts";
import { createWaitingTemplates } from "./waiting-templates.ts";

const CONCURRENCY = 64;

export function createMatchController(deps: MatchDependencies): Controller<TemplateKey> {
  const { hub, client, templates, policies, ruleChanges, changes, tally, meter } = deps;
  const claims = createClaimWriter(hub, client);
  const waiting = createWaitingTemplates();
  /** Templates whose binding was deleted, until their next reconcile, which the deletion causes. */
  const withoutBinding = new Set<string>();
  const applyPolicy = createApplyPolicy(deps, claims, waiting, bindingOf);
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
    const id = templateId(key);
    if (!withoutBinding.has(id)) return false;
    const { namespace, name, uid } = template.metadata;
    const newest = await find(client, await templates.kindOf(template), { cluster: hub, namespace, name }, { signal });
    withoutBinding.delete(id);
    return newest?.metadata.uid !== uid;
  }

  /**
   * No policy any more. The binding stays, because losing a policy must not remove running workloads; only the claim is
   * removed, from the binding first, because an unclaimed template no longer leads to its binding.
   */
  async function release(key: TemplateKey, template: Template, signal: AbortSignal): Promise<void> {
    changes.forget(template);
    tally.wait(key, undefined);
    waiting.forget(key);
    const binding = bindingOf(key);
    if (binding && !bindingConflict(binding, template))
      await claims.write(binding, scopeIn(key.namespace).kind, undefined, undefined, signal);
    await claims.write(template, await templates.kindOf(template), undefined, undefined, signal);
  }

  return defineKeyedController<TemplateKey>({
    name: "match",
    // Only what it watches, so that after a restart new templates do not wait for the caches of others.
    reads: [],
    writes: [ResourceBinding, ClusterResourceBinding],
    concurrency: CONCURRENCY,
    idOf: templateId,
    sources: [
      { source: ruleChanges },
      { source: templates.source(({ object }) => [keyOfTemplate(object)]) },
      watch<PropagationPolicy, TemplateKey>(PropagationPolicy, (event) => affectedByChange(templates, event)),
      watch<ClusterPropagationPolicy, TemplateKey>(ClusterPropagationPolicy, (event) =>
        affectedByChange(templates, event),
      ),
      // A selector in a version matches while the hub serves it.
      watch<CustomResourceDefinition, TemplateKey>(CustomResourceDefinition, ({ object: { spec }, old, deleted }) =>
        !old || deleted || equalJson(servedVersions(old), servedVersions({ spec }))
          ? []
          : templates.list({ apiVersion: `${spec.group}/*`, kind: spec.names.kind }).map(keyOfTemplate),
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
        waiting.quota.size > 0 && (deleted || hasMoreRoom(old, object))
          ? [...waiting.quota.values()].filter(({ namespace }) => namespace === object.metadata.namespace)
          : [],
      ),
      // A binding that another client deleted or changed is restored; its status is ignored.
      ...[namespacedScope, clusterScope].map((scope) =>
        watch<ResourceBinding, TemplateKey>(scope.kind, ({ object, old, deleted }) => {
          const { apiVersion, kind, namespace, name } = object.spec.resource;
          const isMarked = deleted || (old !== undefined && !equalJson(marksOf(old), marksOf(object)));
          if (!isMarked && waiting.runs.size === 0) return [];
          const key = keyOfTemplate({ apiVersion, kind, metadata: { name, namespace: namespace || undefined } });
          if (!isMarked && !waiting.runs.has(templateId(key))) return [];
          if (deleted) withoutBinding.add(templateId(key));
          return [key, ...waiting.names.waitingFor(key)];
        }),
      ),
    ],

    async reconcile(key, { log, signal }) {
      // No policies and unlisted policies look alike; only the former means that a claim has ended.
      if (!policies.isSynced()) return { requeueAfterMs: RELIST_RETRY_MS };
      const template = templates.find(key);
      if (!template || template.metadata.deletionTimestamp) {
        // The template owns its binding, so garbage collection deletes both.
        withoutBinding.delete(templateId(key));
        tally.wait(key, undefined);
        waiting.forget(key);
        return done;
      }
      // The event of its deletion enqueues the key again.
      if ((await isGone(key, template, signal)) || !isTemplate(template)) return done;

      const startMs = meter?.nowMs() ?? 0;
      const plan = planMatch({ template, ...(await policies.candidates(template)) });
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

const servedVersions = ({ spec }: DeepReadonly<Pick<CustomResourceDefinition, "spec">>): string[] =>
  spec.versions.filter(({ served }) => served).map(({ name }) => name);

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
