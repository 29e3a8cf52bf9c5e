/**
 * Finds out which members have the pods that a workload names. One list request per member, and only when a template
 * names pods that were not found before; so no member's pods are watched for it.
 */
import type { Cluster } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { controllerOf, formatLabelSelector, labelSelectorOf } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import { Pod } from "@flotilla/kubernetes";
import type { Lister } from "@flotilla/controller-runtime";
import type { MemberSource } from "./member.ts";

interface LocatedPods {
  /** Names of pods by the member that has them; pods that are being deleted are not included. */
  readonly found: ReadonlyMap<string, ReadonlySet<string>>;
  /** Members that did not answer, or that the hub cannot ask. */
  readonly unasked: readonly string[];
}

/** `owner` controls the pods. */
export type LocatePods = (owner: DeepReadonly<KubernetesObject>, clusters: readonly string[]) => Promise<LocatedPods>;

/** A healthy member answers in a fraction of this. */
const TIMEOUT_MS = 2_000;
/** Remembered failures; that of an owner that was deleted meanwhile is dropped only by newer ones. */
const MAX_FAILURES = 1_000;

interface LocatePodsDependencies {
  hub: string;
  clusters: Pick<Lister<Cluster>, "get">;
  members: Pick<MemberSource, "find">;
  clock: Clock;
  log: Log;
}

export function createLocatePods(deps: LocatePodsDependencies): LocatePods {
  const { hub, clusters, members, clock, log } = deps;
  /** The last error by owner and member: a failure is logged when it begins and when it changes. */
  const failures = new Map<string, string>();
  function logFailure(owner: DeepReadonly<KubernetesObject>, member: string, error: string | undefined): void {
    const { namespace, name } = owner.metadata;
    const key = `${hub}/${namespace ? `${namespace}/` : ""}${name}`;
    const id = `${key} ${owner.kind} ${member}`;
    if (failures.get(id) === error) return;
    failures.delete(id);
    if (error === undefined) return log.info("pods listed on a member again", { key, kind: owner.kind, member });
    failures.set(id, error);
    const [oldest] = failures.size > MAX_FAILURES ? failures.keys() : [];
    if (oldest !== undefined) failures.delete(oldest);
    log.info("pods not listed on a member", { key, kind: owner.kind, member, error });
  }

  async function podsOn(owner: DeepReadonly<KubernetesObject>, name: string): Promise<ReadonlySet<string> | undefined> {
    const cluster = clusters.get({ cluster: hub, name });
    const member = cluster && members.find(cluster);
    // The hub may not reach a member that pulls.
    if (!member || "problem" in member || !member.delivery) return undefined;
    const timeout = new AbortController();
    const timer = clock.after(TIMEOUT_MS, () =>
      timeout.abort(new Error(`${name} did not answer within ${TIMEOUT_MS / 1000} s`)),
    );
    try {
      const { items } = await member.client.list(Pod, {
        cluster: name,
        namespace: owner.metadata.namespace || undefined,
        labelSelector: selectorOf(owner),
        signal: timeout.signal,
      });
      logFailure(owner, name, undefined);
      return podNamesOf(owner, items);
    } catch (error) {
      // An edge: the caller reports the member as not asked, and asks again later.
      logFailure(owner, name, messageOf(error));
      return undefined;
    } finally {
      timer.cancel();
    }
  }

  return async (owner, names) => {
    const answers = await Promise.all(names.map(async (name) => [name, await podsOn(owner, name)] as const));
    return {
      found: new Map(answers.flatMap(([name, pods]) => (pods ? [[name, pods] as const] : []))),
      unasked: answers.flatMap(([name, pods]) => (pods ? [] : [name])),
    };
  };
}

/** Empty if the owner has none: then its pods are recognised by their controller alone. */
function selectorOf(owner: DeepReadonly<KubernetesObject>): string {
  const { spec } = owner as { spec?: { selector?: DeepReadonly<LabelSelector> } };
  return spec?.selector ? formatLabelSelector(labelSelectorOf(spec.selector)) : "";
}

/** The names of the owner's pods. The copy of a template has its name on every member, but not its UID. */
export function podNamesOf(
  owner: DeepReadonly<KubernetesObject>,
  pods: readonly DeepReadonly<KubernetesObject>[],
): ReadonlySet<string> {
  const own = pods.filter((pod) => {
    const controller = controllerOf(pod);
    return (
      pod.metadata.deletionTimestamp === undefined &&
      controller?.kind === owner.kind &&
      controller.name === owner.metadata.name
    );
  });
  return new Set(own.map(({ metadata }) => metadata.name));
}
