/**
 * The members' side of every Work: a view of the objects that its manifests became, and the news that one of them changed.
 * Execute looks for drift in it, reflect for status; both get a Work's key when something about it moved.
 */
import type { KubernetesObject, Work } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { ObjectKey } from "../client/index.ts";
import { MANAGED_LABEL } from "../delivery/index.ts";
import type { Delivery, ObjectRef, Subscription } from "../delivery/index.ts";
import type { Informer, Lane, Source } from "../runtime/index.ts";
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

interface Followed {
  /** The spec that was last looked at: a Work whose status changed shares it, and needs no second look. */
  spec: DeepReadonly<Work>["spec"];
  refs: string;
  subscription: Subscription;
}

export function createMemberObjects({ works, deliveryFor, hub }: { works: Informer<Work>; deliveryFor: DeliveryFor; hub: string }): MemberObjects {
  const followed = new Map<string, Followed>();
  const listeners = new Set<(key: ObjectKey, lane: Lane) => void>();

  function follow(work: DeepReadonly<Work>): Subscription | undefined {
    const { namespace = "", name } = work.metadata;
    const id = idOf(work.metadata);
    const present = followed.get(id);
    if (present?.spec === work.spec) return present.subscription;
    const refs = refsOf(work);
    const wanted = JSON.stringify(refs);
    if (present?.refs === wanted) {
      present.spec = work.spec;
      return present.subscription;
    }
    present?.subscription.close();
    followed.delete(id);
    const delivery = deliveryFor(clusterNameOf(namespace) ?? "");
    if (!delivery) return undefined; // The cluster is not joined; execute says so on the Work.
    const subscription = delivery.observe(refs);
    subscription.onChange((_, lane) => listeners.forEach((tell) => tell({ cluster: hub, namespace, name }, lane)));
    followed.set(id, { spec: work.spec, refs: wanted, subscription });
    return subscription;
  }

  works.subscribe(({ object, deleted }) => {
    const id = idOf(object.metadata);
    if (!deleted) follow(object);
    else {
      followed.get(id)?.subscription.close();
      followed.delete(id);
    }
  });

  return {
    source: () => ({
      start(enqueue, signal) {
        const tell = (key: ObjectKey, lane: Lane): void => enqueue(key, lane);
        listeners.add(tell);
        signal.addEventListener("abort", () => listeners.delete(tell), { once: true });
      },
      isQuiet: () => true, // News come straight from the informers, which answer for themselves.
    }),
    get: (work, ref) => follow(work)?.get(ref),
    resourceOf: (work, ref) => follow(work)?.resourceOf(ref),
    isDelivered: (work, ref) => follow(work)?.get(ref)?.metadata.labels?.[MANAGED_LABEL] === "true",
    isFresh: (work, ref) => follow(work)?.isFresh(ref) ?? false,
  };
}

/** The objects that a Work's manifests name, in their order. */
export function refsOf(work: DeepReadonly<Work>): ObjectRef[] {
  return manifestsOf(work).map(refOf);
}

export function refOf({ apiVersion, kind, metadata }: DeepReadonly<KubernetesObject>): ObjectRef {
  return { apiVersion, kind, ...(metadata.namespace && { namespace: metadata.namespace }), name: metadata.name };
}

export function manifestsOf(work: DeepReadonly<Work>): DeepReadonly<KubernetesObject>[] {
  return (work.spec.workload?.manifests ?? []) as unknown as DeepReadonly<KubernetesObject>[];
}

function idOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
