/** What admission steps read of a hub whose objects another API server keeps: informers, and its discovery. */
import { HUB, parseApiVersion } from "@flotilla/apimachinery";
import type { AnyStep, ClusterReader, KindRef, KubernetesObject } from "@flotilla/apimachinery";
import { every } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Informers, Lister } from "@flotilla/controller-runtime";
import { createDiscovery } from "@flotilla/flotilla";
import { CustomResourceDefinition } from "@flotilla/kubernetes";

const DISCOVERY_INTERVAL_MS = 30_000;

export interface HubReading {
  reader: ClusterReader;
  /** Resolves when the kinds that the hub serves are known. */
  start(signal: AbortSignal): Promise<void>;
  stop(): void;
}

export interface HubReadingOptions {
  /** Their `reads` are watched. Other kinds are read as if there were none: only rules for members read them. */
  steps: readonly AnyStep[];
  client: Client;
  informers: Informers;
  clock: Clock;
  log: Log;
}

export function createHubReading(options: HubReadingOptions): HubReading {
  const { steps, client, informers, clock, log } = options;
  const kinds = steps.flatMap(({ reads = [] }) => reads);
  const listers = new Map(kinds.map((kind) => [idOf(kind), informers.of(kind)]));
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
