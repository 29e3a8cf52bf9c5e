/** The number of pods that the controllers of a budget's pods maintain. */
import { controllerOf, isNotFound } from "@flotilla/apimachinery";
import type { OwnerReference } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { UnknownKindError } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import type { Informers } from "@flotilla/controller-runtime";
import { Deployment } from "../deployment/deployment-kind.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import { createScales } from "../workloads/scales.ts";

/** The controllers of pods, each with one of its pods. */
export type PodOwners = ReadonlyMap<string, { owner: DeepReadonly<OwnerReference>; pod: string }>;

/** The controllers of these pods, and the number of pods without one. */
export function ownersOf(pods: readonly ReadonlyPod[]): { owners: PodOwners; unmanaged: number } {
  const owners = new Map<string, { owner: DeepReadonly<OwnerReference>; pod: string }>();
  let unmanaged = 0;
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner) owners.set(owner.uid, { owner, pod: pod.metadata.name });
    else unmanaged++;
  }
  return { owners, unmanaged };
}

export interface ExpectedPods {
  /** The sum of the desired replicas of these controllers. */
  count(owners: PodOwners, key: ObjectKey, signal: AbortSignal): Promise<number>;
}

export function createExpectedPods({ client, informers }: { client: Client; informers: Informers }): ExpectedPods {
  const scales = createScales(client);

  /** Undefined if the owner was deleted, is another one of the same name, or has no scale. */
  async function scaleOf(
    owner: DeepReadonly<OwnerReference>,
    { cluster, namespace = "" }: ObjectKey,
    signal: AbortSignal,
  ): Promise<{ uid: string; replicas: number } | undefined> {
    // The pods of a rollout belong to several ReplicaSets, which together have the Deployment's replicas.
    const replicaSet =
      owner.kind === ReplicaSet.kind
        ? informers.of(ReplicaSet).get({ cluster, namespace, name: owner.name })
        : undefined;
    const above = replicaSet && controllerOf(replicaSet);
    const target = above?.kind === Deployment.kind ? above : owner;
    try {
      const scale = await scales.read(
        { cluster, namespace, apiVersion: target.apiVersion, kind: target.kind, name: target.name },
        signal,
      );
      return scale.uid === target.uid ? { uid: target.uid, replicas: scale.replicas } : undefined;
    } catch (error) {
      if (isNotFound(error) || error instanceof UnknownKindError) return undefined;
      throw error;
    }
  }

  return {
    async count(owners, key, signal) {
      const replicas = new Map<string, number>();
      for (const { owner, pod } of owners.values()) {
        const scale = await scaleOf(owner, key, signal);
        if (!scale) throw new FlotillaError("Disruption", `found no controllers for pod "${pod}"`);
        replicas.set(scale.uid, scale.replicas);
      }
      let sum = 0;
      for (const count of replicas.values()) sum += count;
      return sum;
    },
  };
}
