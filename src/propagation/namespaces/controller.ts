/**
 * Namespaces follows the hub's namespaces to every member, so that a template finds its own there.
 *
 * Reads:  Namespace, Cluster.
 * Writes: Work, one per namespace and member.
 * Beside the pipeline: execute applies these Works like any other.
 */
import { Cluster, Namespace, Work } from "../../api/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { defineKeyedController, done, idOfKey, watch } from "../../runtime/index.ts";
import type { Controller, Lister } from "../../runtime/index.ts";
import { NAMESPACE_LABEL } from "../well-known.ts";
import { isTouched } from "../works.ts";
import { planNamespaceWorks } from "./plan-namespace-works.ts";

export interface NamespacesDependencies {
  namespaces: Lister<Namespace>;
  clusters: Lister<Cluster>;
  /** The Works of one namespace, by its key. */
  works: { replace(owner: ObjectKey, desired: readonly Work[], signal: AbortSignal): Promise<{ created: number; updated: number; deleted: number }> };
}

export function createNamespacesController({ namespaces, clusters, works }: NamespacesDependencies): Controller<ObjectKey> {
  return defineKeyedController<ObjectKey>({
    name: "namespaces",
    writes: [Work],
    idOf: idOfKey,
    sources: [
      watch(Namespace, ({ cluster, object }) => [{ cluster, name: object.metadata.name }]),
      // A Work that somebody deleted or changed is put right.
      watch(Work, (event) => {
        const name = (event.old ?? event.object).metadata.labels?.[NAMESPACE_LABEL];
        return name && isTouched(event) ? [{ cluster: event.cluster, name }] : [];
      }),
      // A new member needs every namespace; nothing else about a cluster matters here.
      watch(Cluster, ({ cluster, object, old, deleted }) =>
        old && !deleted && old.metadata.deletionTimestamp === object.metadata.deletionTimestamp ? [] : namespaces.list({ cluster }).map(({ metadata }) => ({ cluster, name: metadata.name })),
      ),
    ],

    async reconcile(key, { log, signal }) {
      const desired = planNamespaceWorks(namespaces.get(key), clusters.list({ cluster: key.cluster }));
      if (desired === "leave") return done;
      const changes = await works.replace(key, desired, signal);
      if (changes.created + changes.deleted > 0) log.info("namespace works written", { namespace: key.name, ...changes });
      return done;
    },
  });
}
