/**
 * The two roles shared by the agents of all clusters; they exist while there are clusters.
 *
 * Reads: the number of ManagedClusters.
 * Writes: these ClusterRoles.
 */
import { ClusterRole } from "@flotilla/kubernetes";
import { ManagedCluster } from "@flotilla/ocm";
import type { Client, ObjectKey } from "@flotilla/client";
import { createOwnedSet, defineKeyedController, done, idOfKey, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers } from "@flotilla/controller-runtime";
import { SHARED_ROLES, sharedRoles } from "./access.ts";
import type { ClusterSets } from "./cluster-sets.ts";

export function createSharedRolesController({
  hub,
  informers,
  client,
  sets,
}: {
  hub: string;
  informers: Informers;
  client: Client;
  sets: Pick<ClusterSets, "count">;
}): Controller<ObjectKey> {
  const known = informers.of(ClusterRole);
  const roles = createOwnedSet<ClusterRole, string>({
    client,
    kind: ClusterRole,
    clusterOf: () => hub,
    current: () => SHARED_ROLES.flatMap((name) => known.get({ cluster: hub, name }) ?? []),
  });
  const all = [{ cluster: hub, name: "shared-roles" }];

  return defineKeyedController<ObjectKey>({
    name: "ocm-shared-roles",
    writes: [ClusterRole],
    concurrency: 1,
    idOf: idOfKey,
    sources: [
      watch(ManagedCluster, ({ old, deleted }) => (old && !deleted ? [] : all)),
      watch(ClusterRole, ({ object }) => (SHARED_ROLES.includes(object.metadata.name) ? all : [])),
    ],

    async reconcile(_key, { signal }) {
      await roles.replace("", sets.count() > 0 ? sharedRoles() : [], signal);
      return done;
    },
  });
}
