/**
 * The members' side of every work: a view of the objects that its manifests name and of the note that the member keeps of the work, and
 * the news that one of them changed.
 */
import { AppliedManifestWork } from "../../api/index.ts";
import type { KubernetesObject, ManifestWork } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import type { Delivery, ObjectRef, Subscription } from "../../delivery/index.ts";
import { keyOf } from "../../runtime/index.ts";
import type { Informer, Lane, Source } from "../../runtime/index.ts";
import type { DryRunAs } from "./executor.ts";
import { manifestsOf, refOf } from "./manifests.ts";

type Work = DeepReadonly<ManifestWork>;

/** A member, as works reach it. */
export interface WorkMember {
  delivery: Delivery;
  /** For what works keep on the member besides their objects. Its writes go into what `delivery` observes. */
  client: Client;
  /** The member's name in keys for this client. */
  cluster: string;
  dryRunAs: DryRunAs;
  /** A member that leaves keeps what it runs: `release` takes our notes off if it answers, `abandon` does not ask it. */
  farewell?: "release" | "abandon";
}

export type MemberFor = (cluster: string) => WorkMember | undefined;

export interface WorkObjects {
  source(): Source<ObjectKey>;
  /** Undefined when the member has none or nothing is known. */
  get(work: Work, ref: ObjectRef): DeepReadonly<KubernetesObject> | undefined;
  /** Only then does undefined mean that the member does not have the object. */
  isFresh(work: Work, ref: ObjectRef): boolean;
}

interface Followed {
  spec: Work["spec"];
  refs: string;
  delivery: Delivery;
  subscription: Subscription;
}

export const appliedWorkRef = (name: string): ObjectRef => ({ apiVersion: `${AppliedManifestWork.group}/${AppliedManifestWork.storageVersion}`, kind: AppliedManifestWork.kind, name });

export function createWorkObjects({ hub, works, memberFor, appliedNameOf }: { hub: string; works: Informer<ManifestWork>; memberFor: MemberFor; appliedNameOf(work: Work): string }): WorkObjects {
  const followed = new Map<string, Followed>();
  const listeners = new Set<(key: ObjectKey, lane: Lane) => void>();

  function follow(work: Work): Subscription | undefined {
    const { namespace = "", name } = work.metadata;
    const id = `${namespace}/${name}`;
    const present = followed.get(id);
    const delivery = memberFor(namespace)?.delivery;
    if (present && present.delivery === delivery && present.spec === work.spec) return present.subscription;
    const refs = [...manifestsOf(work).flatMap(({ object, problem }) => (problem === undefined ? [refOf(object)] : [])), appliedWorkRef(appliedNameOf(work))];
    const wanted = JSON.stringify(refs);
    if (present && present.delivery === delivery && present.refs === wanted) {
      present.spec = work.spec;
      return present.subscription;
    }
    present?.subscription.close();
    followed.delete(id);
    if (!delivery) return undefined;
    const subscription = delivery.observe(refs);
    subscription.onChange((_, lane) => listeners.forEach((tell) => tell(keyOf(hub, work), lane)));
    followed.set(id, { spec: work.spec, refs: wanted, delivery, subscription });
    return subscription;
  }

  works.subscribe(({ object, deleted }) => {
    if (!deleted) follow(object);
    else {
      const id = `${object.metadata.namespace}/${object.metadata.name}`;
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
    isFresh: (work, ref) => follow(work)?.isFresh(ref) ?? false,
  };
}
