/**
 * ManagedClusterSetBinding: reports whether the bound set exists.
 *
 * Reads: ManagedClusterSetBinding, ManagedClusterSet.
 * Writes: the status of bindings.
 */
import { ManagedClusterSet, ManagedClusterSetBinding } from "@flotilla/ocm";
import { formatTime } from "@flotilla/base";
import type { Clock, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { withCondition, type NextCondition } from "@flotilla/apimachinery";
import { defineController, done, keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers } from "@flotilla/controller-runtime";

const BY_SET = "ocm.boundSet";

const boundCondition = (isThere: boolean): NextCondition => ({
  type: "Bound",
  status: isThere ? "True" : "False",
  reason: isThere ? "ClusterSetBound" : "ClusterSetNotFound",
  message: "",
});

export function createSetBindingController({
  hub,
  informers,
  client,
  clock,
}: {
  hub: string;
  informers: Informers;
  client: Client;
  clock: Clock;
}): Controller<ObjectKey> {
  const sets = informers.of(ManagedClusterSet);
  const bindings = informers.of(ManagedClusterSetBinding);
  bindings.addIndex(BY_SET, ({ spec }) => [spec.clusterSet]);

  return defineController({
    name: "ocm-cluster-set-bindings",
    for: ManagedClusterSetBinding,
    // Only creation and deletion of a set matter, not its changes.
    watches: [
      watch(ManagedClusterSet, ({ object, old, deleted }) =>
        old && !deleted ? [] : bindings.by(BY_SET, object.metadata.name).map((binding) => keyOf(hub, binding)),
      ),
    ],
    writes: [ManagedClusterSetBinding],

    async reconcile(binding, { key, signal }) {
      const before = binding.status?.conditions;
      const conditions = withCondition(
        before,
        boundCondition(sets.get({ cluster: hub, name: binding.spec.clusterSet }) !== undefined),
        formatTime(clock.now()),
      );
      if (conditions !== before)
        await client.patch(ManagedClusterSetBinding, key, { status: { conditions } } as unknown as Json, {
          type: "merge",
          subresource: "status",
          signal,
        });
      return done;
    },
  });
}
