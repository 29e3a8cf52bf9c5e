/**
 * Propagates the hub's namespaces to every member, so that a template finds its namespace there.
 *
 * Reads: Namespace, Cluster, ClusterOverridePolicy; ClusterResourceBinding, for namespaces that a policy selects.
 * Writes: Work, one per namespace and member. Outside the pipeline: execute applies these Works like any other. Where a
 * policy propagates a namespace to a member, dispatch owns the Work there; it returns to this stage when the policy
 * moves the namespace elsewhere, so that no move ever deletes a namespace.
 */
import {
  bindingName,
  Cluster,
  clusterNameOf,
  ClusterOverridePolicy,
  ClusterResourceBinding,
  executionNamespace,
  Work,
} from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, watch } from "@flotilla/controller-runtime";
import type { Controller, Lister } from "@flotilla/controller-runtime";
import { targetsOf } from "../bindings/target-clusters.ts";
import { isTouched } from "../works/work-index.ts";
import { planNamespaceWorks } from "./plan-namespace-works.ts";
import type { RenderNamespace } from "./plan-namespace-works.ts";
import { NAMESPACE_LABEL } from "../../flotilla-names.ts";

/** The Works that are replaced: those of a namespace on the members that no policy propagates it to. */
export interface SyncedNamespace {
  readonly name: string;
  readonly isBound: (cluster: string) => boolean;
}

export interface NamespacesDependencies {
  namespaces: Lister<Namespace>;
  clusters: Lister<Cluster>;
  clusterBindings: Lister<ResourceBinding>;
  render: RenderNamespace;
  worksOf(namespace: string): readonly DeepReadonly<Work>[];
  works: {
    replace(
      owner: SyncedNamespace,
      desired: readonly DeepReadonly<Work>[],
      signal: AbortSignal,
    ): Promise<{ created: number; updated: number; deleted: number }>;
  };
}

export function createNamespacesController({
  namespaces,
  clusters,
  clusterBindings,
  render,
  worksOf,
  works,
}: NamespacesDependencies): Controller<ObjectKey> {
  const all = (cluster: string): ObjectKey[] =>
    namespaces.list({ cluster }).map(({ metadata }) => ({ cluster, name: metadata.name }));

  function boundMembers(key: ObjectKey): ReadonlySet<string> {
    const binding = clusterBindings.get({ cluster: key.cluster, name: bindingName("Namespace", key.name) });
    const isLive = binding && !binding.metadata.deletionTimestamp && binding.spec.resource.kind === "Namespace";
    return new Set(isLive ? targetsOf(binding.spec).map(({ name }) => name) : []);
  }

  return defineKeyedController<ObjectKey>({
    name: "namespaces",
    writes: [Work],
    idOf: idOfKey,
    sources: [
      watch(Namespace, ({ cluster, object }) => [{ cluster, name: object.metadata.name }]),
      // A Work that another client deleted or changed is restored.
      watch(Work, (event) => {
        const name = (event.old ?? event.object).metadata.labels?.[NAMESPACE_LABEL];
        return name && isTouched(event) ? [{ cluster: event.cluster, name }] : [];
      }),
      // A new member needs every namespace, and overrides select members by their spec and labels; a member's status
      // does not matter here.
      watch(Cluster, ({ cluster, object, old, deleted }) => {
        const marks = ({ metadata }: DeepReadonly<Cluster>): unknown => [
          metadata.generation,
          metadata.deletionTimestamp,
          metadata.labels,
        ];
        return old && !deleted && equalJson(marks(old), marks(object)) ? [] : all(cluster);
      }),
      watch(ClusterOverridePolicy, ({ cluster, object, old }) => {
        const policies = old ? [object, old] : [object];
        // A policy without selectors matches every object.
        if (policies.some(({ spec }) => !spec.resourceSelectors?.length)) return all(cluster);
        const names = policies
          .flatMap(({ spec }) => spec.resourceSelectors ?? [])
          .flatMap(({ apiVersion, kind, name = "" }) => (apiVersion === "v1" && kind === "Namespace" ? [name] : []));
        return names.includes("") ? all(cluster) : names.map((name) => ({ cluster, name }));
      }),
      watch<ResourceBinding>(ClusterResourceBinding, ({ cluster, object: { spec }, old, deleted }) =>
        spec.resource.kind !== "Namespace" || (old && !deleted && equalJson(targetsOf(old.spec), targetsOf(spec)))
          ? []
          : [{ cluster, name: spec.resource.name }],
      ),
    ],

    async reconcile(key, { log, signal }) {
      const bound = boundMembers(key);
      const free = clusters.list({ cluster: key.cluster }).filter(({ metadata }) => !bound.has(metadata.name));
      const plan = planNamespaceWorks(namespaces.get(key), free, render);
      if (plan === "leave") return done;
      const failed = new Set(plan.failures.map(({ cluster }) => executionNamespace(cluster)));
      const desired = [
        ...plan.works,
        ...worksOf(key.name).filter(({ metadata }) => failed.has(metadata.namespace ?? "")),
      ];
      const changes = await works.replace(
        { name: key.name, isBound: (cluster) => bound.has(cluster) },
        desired,
        signal,
      );
      if (changes.created + changes.deleted > 0)
        log.info("namespace works written", { namespace: key.name, ...changes });
      for (const { error } of plan.failures) throw error;
      return done;
    },
  });
}

/** The Works that this stage owns. */
export function ownWorks({ isBound }: SyncedNamespace, works: readonly DeepReadonly<Work>[]): DeepReadonly<Work>[] {
  return works.filter(({ metadata }) => !isBound(clusterNameOf(metadata.namespace ?? "") ?? ""));
}
