/**
 * Lets the hub's users act on members as themselves: maintains on each member the role that specifies which users the
 * hub may impersonate.
 *
 * Reads: Cluster, ClusterRole, ClusterRoleBinding.
 * Writes: two Works per member that has an impersonator service account.
 */
import { Cluster, Work } from "@flotilla/karmada";
import { ClusterRole, ClusterRoleBinding } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Lister, ObjectEvent } from "@flotilla/controller-runtime";
import { planImpersonationRules, planImpersonationWorks } from "./plan-impersonation.ts";

export interface ImpersonationDependencies {
  hub: string;
  clusters: Lister<Cluster>;
  roles: Lister<ClusterRole>;
  bindings: Lister<ClusterRoleBinding>;
  works: {
    replace(
      owner: ObjectKey,
      desired: readonly Work[],
      signal: AbortSignal,
    ): Promise<{ created: number; updated: number; deleted: number }>;
  };
  events: EventRecorder;
}

export function createImpersonationController(deps: ImpersonationDependencies): Controller<ObjectKey> {
  const { hub, clusters, roles, bindings, works, events } = deps;
  const withAccount = (): ObjectKey[] =>
    clusters
      .list({ cluster: hub })
      .flatMap(({ metadata, spec }) => (spec.impersonatorSecretRef ? [{ cluster: hub, name: metadata.name }] : []));
  const unlessSame =
    <T>(part: (object: T) => unknown) =>
    ({ object, old, deleted }: { object: T; old?: T; deleted: boolean }): ObjectKey[] =>
      old && !deleted && equalJson(part(old), part(object)) ? [] : withAccount();
  return defineController({
    name: "impersonation",
    for: Cluster,
    watches: [
      watch(
        ClusterRole,
        unlessSame<ObjectEvent<ClusterRole>["object"]>(({ rules }) => rules),
      ),
      watch(
        ClusterRoleBinding,
        unlessSame<ObjectEvent<ClusterRoleBinding>["object"]>(({ subjects }) => subjects),
      ),
    ],
    writes: [Work],

    async reconcile(cluster, { key, signal }) {
      // Works are deleted with their namespace; creating new ones in it would only fail.
      if (cluster.metadata.deletionTimestamp || !cluster.spec.impersonatorSecretRef) return done;
      const rules = planImpersonationRules(key.name, roles.list({ cluster: hub }), bindings.list({ cluster: hub }));
      const { created, updated } = await works.replace(key, planImpersonationWorks(cluster, rules), signal);
      if (created + updated > 0)
        events.record(hub, cluster, {
          type: "Normal",
          reason: "SyncImpersonationConfigSucceed",
          message: "Sync impersonation config succeed.",
        });
      return done;
    },
  });
}
