/**
 * The members' side of every Work: a view of the objects that its manifests became, and the news that one of them
 * changed. Execute looks for drift in it, reflect for status; both get a Work's key when something about it moved.
 */
import type { KubernetesObject, Work } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { ObjectKey } from "../client/index.ts";
import { followWorks, MANAGED_LABEL } from "../delivery/index.ts";
import type { Delivery, ObjectRef } from "../delivery/index.ts";
import type { Informer, Source } from "../runtime/index.ts";
import { clusterNameOf } from "../api/index.ts";

export interface MemberObjects {
  /** Says which Works to look at because of their members' objects. Each controller takes its own. */
  source(): Source<ObjectKey>;
  /** What the member shows of one manifest; undefined when it has none or nothing is known. */
  get(work: DeepReadonly<Work>, ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined;
  /** The plural under which the member serves a manifest's kind. */
  resourceOf(work: DeepReadonly<Work>, ref: ObjectRef): string | undefined;
  /** Whether the member's object carries the mark of what we delivered. */
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
  // A cluster that has not joined is told on the Work by execute.
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
