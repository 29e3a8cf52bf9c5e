/**
 * Managed namespaces: every cluster of a ManagedClusterSet gets the namespaces that the set lists.
 *
 * Reads: ManagedCluster, whose status lists the namespaces; these namespaces on the member.
 * Writes: these namespaces, with a label that names the hub; in the ManagedCluster's status, whether each is available.
 * Before: registration lists the namespaces of all sets that a cluster belongs to.
 *
 * The same controller runs on a hub for the members it reaches, and in an agent for its own cluster. A namespace is
 * never deleted, because it may contain users' objects: one that no set lists any more is only labelled so.
 */
import { ManagedCluster } from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import { formatTime, messageOf, type Clock, type DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { followWorks } from "../../delivery/followed-works.ts";
import { obstacleOf } from "../../delivery/obstacles.ts";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { defineController, done, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Informers } from "@flotilla/controller-runtime";
import type { MemberFor, WorkMember, WorkOrigin } from "../work/index.ts";
import { namespaceLabel, wantedEntries, withOutcomes } from "./plan-namespaces.ts";

type Managed = DeepReadonly<ManagedCluster>;

export interface ManagedNamespaceDependencies {
  hub: string;
  /** The hub's informers. */
  informers: Informers;
  /** The hub's client, for the status. */
  client: Client;
  /** Clusters without a member belong to an agent. */
  memberFor: MemberFor;
  origin: WorkOrigin;
  clock: Clock;
}

const RECHECK_MS = 60_000;

export function createManagedNamespaceController(deps: ManagedNamespaceDependencies): Controller<ObjectKey> {
  const { hub, informers, client, memberFor, origin, clock } = deps;
  const label = namespaceLabel(origin.hubHash);
  /** The namespaces, per cluster, for which it was last verified that no others carry the label. */
  const cleared = new Map<string, string>();
  const followed = followWorks<ManagedCluster>({
    hub,
    works: informers.of(ManagedCluster),
    deliveryOf: (cluster) =>
      wantedEntries(cluster).length > 0 ? memberFor(cluster.metadata.name)?.delivery : undefined,
    refsOf: (cluster) => wantedEntries(cluster).map(({ name }) => refOf(name)),
    basisOf: ({ status }) => status?.managedNamespaces,
  });

  const relabel = (name: string, isWanted: boolean, member: WorkMember, signal: AbortSignal): Promise<unknown> =>
    member.client.patch(
      Namespace,
      { cluster: member.cluster, name },
      { metadata: { labels: { [label]: String(isWanted) } } },
      { type: "merge", signal },
    );

  async function ensure(cluster: Managed, name: string, member: WorkMember, signal: AbortSignal): Promise<void> {
    const seen = followed.of(cluster)?.get(refOf(name));
    if (seen?.metadata.labels?.[label] === "true") return;
    try {
      if (!seen)
        return void (await member.client.create(
          Namespace,
          member.cluster,
          { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { [label]: "true" } } },
          { signal },
        ));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    await relabel(name, true, member, signal);
  }

  /**
   * Runs once per process, and whenever the desired namespaces change: a cluster may have left a set while this process
   * was down.
   */
  async function clearOthers(
    cluster: string,
    wanted: ReadonlySet<string>,
    member: WorkMember,
    signal: AbortSignal,
  ): Promise<void> {
    const all = [...wanted].toSorted().join();
    if (cleared.get(cluster) === all) return;
    const { items } = await member.client.list(Namespace, {
      cluster: member.cluster,
      labelSelector: `${label}=true`,
      signal,
    });
    for (const { metadata } of items)
      if (!wanted.has(metadata.name)) await unlessChanged(relabel(metadata.name, false, member, signal));
    cleared.set(cluster, all);
  }

  return defineController({
    name: "ocm-managed-namespaces",
    for: ManagedCluster,
    watches: [{ source: followed.source() }],
    writes: [ManagedCluster],

    async reconcile(cluster, { signal }) {
      const member = memberFor(cluster.metadata.name);
      if (!member || member.leaveMode === "abandon") return done;
      const entries = wantedEntries(cluster);
      const wanted = new Set(entries.map(({ name }) => name));
      const failures = new Map<string, string>();
      let failure: unknown;
      try {
        for (const name of wanted) {
          try {
            await ensure(cluster, name, member, signal);
          } catch (error) {
            if (obstacleOf(error) === "unreachable") throw error;
            failure = error;
            failures.set(name, messageOf(error));
          }
        }
        await clearOthers(cluster.metadata.name, wanted, member, signal);
      } catch (error) {
        if (obstacleOf(error) !== "unreachable") throw error;
        return { requeueAfterMs: RECHECK_MS };
      }
      const managedNamespaces = withOutcomes(entries, failures, formatTime(clock.now()));
      if (managedNamespaces !== entries)
        await unlessChanged(
          client.updateStatus(
            ManagedCluster,
            hub,
            { ...cluster, status: { conditions: [], ...cluster.status, managedNamespaces } },
            { signal },
          ),
        );
      if (failure !== undefined) throw failure;
      return done;
    },

    forget: ({ name }) => void cleared.delete(name),
  });
}

const refOf = (name: string): { apiVersion: string; kind: string; name: string } => ({
  apiVersion: "v1",
  kind: "Namespace",
  name,
});
