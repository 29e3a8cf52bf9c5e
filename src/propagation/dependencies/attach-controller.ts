/**
 * Dependencies, second half: takes what resources need to where they run.
 *
 * Reads: the references that bindings note, the objects that they name.
 * Writes: the binding of each needed object: `requiredBy`, the labels that name who needs it and, unless a policy
 * propagates the object as well, how to treat what a member already has.
 * Before: `record-controller.ts` noted the references, schedule chose clusters. After: dispatch makes Works on those
 * clusters.
 *
 * A key is a needed object. Everything about its binding follows from the object and the bindings that need it now, so
 * a binding that is gone needs no finalizer to be forgotten.
 */
import { bindingName, controllerOf, gvkOf, parseApiVersion } from "../../api/index.ts";
import type { KubernetesObject, ResourceBinding } from "../../api/index.ts";
import { equalJson, type DeepReadonly } from "../../base/index.ts";
import type { Client } from "../../client/index.ts";
import { isAlreadyExists, isNotFound } from "../../machinery/index.ts";
import { defineKeyedController, done, informerSource } from "../../runtime/index.ts";
import type { Controller, EventRecorder, Informer, ObjectEvent } from "../../runtime/index.ts";
import { clusterScope, namespacedScope, scopeIn, type BindingScope } from "../binding-scope.ts";
import { derivedNameProblem } from "../derived-names.ts";
import { keyOfTemplate, type TemplateKey, type Templates } from "../templates.ts";
import { resourceOf } from "../resource-of.ts";
import { DEPENDED_BY_PREFIX, SHARED_WITH } from "../well-known.ts";
import { planAttached, type AttachedPlan } from "./plan-attached.ts";
import { needOf, placeOf, placesOf, referencesOf, refersTo } from "./references.ts";

type Binding = DeepReadonly<ResourceBinding>;

export interface AttachDependencies {
  hub: string;
  client: Client;
  bindings: Informer<ResourceBinding>;
  clusterBindings: Informer<ResourceBinding>;
  templates: Pick<Templates, "find" | "list" | "follow" | "source">;
  events: EventRecorder;
}

const idOf = ({ group, kind, namespace, name }: TemplateKey): string => `${group}/${kind}/${namespace}/${name}`;
const BY_PLACE = "dependencies.place";
const CONCURRENCY = 16;
/** When to look again for the binding of an earlier object of the same name to be collected. */
const LOOK_AGAIN_MS = 5_000;

export function createAttachController({
  hub,
  client,
  bindings,
  clusterBindings,
  templates,
  events,
}: AttachDependencies): Controller<TemplateKey> {
  /** By object, the bindings that were told that they may not have it. */
  const told = new Map<string, ReadonlySet<string | undefined>>();
  /** Objects that cannot have the name of their binding, and whose requirers were told. */
  const taken = new Set<string>();
  for (const informer of [bindings, clusterBindings])
    informer.addIndex(BY_PLACE, (binding) => placesOf(referencesOf(binding)));

  /**
   * Objects whose binding may have to change with this one: what it needs or needed, and its own where others need it.
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

  /** Bindings that need the object and run somewhere, and those of them that may not have it. */
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

  /** Each once: a key comes back whenever something about its bindings changes. */
  function tellWithheld(key: TemplateKey, withheld: readonly Binding[]): void {
    const id = idOf(key);
    const before = told.get(id);
    if (withheld.length === 0) told.delete(id);
    else told.set(id, new Set(withheld.map(({ metadata }) => metadata.uid)));
    const what = `${key.kind} ${[key.namespace, key.name].filter(Boolean).join("/")}`;
    for (const binding of withheld) {
      if (before?.has(binding.metadata.uid)) continue;
      events.record(hub, resourceOf(binding), {
        type: "Warning",
        reason: "GetDependenciesFailed",
        message: `The dependency on ${what} is left out: it is not in this namespace, and its annotation ${SHARED_WITH} does not name this namespace.`,
      });
    }
  }

  function tellTaken(key: TemplateKey, requirers: readonly Binding[], why: string): void {
    if (taken.has(idOf(key))) return;
    taken.add(idOf(key));
    const message = `${key.kind} ${key.name} is not taken along: ${why}`;
    for (const binding of requirers)
      events.record(hub, binding, { type: "Warning", reason: "SyncScheduleResultToDependenciesFailed", message });
  }

  function tellFree(key: TemplateKey, requirers: readonly Binding[]): void {
    if (taken.size === 0 || !taken.delete(idOf(key))) return;
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
      // Made or removed meanwhile; its event brings the key back.
      if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
    }
    return undefined;
  }

  return defineKeyedController<TemplateKey>({
    name: "attach",
    writes: [namespacedScope.kind, clusterScope.kind],
    concurrency: CONCURRENCY,
    idOf,
    sources: [
      { source: informerSource(bindings, affected) },
      { source: informerSource(clusterBindings, affected) },
      // What is in an object matters to dispatch; here only whether it is there, its labels, and for whom it is.
      {
        source: templates.source(({ object, old, deleted }) =>
          isSameObject(object, old) && !deleted ? [] : [keyOfTemplate(object)],
        ),
      },
    ],

    async reconcile(key, { log, signal }) {
      // Absence of a binding means something only once all are listed.
      if (!bindings.synced || !clusterBindings.synced) return { requeueAfterMs: LOOK_AGAIN_MS };
      const object = templates.find(key);
      // With the object goes its binding, which it owns.
      if (!object || object.metadata.deletionTimestamp) {
        told.delete(idOf(key));
        taken.delete(idOf(key));
        return done;
      }
      const scope = scopeIn(key.namespace);
      const bindingKey = { cluster: hub, namespace: key.namespace || undefined, name: bindingName(key.kind, key.name) };
      const existing = (key.namespace ? bindings : clusterBindings).get(bindingKey);
      const { requirers, withheld } = requirersOf(object);
      tellWithheld(key, withheld);
      const badName = requirers.length > 0 ? derivedNameProblem(key.kind, key.namespace, key.name) : undefined;
      if (badName !== undefined) {
        tellTaken(key, requirers, badName);
        return done;
      }
      if (existing && requirers.length > 0) {
        const owner = controllerOf(existing);
        if (owner && owner.uid !== object.metadata.uid) {
          if (gvkOf(existing.spec.resource).group !== key.group)
            tellTaken(
              key,
              requirers,
              `binding ${bindingKey.name} belongs to an object of another API group, which the names of bindings do not contain; rename one of the two objects`,
            );
          return { requeueAfterMs: LOOK_AGAIN_MS };
        }
        if (existing.metadata.deletionTimestamp) return { requeueAfterMs: LOOK_AGAIN_MS };
      }
      if (existing?.metadata.deletionTimestamp) return done;
      tellFree(key, requirers);

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

const runsSomewhere = ({ spec }: Binding): boolean =>
  Boolean(spec.clusters?.length) || Boolean(spec.gracefulEvictionTasks?.length);

function isAttached({ metadata, spec }: Binding): boolean {
  return (
    Boolean(spec.requiredBy?.length) ||
    Object.keys(metadata.labels ?? {}).some((label) => label.startsWith(DEPENDED_BY_PREFIX))
  );
}

/** Members report all the time; their reports change nothing here. */
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
