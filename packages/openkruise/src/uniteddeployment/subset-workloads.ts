/**
 * The workloads of a UnitedDeployment's subsets, of any of the four kinds: finds them, writes them, and waits until a
 * write is visible in the informers.
 */
import { controllerOf, isNotFound } from "@flotilla/apimachinery";
import { invariant } from "@flotilla/base";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import { createExpectations, ownedBy, Pod, ReplicaSet, writeAll } from "@flotilla/kubernetes";
import type { Expectations, Owner, ReadonlyPod, WorkloadDependencies } from "@flotilla/kubernetes";
import { DEPLOYMENT_REVISION_LABEL, RESERVED_LABEL, SUBSET_LABEL } from "./uniteddeployment-names.ts";
import type { ExistingSubset } from "./provision.ts";
import type { Finding } from "./schedulable.ts";
import { partitionOf, SUBSET_KINDS } from "./subset-kinds.ts";
import type { ReadonlyWorkload, SubsetKind } from "./subset-kinds.ts";
import { UnitedDeployment } from "./uniteddeployment-kind.ts";

const INDEX = "united-deployment";

export interface SubsetWorkloads {
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  /** Oldest first, without terminating ones. */
  of(kind: SubsetKind, owner: Owner): ReadonlyWorkload[];
  /** Workloads of the owner of all kinds but this one. */
  ofOtherKinds(kind: SubsetKind, owner: Owner): { kind: SubsetKind; workload: ReadonlyWorkload }[];
  /** The first workload of each subset, and the surplus ones. */
  classify(
    kind: SubsetKind,
    owner: Owner,
    updatedRevision: string,
  ): { subsets: Map<string, ExistingSubset>; duplicates: ReadonlyWorkload[] };
  create(owner: Owner, kind: SubsetKind, workload: ReadonlyWorkload, signal: AbortSignal): Promise<void>;
  update(owner: Owner, kind: SubsetKind, workload: ReadonlyWorkload, signal: AbortSignal): Promise<void>;
  delete(owner: Owner, kind: SubsetKind, workload: ReadonlyWorkload, signal: AbortSignal): Promise<void>;
  /** Marks pods as reserved or not. */
  relabel(owner: Owner, changes: Finding["relabel"], signal: AbortSignal): Promise<void>;
  deletePod(owner: Owner, pod: ReadonlyPod, signal: AbortSignal): Promise<void>;
}

export function createSubsetWorkloads({ client, informers, clock }: WorkloadDependencies): SubsetWorkloads {
  const pods = informers.of(Pod);
  const replicaSets = informers.of(ReplicaSet);
  const podsSeen = createExpectations(pods, clock);
  const byKind = new Map(
    SUBSET_KINDS.map((kind) => {
      const informer = informers.of(kind.kind);
      informer.addIndex(INDEX, (object, cluster) =>
        controllerOf(object)?.kind === UnitedDeployment.kind ? [`${cluster}/${controllerOf(object)?.uid ?? ""}`] : [],
      );
      return [kind, { informer, seen: createExpectations(informer, clock) }] as const;
    }),
  );

  const seenOf = (kind: SubsetKind): Expectations => {
    const found = byKind.get(kind);
    invariant(found, `subsets cannot be of kind ${kind.type}`);
    return found.seen;
  };

  function podsOf(kind: SubsetKind, cluster: string, uid: string | undefined): ReadonlyPod[] {
    if (kind.type !== "Deployment") return ownedBy(pods, cluster, uid);
    return ownedBy(replicaSets, cluster, uid).flatMap((set) => ownedBy(pods, cluster, set.metadata.uid));
  }

  function subsetOf(
    kind: SubsetKind,
    workload: ReadonlyWorkload,
    name: string,
    cluster: string,
  ): Omit<ExistingSubset, "updatedRevision"> {
    const { spec, status, metadata } = workload;
    const partition = partitionOf(kind, workload);
    return {
      name,
      workload,
      specReplicas: spec.replicas ?? 0,
      replicas: status?.replicas ?? 0,
      readyReplicas: status?.readyReplicas ?? 0,
      pods: podsOf(kind, cluster, metadata.uid),
      revision: metadata.labels?.[DEPLOYMENT_REVISION_LABEL] ?? "",
      partition,
    };
  }

  const workloads: SubsetWorkloads = {
    waitMs: (owner) => Math.max(podsSeen.waitMs(owner), ...byKind.values().map(({ seen }) => seen.waitMs(owner))),

    of(kind, { cluster, uid }) {
      const found = byKind.get(kind)?.informer.by(INDEX, `${cluster}/${uid}`) ?? [];
      const age = ({ metadata }: ReadonlyWorkload): string => `${metadata.creationTimestamp ?? ""}/${metadata.name}`;
      return found.filter(({ metadata }) => !metadata.deletionTimestamp).toSorted((a, b) => (age(a) < age(b) ? -1 : 1));
    },

    ofOtherKinds: (except, owner) =>
      SUBSET_KINDS.filter((kind) => kind !== except).flatMap((kind) =>
        workloads.of(kind, owner).map((workload) => ({ kind, workload })),
      ),

    classify(kind, owner, updatedRevision) {
      const subsets = new Map<string, ExistingSubset>();
      const duplicates: ReadonlyWorkload[] = [];
      for (const workload of workloads.of(kind, owner)) {
        const name = workload.metadata.labels?.[SUBSET_LABEL] ?? "";
        if (name === "") continue;
        if (subsets.has(name)) duplicates.push(workload);
        else subsets.set(name, { ...subsetOf(kind, workload, name, owner.cluster), updatedRevision });
      }
      return { subsets, duplicates };
    },

    async create(owner, kind, workload, signal) {
      seenOf(kind).wrote(owner, await client.create(kind.kind, owner.cluster, workload, { signal }));
    },

    async update(owner, kind, workload, signal) {
      const written = await unlessChanged(client.update(kind.kind, owner.cluster, workload, { signal }));
      if (written) seenOf(kind).wrote(owner, written);
    },

    async delete(owner, kind, workload, signal) {
      try {
        await client.delete(kind.kind, keyOf(owner.cluster, workload), {
          preconditions: { uid: workload.metadata.uid ?? "" },
          propagationPolicy: "Background",
          signal,
        });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      seenOf(kind).deleted(owner, workload);
    },

    async relabel(owner, changes, signal) {
      await writeAll("pod labels", changes, async ({ pod, reserved }) => {
        const labels = { ...pod.metadata.labels, [RESERVED_LABEL]: String(reserved) };
        const written = await unlessChanged(
          client.update(Pod, owner.cluster, { ...pod, metadata: { ...pod.metadata, labels } }, { signal }),
        );
        if (written) podsSeen.wrote(owner, written);
      });
    },

    async deletePod(owner, pod, signal) {
      await unlessChanged(
        client.delete(Pod, keyOf(owner.cluster, pod), { preconditions: { uid: pod.metadata.uid ?? "" }, signal }),
      );
    },
  };
  return workloads;
}
