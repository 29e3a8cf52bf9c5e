/**
 * The member objects of every Work: a view of the objects of its manifests, and change notifications. Execute detects
 * drift with it, reflect reads status; both receive a Work's key on every change.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { followWorks } from "../../delivery/followed-works.ts";
import type { FollowedWorks } from "../../delivery/followed-works.ts";
import type { Delivery, ObjectRef } from "../../delivery/delivery.ts";
import type { Informer } from "@flotilla/controller-runtime";
import { clusterNameOf, MANAGED_LABEL } from "@flotilla/karmada";

export interface MemberObjects {
  /** Emits Works whose member objects changed. */
  source: FollowedWorks<Work>["source"];
  /** The member's object for one manifest; undefined when it does not exist or is unknown. */
  get(work: DeepReadonly<Work>, ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined;
  /** The plural under which the member serves a manifest's kind. */
  resourceOf(work: DeepReadonly<Work>, ref: ObjectRef): string | undefined;
  /** Whether the member's object carries our delivery mark. */
  isDelivered(work: DeepReadonly<Work>, ref: ObjectRef): boolean;
  /** Only then does undefined mean that the member does not have the object. */
  isFresh(work: DeepReadonly<Work>, ref: ObjectRef): boolean;
}

export type DeliveryFor = (cluster: string) => Delivery | undefined;

export function createMemberObjects({
  works,
  deliveryFor,
  hub,
}: {
  works: Informer<Work>;
  deliveryFor: DeliveryFor;
  hub: string;
}): MemberObjects {
  // Execute reports a cluster that has not joined on the Work.
  const followed = followWorks<Work>({
    hub,
    works,
    deliveryOf: ({ metadata }) => deliveryFor(clusterNameOf(metadata.namespace ?? "") ?? ""),
    refsOf,
  });
  return {
    source: followed.source,
    get: (work, ref) => followed.of(work)?.get(ref),
    resourceOf: (work, ref) => followed.of(work)?.resourceOf(ref),
    isDelivered: (work, ref) => followed.of(work)?.get(ref)?.metadata.labels?.[MANAGED_LABEL] === "true",
    isFresh: (work, ref) => followed.of(work)?.isFresh(ref) ?? false,
  };
}

/** The objects that a Work's manifests name, in their order. */
export function refsOf(work: DeepReadonly<Work>): ObjectRef[] {
  return manifestsOf(work).map(refOf);
}

export function refOf({ apiVersion, kind, metadata }: DeepReadonly<KubernetesObject>): ObjectRef {
  return { apiVersion, kind, namespace: metadata.namespace || undefined, name: metadata.name };
}

export function manifestsOf(work: DeepReadonly<Work>): DeepReadonly<KubernetesObject>[] {
  return (work.spec.workload?.manifests ?? []) as unknown as DeepReadonly<KubernetesObject>[];
}
