/**
 * Dependencies, second half: takes what resources need to where they run.
 *
 * Reads:  the references that bindings note, the objects that they name.
 * Writes: the binding of each needed object: `requiredBy`, the labels that name who needs it and, unless a policy propagates
 *         the object as well, how to treat what a member already has.
 * Before: `record-controller.ts` noted the references, schedule chose clusters. After: dispatch makes Works on those clusters.
 *
 * A key is a needed object. Everything about its binding follows from the object and the bindings that need it now, so a
 * binding that is gone needs no finalizer to be forgotten.
 */
import { bindingName, controllerOf, gvkOf, parseApiVersion } from "../../api/index.ts";
import type { KubernetesObject, ResourceBinding } from "../../api/index.ts";
import { equalJson, TerminalError, type DeepReadonly } from "../../base/index.ts";
import type { Client } from "../../client/index.ts";
import { isAlreadyExists, isNotFound } from "../../machinery/index.ts";
import { defineKeyedController, done, informerSource } from "../../runtime/index.ts";
import type { Controller, EventRecorder, Informer, ObjectEvent } from "../../runtime/index.ts";
import { clusterScope, namespacedScope, scopeIn, type BindingScope } from "../binding-scope.ts";
import { keyOfTemplate, type TemplateKey, type Templates } from "../templates.ts";
import { DEPENDED_BY_PREFIX } from "../well-known.ts";
import { planAttached, type AttachedPlan } from "./plan-attached.ts";
import { placeOf, placesOf, referencesOf, refersTo } from "./references.ts";

type Binding = DeepReadonly<ResourceBinding>;

export interface AttachDependencies {
  hub: string;
  client: Client;
  bindings: Informer<ResourceBinding>;
  clusterBindings: Informer<ResourceBinding>;
  templates: Pick<Templates, "find" | "list" | "follow" | "source">;
  events: EventRecorder;
}

const BY_PLACE = "dependencies.place";
const CONCURRENCY = 16;
/** When to look again for the binding of an earlier object of the same name to be collected. */
const LOOK_AGAIN_MS = 5_000;

