/** What admission steps read of a hub whose objects another API server keeps: informers, and its discovery. */
import { HUB, parseApiVersion } from "@flotilla/apimachinery";
import type { ClusterReader, Kind, KindRef, KubernetesObject } from "@flotilla/apimachinery";
import { every } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Informers, Lister } from "@flotilla/controller-runtime";
import { createDiscovery } from "@flotilla/flotilla";
import {
  Cluster,
  ClusterPropagationPolicy,
  PropagationPolicy,
  ResourceInterpreterCustomization,
} from "@flotilla/karmada";
import { CustomResourceDefinition, Namespace, StorageClass } from "@flotilla/kubernetes";
import { kruiseKinds } from "@flotilla/openkruise";

/** The kinds that steps read. Others are read as if there were none: only OpenKruise's rules for its members read them. */
const READ_KINDS: readonly Kind[] = [
  Cluster,
  PropagationPolicy,
  ClusterPropagationPolicy,
  ResourceInterpreterCustomization,
  CustomResourceDefinition,
  Namespace,
  StorageClass,
  ...kruiseKinds.filter(({ kind }) => kind === "PodUnavailableBudget"),
];
const DISCOVERY_INTERVAL_MS = 30_000;

export interface HubReading {
  reader: ClusterReader;
  /** Resolves when the kinds that the hub serves are known. */
  start(signal: AbortSignal): Promise<void>;
  stop(): void;
}

export interface HubReadingOptions {
  client: Client;
  informers: Informers;
  clock: Clock;
  log: Log;
}

export function createHubReading({ client, informers, clock, log }: HubReadingOptions): HubReading {
  const listers = new Map(READ_KINDS.map((kind) => [idOf(kind), informers.of(kind)]));
  const discovery = createDiscovery(client, HUB);
  const stopping = new AbortController();
  let served = new Map<string, { group: string; kind: string; plural: string; versions: string[] }>();

  const discover = async (signal: AbortSignal): Promise<void> => {
    const { apiEnablements } = await discovery.read(signal);
    const found: typeof served = new Map();
    for (const { groupVersion, resources = [] } of apiEnablements) {
      const { group, version } = parseApiVersion(groupVersion);
      for (const { name, kind } of resources) {
        const known = found.get(`${group}/${kind}`) ?? { group, kind, plural: name, versions: [] };
        known.versions.push(version);
        found.set(`${group}/${kind}`, known);
      }
    }
    served = found;
  };
  const refresh = (): void =>
    void discover(stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) log.debug("discovery of the hub failed, retrying", { error });
    });
  const timer = every(clock, DISCOVERY_INTERVAL_MS, refresh);
  const of = <T extends KubernetesObject>(kind: Pick<KindRef<T>, "group" | "plural">): Lister<T> | undefined =>
    listers.get(idOf(kind)) as unknown as Lister<T> | undefined;

  const list = <T extends KubernetesObject>(kind: KindRef<T>, namespace?: string): DeepReadonly<T>[] =>
    of<T>(kind)?.list({ cluster: HUB, namespace }) ?? [];
  const get = <T extends KubernetesObject>(
    kind: Pick<KindRef<T>, "group" | "plural">,
    namespace: string | undefined,
    name: string,
  ): DeepReadonly<T> | undefined => of<T>(kind)?.get({ cluster: HUB, namespace, name });

  return {
    reader: {
      get,
      list,
      written: list,
      mentions: (kind, namespace, name, text) => JSON.stringify(get(kind, namespace, name) ?? "").includes(text),
      versions: (group, kind) => served.get(`${group}/${kind}`)?.versions ?? [],
      kinds: () => served.values(),
    },
    async start(signal) {
      await discover(signal);
      // A new kind is known when its definition is, or soon afterwards.
      informers.of(CustomResourceDefinition).subscribe(() => void clock.after(1000, refresh));
    },
    stop() {
      stopping.abort();
      timer.cancel();
    },
  };
}

const idOf = ({ group, plural }: { group: string; plural: string }): string => `${group}/${plural}`;
