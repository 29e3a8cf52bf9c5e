/**
 * The workloads of pods, for budgets: their desired replicas and the owners of their pods. Kinds known to OpenKruise
 * are read from informers; any other through its scale subresource.
 */
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import {
  createScales,
  Deployment,
  ownedBy,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from "@flotilla/kubernetes";
import { controllerOf, matchesLabels, parseApiVersion, parseLabelSelector } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import type { Informers } from "@flotilla/controller-runtime";
import type { Workload, WorkloadRef } from "./budget-scope.ts";

type Replicated = KubernetesObject & { spec?: { replicas?: number } };

const KNOWN: readonly Kind<Replicated>[] = [
  ReplicationController,
  Deployment,
  ReplicaSet,
  StatefulSet,
  CloneSet,
  AdvancedStatefulSet,
];
/** Kinds whose scale changes a budget at once, before their pods change. */
export const SCALED_KINDS = [Deployment, StatefulSet, CloneSet, AdvancedStatefulSet] as const;

export const isKind = ({ group, kind }: Kind, ref: Pick<WorkloadRef, "apiVersion" | "kind">): boolean =>
  ref.kind === kind && parseApiVersion(ref.apiVersion).group === group;

export interface Workloads {
  /** Undefined if it does not exist, is another one of that name, or is terminating. */
  find(
    namespace: Pick<ObjectKey, "cluster" | "namespace">,
    ref: WorkloadRef,
    signal: AbortSignal,
  ): Promise<Workload | undefined>;
}

export function createWorkloads({ client, informers }: { client: Client; informers: Informers }): Workloads {
  const scales = createScales(client);

  function known(
    { cluster, namespace }: Pick<ObjectKey, "cluster" | "namespace">,
    kind: Kind<Replicated>,
    ref: WorkloadRef,
  ): Workload | undefined {
    const object = informers.of(kind).get({ cluster, namespace: namespace || undefined, name: ref.name });
    if (!object || (ref.uid !== undefined && object.metadata.uid !== ref.uid)) return undefined;
    const above = isKind(ReplicaSet, ref) && ref.uid !== undefined ? controllerOf(object) : undefined;
    // The pods of a rollout belong to several ReplicaSets, which together have the Deployment's replicas.
    if (above && isKind(Deployment, above))
      return known({ cluster, namespace: namespace || undefined }, Deployment, above);
    if (object.metadata.deletionTimestamp) return undefined;
    const uid = object.metadata.uid ?? "";
    return {
      uid,
      replicas: object.spec?.replicas ?? 1,
      ownerUids: kind.kind === Deployment.kind ? ownersIn(cluster, uid) : [uid],
    };
  }

  function ownersIn(cluster: string, deployment: string): string[] {
    const sets: DeepReadonly<KubernetesObject>[] = ownedBy(informers.of(ReplicaSet), cluster, deployment);
    return sets.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.uid ?? "");
  }

  return {
    async find({ cluster, namespace = "" }, ref, signal) {
      const kind = KNOWN.find((candidate) => isKind(candidate, ref));
      if (kind) return known({ cluster, namespace }, kind, ref);
      const scale = await scales.read(
        { cluster, namespace, apiVersion: ref.apiVersion, kind: ref.kind, name: ref.name },
        signal,
      );
      if (!scale || (ref.uid !== undefined && scale.uid !== ref.uid)) return undefined;
      const selector = scale.selector === "" ? undefined : parseLabelSelector(scale.selector);
      return {
        uid: scale.uid,
        replicas: scale.replicas,
        ownerUids: [scale.uid],
        selector: selector ? (labels) => matchesLabels(selector, labels) : undefined,
      };
    },
  };
}