export function createAttachController({ hub, client, bindings, clusterBindings, templates, events }: AttachDependencies): Controller<TemplateKey> {
  for (const informer of [bindings, clusterBindings]) informer.addIndex(BY_PLACE, (binding) => placesOf(referencesOf(binding)));

  /** Objects whose binding may have to change with this one: what it needs or needed, and its own where others need it. */
  function* affected(event: ObjectEvent<ResourceBinding>): Iterable<TemplateKey> {
    if (!isRelevant(event)) return;
    for (const binding of event.old ? [event.object, event.old] : [event.object]) {
      for (const reference of referencesOf(binding)) {
        templates.follow(reference);
        const { apiVersion, kind, namespace = "", name } = reference;
        if (name) yield { ...groupKind(apiVersion, kind), namespace, name };
        else for (const object of templates.list(reference, namespace)) if (refersTo(reference, object)) yield keyOfTemplate(object);
      }
      if (isAttached(binding)) {
        const { apiVersion, kind, namespace = "", name } = binding.spec.resource;
        yield { ...groupKind(apiVersion, kind), namespace, name };
      }
    }
  }

  /** Bindings that need the object and run somewhere. */
  function requirersOf(object: DeepReadonly<KubernetesObject>): Binding[] {
    const { apiVersion, kind, metadata } = object;
    const where = { apiVersion, kind, namespace: metadata.namespace ?? "" };
    const found = new Set<Binding>();
    for (const informer of [bindings, clusterBindings]) {
      for (const place of [placeOf(where, metadata.name), placeOf(where)]) {
        for (const binding of informer.by(BY_PLACE, place)) if (runsSomewhere(binding) && referencesOf(binding).some((reference) => refersTo(reference, object))) found.add(binding);
      }
    }
    return [...found].filter(({ spec }) => spec.resource.uid !== metadata.uid);
  }

  async function carryOut(plan: AttachedPlan, scope: BindingScope, key: { cluster: string; namespace?: string; name: string }, signal: AbortSignal): Promise<Binding | undefined> {
    try {
      if (plan.action === "create") return await client.create(scope.kind, hub, plan.binding, { signal });
      if (plan.action === "update") return await client.patch(scope.kind, key, plan.patch, { type: "merge", signal });
      if (plan.action === "delete") await client.delete(scope.kind, key, { signal });
    } catch (error) {
      // Made or removed meanwhile; its event brings the key back.
      if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
    }
    return undefined;
  }

  return defineKeyedController<TemplateKey>({
    name: "attach",
    writes: [namespacedScope.kind, clusterScope.kind],
    concurrency: CONCURRENCY,
    idOf: ({ group, kind, namespace, name }) => `${group}/${kind}/${namespace}/${name}`,
    sources: [
      { source: informerSource(bindings, affected) },
      { source: informerSource(clusterBindings, affected) },
      // What is in an object matters to dispatch; here only whether it is there, and its labels.
      { source: templates.source(({ object, old, deleted }) => (isSameObject(object, old) && !deleted ? [] : [keyOfTemplate(object)])) },
    ],

    async reconcile(key, { log, signal }) {
      // Absence of a binding means something only once all are listed.
      if (!bindings.synced || !clusterBindings.synced) return { requeueAfterMs: LOOK_AGAIN_MS };
      const object = templates.find(key);
      // With the object goes its binding, which it owns.
      if (!object || object.metadata.deletionTimestamp) return done;
      const scope = scopeIn(key.namespace);
      const bindingKey = { cluster: hub, ...(key.namespace && { namespace: key.namespace }), name: bindingName(key.kind, key.name) };
      const existing = (key.namespace ? bindings : clusterBindings).get(bindingKey);
      const requirers = requirersOf(object);
      if (existing && requirers.length > 0) {
        const owner = controllerOf(existing);
        if (owner && owner.uid !== object.metadata.uid) {
          if (gvkOf(existing.spec.resource).group !== key.group) throw new TerminalError(`binding ${bindingKey.name} belongs to another object: Karmada's binding names do not contain the API group; rename one of the two objects`);
          return { requeueAfterMs: LOOK_AGAIN_MS };
        }
        if (existing.metadata.deletionTimestamp) return { requeueAfterMs: LOOK_AGAIN_MS };
      }
      if (existing?.metadata.deletionTimestamp) return done;

      const plan = planAttached(object, requirers, existing);
      if (plan.action === "none") return done;
      const written = await carryOut(plan, scope, bindingKey, signal);
      log.info("dependency attached", { action: plan.action, requirers: requirers.length });
      if (written && plan.action !== "delete" && plan.conflicts.length > 0) {
        events.record(hub, written, { type: "Warning", reason: "DependencyPolicyConflict", message: `Dependency policy conflict detected: ${plan.conflicts.join("; ")}.` });
      }
      return done;
    },
  });
}

const groupKind = (apiVersion: string, kind: string): { group: string; kind: string } => ({ group: parseApiVersion(apiVersion).group, kind });

const runsSomewhere = ({ spec }: Binding): boolean => Boolean(spec.clusters?.length) || Boolean(spec.gracefulEvictionTasks?.length);

function isAttached({ metadata, spec }: Binding): boolean {
  return Boolean(spec.requiredBy?.length) || Object.keys(metadata.labels ?? {}).some((label) => label.startsWith(DEPENDED_BY_PREFIX));
}

/** Members report all the time; their reports change nothing here. */
function isRelevant({ object, old, deleted }: ObjectEvent<ResourceBinding>): boolean {
  if (!old || deleted) return true;
  const [now, before] = [object.metadata, old.metadata];
  return now.generation !== before.generation || now.deletionTimestamp !== before.deletionTimestamp || !equalJson(now.annotations, before.annotations) || !equalJson(now.labels, before.labels);
}

function isSameObject({ metadata }: DeepReadonly<KubernetesObject>, old: DeepReadonly<KubernetesObject> | undefined): boolean {
  return old !== undefined && old.metadata.uid === metadata.uid && old.metadata.deletionTimestamp === metadata.deletionTimestamp && equalJson(old.metadata.labels, metadata.labels);
}
