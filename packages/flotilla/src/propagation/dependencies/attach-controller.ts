/**
 * Dependencies, second half: propagates the objects that resources need to the clusters where these run.
 *
 * Reads: the references recorded on bindings, the objects that they name.
 * Writes: the binding of each needed object: `requiredBy`, the labels that identify the requiring bindings and, unless
 * a policy propagates the object as well, the conflict resolution for existing objects on members.
 * Before: `record-controller.ts` recorded the references, schedule chose clusters. After: dispatch creates Works on
 * those clusters.
 *
 * A key is a needed object. Its binding is derived from the object and the bindings that currently need it, so a
 * deleted binding needs no finalizer.
 */
import { controllerOf, gvkOf, isAlreadyExists, isNotFound, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { defineKeyedController, done, informerSource } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informer, ObjectEvent } from "@flotilla/controller-runtime";
import { clusterScope, namespacedScope, scopeIn, type BindingScope } from "../bindings/binding-scope.ts";
import { derivedNameProblem } from "../templates/derived-names.ts";
import { keyOfTemplate, templateId, type TemplateKey, type Templates } from "../templates/templates.ts";
import { resourceOf } from "../bindings/resource-of.ts";
import { planAttached, type AttachedPlan } from "./plan-attached.ts";
import { needOf, placeOf, placesOf, referencesOf, refersTo } from "./references.ts";
import { bindingName, DEPENDED_BY_PREFIX } from "@flotilla/karmada";
import { SHARED_WITH } from "../../flotilla-names.ts";
import { runsSomewhere } from "../bindings/runs-somewhere.ts";

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
/** Recheck interval while the binding of an earlier object of the same name is garbage-collected. */
const RECHECK_MS = 5_000;

