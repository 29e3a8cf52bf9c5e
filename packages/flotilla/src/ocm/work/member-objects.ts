/**
 * The member side of every work: a view of the objects in its manifests and of its AppliedManifestWork, and events when
 * one of them changes.
 */
import { AppliedManifestWork } from "@flotilla/ocm";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { followWorks } from "../../delivery/followed-works.ts";
import type { Delivery, ObjectRef } from "../../delivery/delivery.ts";
import type { Informer, Source } from "@flotilla/controller-runtime";
import type { DryRunAs } from "./executor.ts";
import { manifestsOf, refOf } from "./manifests.ts";

type Work = DeepReadonly<ManifestWork>;

/** A member, as the work controllers reach it. */
export interface WorkMember {
  delivery: Delivery;
  /** For objects that works keep on the member besides their manifests. `delivery` observes its writes. */
  client: Client;
  /** The member's cluster name in keys for this client. */
  cluster: string;
  dryRunAs: DryRunAs;
  /**
   * A leaving member keeps its workloads: `release` removes our AppliedManifestWorks if it answers, `abandon` does not
   * contact it.
   */
  leaveMode?: "release" | "abandon";
}

export type MemberFor = (cluster: string) => WorkMember | undefined;

export interface WorkObjects {
  source(): Source<ObjectKey>;
  /** Undefined if the member does not have it or it is unknown. */
  get(work: Work, ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined;
  /** Only if true, undefined means that the member does not have the object. */
  isFresh(work: Work, ref: ObjectRef): boolean;
}

export const appliedWorkRef = (name: string): ObjectRef => ({
  apiVersion: `${AppliedManifestWork.group}/${AppliedManifestWork.storageVersion}`,
  kind: AppliedManifestWork.kind,
  name,
});

export function createWorkObjects({
  hub,
  works,
  memberFor,
  appliedNameOf,
}: {
  hub: string;
  works: Informer<ManifestWork>;
  memberFor: MemberFor;
  appliedNameOf(work: Work): string;
}): WorkObjects {
  const followed = followWorks<ManifestWork>({
    hub,
    works,
    deliveryOf: ({ metadata }) => memberFor(metadata.namespace ?? "")?.delivery,
    refsOf: (work) => [
      ...manifestsOf(work).flatMap(({ object, problem }) => (problem === undefined ? [refOf(object)] : [])),
      appliedWorkRef(appliedNameOf(work)),
    ],
  });
  return {
    source: followed.source,
    get: (work, ref) => followed.of(work)?.get(ref),
    isFresh: (work, ref) => followed.of(work)?.isFresh(ref) ?? false,
  };
}
