/**
 * Match finds the policy for a template and keeps the binding that follows from the two.
 *
 * Reads:  templates (any kind that a policy names), PropagationPolicy.
 * Writes: ResourceBinding, except what later stages own in it; the claim (label and annotations) on the template.
 * Before: a user applied the template and the policy. After: schedule fills `spec.clusters`.
 */
import type { Kind, PropagationPolicy } from "../../api/index.ts";
import { bindingName, isReservedNamespace, ResourceBinding } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { TerminalError } from "../../base/index.ts";
import type { Client } from "../../client/index.ts";
import type { Interpreter, Replicas } from "../../interpreter/index.ts";
import { isNotFound } from "../../machinery/index.ts";
import { defineKeyedController, done, informerSource, watch } from "../../runtime/index.ts";
import type { Controller, Informer, Lister, Source } from "../../runtime/index.ts";
import { matchesResource } from "../resource-selector.ts";
import type { TellRuleFailure } from "../rule-failures.ts";
import { keyOfTemplate, LOOK_AGAIN_MS } from "../templates.ts";
import type { Template, TemplateKey, Templates } from "../templates.ts";
import { alignSelectors, askedVersion } from "./align-selectors.ts";
import { bindingConflict, mergeBinding, planBinding } from "./plan-binding.ts";
import { CLAIM_ANNOTATIONS, CLAIM_LABELS, claimMetadata, claimOf, planMatch } from "./plan-match.ts";
import type { Policy } from "./plan-match.ts";

export interface MatchDependencies {
  hub: string;
  client: Client;
  templates: Templates;
  policies: Informer<PropagationPolicy>;
  bindings: Lister<ResourceBinding>;
  interpreter: Pick<Interpreter, "replicas">;
  /** Templates whose kind is understood differently now. */
  ruleChanges: Source<TemplateKey>;
  tellFailure: TellRuleFailure;
}

const CONCURRENCY = 64;

export function createMatchController({ hub, client, templates, policies, bindings, interpreter, ruleChanges, tellFailure }: MatchDependencies): Controller<TemplateKey> {
  /** Templates that a policy selects or has claimed, before or after a change of it. */
  function* affected(policy: DeepReadonly<PropagationPolicy>): Iterable<TemplateKey> {
    for (const selector of policy.spec.resourceSelectors) {
      for (const template of templates.list(selector, selector.namespace ?? policy.metadata.namespace ?? "")) {
        const isClaimed = claimOf(template)?.name === policy.metadata.name;
        if (isClaimed || matchesResource(template, alignSelectors(policy, template).spec.resourceSelectors)) yield keyOfTemplate(template);
      }
    }
  }

  async function replicasOf(template: Template): Promise<Replicas | undefined> {
    try {
      return await interpreter.replicas(template);
    } catch (error) {
      tellFailure(template, "GetReplicasFailed", error);
      throw error;
    }
  }

  async function bind(template: Template, policy: Policy, signal: AbortSignal): Promise<"created" | "updated" | undefined> {
    const desired = planBinding({ template, policy, replicas: await replicasOf(template) });
    const { namespace = "", name } = desired.metadata;
    const existing = bindings.get({ cluster: hub, namespace, name });
    if (!existing) {
      await client.create(ResourceBinding, hub, desired, { signal });
      return "created";
    }
    const conflict = bindingConflict(existing, template);
    if (conflict === "other") {
      throw new TerminalError(`binding ${namespace}/${name} belongs to another object: Karmada's binding names do not contain the API group; rename one of the two objects`);
    }
    // The binding of an earlier object of this name is being collected; its deletion brings us back here.
    if (conflict === "earlier") return undefined;
    const merged = mergeBinding(existing, desired);
    if (merged === existing) return undefined;
    await client.update(ResourceBinding, hub, merged, { signal });
    return "updated";
  }

  /** Puts a policy's claim on an object, or takes it off. */
  async function claim(object: Template, kind: Kind, policy: Policy | undefined, signal: AbortSignal): Promise<void> {
    const wanted = policy ? claimMetadata(policy) : { labels: {}, annotations: {} };
    const labels = differences(object.metadata.labels ?? {}, wanted.labels, CLAIM_LABELS);
    const annotations = differences(object.metadata.annotations ?? {}, wanted.annotations, CLAIM_ANNOTATIONS);
    if (Object.keys(labels).length + Object.keys(annotations).length === 0) return;
    const { namespace, name } = object.metadata;
    try {
      await client.patch(kind, { cluster: hub, ...(namespace && { namespace }), name }, { metadata: { labels, annotations } }, { type: "merge", signal });
    } catch (error) {
      if (!isNotFound(error)) throw error; // Deleted in the meantime.
    }
  }

  return defineKeyedController<TemplateKey>({
    name: "match",
    writes: [ResourceBinding],
    concurrency: CONCURRENCY,
    idOf: ({ group, kind, namespace, name }) => `${group}/${kind}/${namespace}/${name}`,
    sources: [
      { source: ruleChanges },
      { source: templates.source(({ object }) => [keyOfTemplate(object)]) },
      {
        source: informerSource(policies, function* ({ object, old }) {
          if (old) yield* affected(old);
          yield* affected(object);
        }),
      },
      // A binding that somebody deleted or changed is put right.
      watch<ResourceBinding, TemplateKey>(ResourceBinding, ({ object: { spec }, old, deleted }) => {
        const { apiVersion, kind, namespace, name } = spec.resource;
        return deleted || old ? [keyOfTemplate({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }) } })] : [];
      }),
    ],

    async reconcile(key, { log, signal }) {
      // No policies and policies that were not listed yet look alike; only the first means that a claim has ended.
      if (!policies.synced) return { requeueAfterMs: LOOK_AGAIN_MS };
      const template = templates.find(key);
      // With the template goes its binding, which it owns.
      if (!template || template.metadata.deletionTimestamp || !key.namespace || isReservedNamespace(key.namespace)) return done;

      const candidates = policies.list({ cluster: hub, namespace: key.namespace }).map((policy) => alignSelectors(policy, template));
      const plan = planMatch({ template, policies: candidates, clusterPolicies: [] });
      if (plan.outcome === "none") {
        // The binding stays: losing a policy must not remove what runs. Only the claim goes, from both.
        await claim(template, await templates.kindOf(template), undefined, signal);
        const binding = bindings.get({ cluster: hub, namespace: key.namespace, name: bindingName(key.kind, key.name) });
        if (binding && !bindingConflict(binding, template)) await claim(binding, ResourceBinding, undefined, signal);
        return done;
      }
      const asked = policies.get({ cluster: hub, namespace: key.namespace, name: plan.policy.metadata.name });
      const spoken = asked ? await templates.get({ apiVersion: askedVersion(asked, template), kind: key.kind, namespace: key.namespace, name: key.name }) : template;
      if (spoken === "unknown") return { requeueAfterMs: LOOK_AGAIN_MS };
      if (!spoken) return done;
      // The claim comes first: it moves a Deployment's generation, which the stages behind the binding write onto every copy.
      await claim(template, await templates.kindOf(template), plan.policy, signal);
      const change = await bind(spoken, plan.policy, signal);
      if (change) log.info("binding written", { change, policy: plan.policy.metadata.name });
      return done;
    },
  });
}

/** A merge patch for those of `keys` whose value is not the wanted one; null removes. */
function differences(current: Readonly<Record<string, string>>, wanted: Record<string, string>, keys: readonly string[]): Record<string, string | null> {
  const patch: Record<string, string | null> = {};
  for (const key of keys) if (current[key] !== wanted[key]) patch[key] = wanted[key] ?? null;
  return patch;
}
