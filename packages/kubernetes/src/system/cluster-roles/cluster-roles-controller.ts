/**
 * Aggregates the rules of cluster roles into roles with an aggregation rule: `admin`, `edit`, `view`, and those of
 * users.
 *
 * Reads: ClusterRole; all of a cluster when one of them changes.
 * Writes: `rules` of cluster roles with an aggregation rule.
 *
 * Clusters in which no cluster role was written are skipped: their profile is already correct.
 */
import { ClusterRole } from "../../rbac/cluster-role.ts";
import { Namespace } from "../../namespace/namespace-kind.ts";
import { aggregatedRules } from "../../rbac/aggregated-rules.ts";
import { equalJson } from "@flotilla/base";
import { isNotFound } from "@flotilla/apimachinery";
import { defineKeyedController, done, watch, type Controller } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { createWatchSource, keysOf } from "../watch-source.ts";

const FIELD_MANAGER = "clusterrole-aggregation-controller";
/** Every cluster has this namespace, so it represents the cluster when the controller starts. */
const MARKER_NAMESPACE = "kube-system";

/** Keys are cluster names. */
export function createClusterRoleController(
  deps: Pick<SystemDependencies, "client" | "informers" | "clock" | "log" | "home">,
): Controller<string> {
  const { client, informers, clock, log, home } = deps;
  const changes = createWatchSource<ClusterRole, string>({
    client,
    clock,
    log,
    kind: ClusterRole,
    // Existing roles are reconciled per cluster; an initial list of a thousand clusters would deliver a hundred
    // thousand roles at once.
    startAfter: async (signal) => (await client.list(ClusterRole, { cluster: home, limit: 1, signal })).resourceVersion,
    map: ({ cluster }) => [cluster],
    afterGap: () => new Set(keysOf(informers.of(Namespace)).map(({ cluster }) => cluster)),
  });
  return defineKeyedController<string>({
    name: "cluster-roles",
    writes: [ClusterRole],
    sources: [
      { source: changes },
      watch(Namespace, ({ cluster, object, old }) =>
        object.metadata.name === MARKER_NAMESPACE && !old ? [cluster] : [],
      ),
    ],
    idOf: (cluster) => cluster,

    async reconcile(cluster, { signal }) {
      const roles = await listRoles(cluster, signal);
      if (new Set(roles.map(({ metadata }) => metadata.resourceVersion)).size <= 1) return done;
      for (const role of roles) {
        const rules = aggregatedRules(role, roles);
        if (!rules || equalJson(rules, role.rules ?? [])) continue;
        const { apiVersion, kind, metadata } = role;
        await client.apply(
          ClusterRole,
          cluster,
          { apiVersion, kind, metadata: { name: metadata.name }, rules },
          { force: true, fieldManager: FIELD_MANAGER, signal },
        );
      }
      return done;
    },
  });

  async function listRoles(
    cluster: string,
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<typeof client.list<ClusterRole>>>["items"]> {
    try {
      return (await client.list(ClusterRole, { cluster, signal })).items;
    } catch (error) {
      if (isNotFound(error)) return []; // The cluster was deleted.
      throw error;
    }
  }
}