export function createAttachController({
  hub,
  client,
  bindings,
  clusterBindings,
  templates,
  events,
}: AttachDependencies): Controller<TemplateKey> {
  /** By object, the bindings that were notified that they may not use it. */
  const reported = new Map<string, ReadonlySet<string | undefined>>();
  /** Objects whose binding name is already taken, and whose requirers were notified. */
  const taken = new Set<string>();
  for (const informer of [bindings, clusterBindings])
    informer.addIndex(BY_PLACE, (binding) => placesOf(referencesOf(binding)));

  /**
   * Objects whose binding may change with this one: the objects that it needs or needed, and its own if others need it.
   */
  function* affected(event: ObjectEvent<ResourceBinding>): Iterable<TemplateKey> {
    if (!isRelevant(event)) return;
    for (const binding of event.old ? [event.object, event.old] : [event.object]) {
      for (const reference of referencesOf(binding)) {
        templates.follow(reference);
        const { apiVersion, kind, namespace = "", name } = reference;
        if (name) yield { ...groupKind(apiVersion, kind), namespace, name };
        else
          for (const object of templates.list(reference, namespace))
            if (refersTo(reference, object)) yield keyOfTemplate(object);
      }
      if (isAttached(binding)) {
        const { apiVersion, kind, namespace = "", name } = binding.spec.resource;
        yield { ...groupKind(apiVersion, kind), namespace, name };
      }
    }
  }

  /** Scheduled bindings that need the object, and those of them that may not use it. */
  function requirersOf(object: DeepReadonly<KubernetesObject>): { requirers: Binding[]; withheld: Binding[] } {
    const { apiVersion, kind, metadata } = object;
    const where = { apiVersion, kind, namespace: metadata.namespace ?? "" };
    const [requirers, withheld] = [new Set<Binding>(), new Set<Binding>()];
    for (const informer of [bindings, clusterBindings]) {
      for (const place of [placeOf(where, metadata.name), placeOf(where)]) {
        for (const binding of informer.by(BY_PLACE, place)) {
          const need = runsSomewhere(binding) ? needOf(binding, object) : "none";
          if (need !== "none") (need === "met" ? requirers : withheld).add(binding);
        }
      }
    }
    return { requirers: [...requirers], withheld: [...withheld] };
  }

  /** Each once: a key is enqueued whenever one of its bindings changes. */
  function reportWithheld(key: TemplateKey, withheld: readonly Binding[]): void {
    const id = templateId(key);
    const before = reported.get(id);
    if (withheld.length === 0) reported.delete(id);
    else reported.set(id, new Set(withheld.map(({ metadata }) => metadata.uid)));
    const what = `${key.kind} ${[key.namespace, key.name].filter(Boolean).join("/")}`;
    for (const binding of withheld) {
      if (before?.has(binding.metadata.uid)) continue;
      events.record(hub, resourceOf(binding), {
        type: "Warning",
        reason: "GetDependenciesFailed",
        message: `The dependency on ${what} is skipped: it is in another namespace, and its annotation ${SHARED_WITH} does not name this namespace.`,
      });
    }
  }

  function reportTaken(key: TemplateKey, requirers: readonly Binding[], why: string): void {
    if (taken.has(templateId(key))) return;
    taken.add(templateId(key));
    const message = `${key.kind} ${key.name} is not propagated as a dependency: ${why}`;
    for (const binding of requirers)
      events.record(hub, binding, { type: "Warning", reason: "SyncScheduleResultToDependenciesFailed", message });
  }

  function reportFree(key: TemplateKey, requirers: readonly Binding[]): void {
    if (taken.size === 0 || !taken.delete(templateId(key))) return;
    for (const binding of requirers)
      events.record(hub, binding, {
        type: "Normal",
        reason: "SyncScheduleResultToDependenciesSucceed",
        message: "Sync schedule results to dependencies succeed.",
      });
  }

  async function carryOut(
    plan: AttachedPlan,
    scope: BindingScope,
    key: { cluster: string; namespace?: string; name: string },
    signal: AbortSignal,
  ): Promise<Binding | undefined> {
    try {
      if (plan.action === "create") return await client.create(scope.kind, hub, plan.binding, { signal });
      if (plan.action === "update") return await client.patch(scope.kind, key, plan.patch, { type: "merge", signal });
      if (plan.action === "delete") await client.delete(scope.kind, key, { signal });
    } catch (error) {
      // Created or deleted concurrently; its event enqueues the key again.
      if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
    }
    return undefined;
  }

  return defineKeyedController<TemplateKey>({
    name: "attach",
    writes: [namespacedScope.kind, clusterScope.kind],
    concurrency: CONCURRENCY,
    idOf: templateId,
    sources: [
      { source: informerSource(bindings, affected) },
      { source: informerSource(clusterBindings, affected) },
      // Dispatch reads the content of an object; here only its existence, labels and sharing annotation matter.
      {
        source: templates.source(({ object, old, deleted }) =>
          isSameObject(object, old) && !deleted ? [] : [keyOfTemplate(object)],
        ),
      },
    ],

    async reconcile(key, { log, signal }) {
      // A missing binding is meaningful only after all are listed.
      if (!bindings.synced || !clusterBindings.synced) return { requeueAfterMs: RECHECK_MS };
      const object = templates.find(key);
      // The object owns its binding, so garbage collection deletes both.
      if (!object || object.metadata.deletionTimestamp) {
        reported.delete(templateId(key));
        taken.delete(templateId(key));
        return done;
      }
      const scope = scopeIn(key.namespace);
      const bindingKey = { cluster: hub, namespace: key.namespace || undefined, name: bindingName(key.kind, key.name) };
      const existing = (key.namespace ? bindings : clusterBindings).get(bindingKey);
      const { requirers, withheld } = requirersOf(object);
      reportWithheld(key, withheld);
      const badName = requirers.length > 0 ? derivedNameProblem(key.kind, key.namespace, key.name) : undefined;
      if (badName !== undefined) {
        reportTaken(key, requirers, badName);
        return done;
      }
      if (existing && requirers.length > 0) {
        const owner = controllerOf(existing);
        if (owner && owner.uid !== object.metadata.uid) {
          if (gvkOf(existing.spec.resource).group !== key.group)
            reportTaken(
              key,
              requirers,
              `binding ${bindingKey.name} belongs to an object of another API group, because binding names do ` +
                "not contain the group; rename one of the two objects",
            );
          return { requeueAfterMs: RECHECK_MS };
        }
        if (existing.metadata.deletionTimestamp) return { requeueAfterMs: RECHECK_MS };
      }
      if (existing?.metadata.deletionTimestamp) return done;
      reportFree(key, requirers);

      const plan = planAttached(object, requirers, existing);
      if (plan.action === "none") return done;
      const written = await carryOut(plan, scope, bindingKey, signal);
      log.info("dependency attached", { action: plan.action, requirers: requirers.length });
      if (written && plan.action !== "delete" && plan.conflicts.length > 0) {
        events.record(hub, written, {
          type: "Warning",
          reason: "DependencyPolicyConflict",
          message: `Dependency policy conflict detected: ${plan.conflicts.join("; ")}.`,
        });
      }
      return done;
    },
  });
}

const groupKind = (apiVersion: string, kind: string): { group: string; kind: string } => ({
  group: parseApiVersion(apiVersion).group,
  kind,
});

function isAttached({ metadata, spec }: Binding): boolean {
  return (
    Boolean(spec.requiredBy?.length) ||
    Object.keys(metadata.labels ?? {}).some((label) => label.startsWith(DEPENDED_BY_PREFIX))
  );
}

/** Status reports from members are frequent and change nothing here. */
function isRelevant({ object, old, deleted }: ObjectEvent<ResourceBinding>): boolean {
  if (!old || deleted) return true;
  const [now, before] = [object.metadata, old.metadata];
  return (
    now.generation !== before.generation ||
    now.deletionTimestamp !== before.deletionTimestamp ||
    !equalJson(now.annotations, before.annotations) ||
    !equalJson(now.labels, before.labels)
  );
}

function isSameObject(
  { metadata }: DeepReadonly<KubernetesObject>,
  old: DeepReadonly<KubernetesObject> | undefined,
): boolean {
  return (
    old !== undefined &&
    old.metadata.uid === metadata.uid &&
    old.metadata.deletionTimestamp === metadata.deletionTimestamp &&
    equalJson(old.metadata.labels, metadata.labels) &&
    old.metadata.annotations?.[SHARED_WITH] === metadata.annotations?.[SHARED_WITH]
  );
}
