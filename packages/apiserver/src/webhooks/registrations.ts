/**
 * The admission webhooks of every logical cluster, from its stored configurations. A configuration takes effect shortly
 * after it is written, as in kube-apiserver. Clusters without webhooks cost a write one map lookup.
 */
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { ClusterRegistry, LogicalCluster } from "../clusters/clusters.ts";
import { isMarker } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey, prefixOf } from "../resources/resources.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { Cache } from "../store/cache.ts";
import { createAdmissionHook } from "./admission-hook.ts";
import type { AdmissionHook, HookDependencies, HookType } from "./admission-hook.ts";
import { equivalentsOf } from "./equivalents.ts";
import { ruleMatches } from "./webhook-rules.ts";
import type { WebhookOperation } from "./webhook-rules.ts";

const GROUP = MutatingWebhookConfiguration.group;
const TYPES: readonly [HookType, string][] = [
  ["mutating", MutatingWebhookConfiguration.plural],
  ["validating", ValidatingWebhookConfiguration.plural],
];

/** A webhook whose rules match a request, and the version of the resource that they name. */
export interface Candidate {
  readonly hook: AdmissionHook;
  readonly served: ServedVersion;
}

export type Candidates = Readonly<Record<HookType, readonly Candidate[]>>;

type Configuration = DeepReadonly<MutatingWebhookConfiguration | ValidatingWebhookConfiguration>;

export interface WebhookRegistrations {
  /** The webhooks whose rules match; undefined when there are none. Selectors and conditions are not evaluated. */
  candidates(
    cluster: LogicalCluster,
    served: ServedVersion,
    subresource: string | undefined,
    operation: WebhookOperation,
  ): Candidates | undefined;
  /** All webhooks of a cluster, for metrics. */
  hooks(cluster: string): readonly AdmissionHook[];
  close(): void;
}

export function createWebhookRegistrations({
  cache,
  clusters,
  ...deps
}: { cache: Cache; clusters: ClusterRegistry } & HookDependencies): WebhookRegistrations {
  /** Only clusters that have webhooks. */
  const byCluster = new Map<string, ClusterHooks>();

  const load = (name: string): void => {
    const former = byCluster.get(name);
    const cluster = clusters.get(name);
    const hooks = cluster ? readHooks(cache, cluster, former?.hooks ?? [], deps) : [];
    for (const hook of former?.hooks ?? []) if (!hooks.includes(hook)) hook.retire();
    if (cluster && hooks.length > 0) byCluster.set(name, new ClusterHooks(hooks));
    else byCluster.delete(name);
  };

  const stops = TYPES.map(([, plural]) => {
    const prefix = `/${GROUP}/${plural}/`;
    for (const name of new Set(cache.list(prefix).map(({ key }) => clusterOfKey(key)))) load(name);
    return cache.watch(prefix, cache.revision, (events) => {
      for (const name of new Set(events.map(({ entry, previous }) => clusterOfKey((entry ?? previous)?.key ?? ""))))
        load(name);
    });
  });

  return {
    candidates: (cluster, served, subresource, operation) =>
      byCluster.get(cluster.name)?.candidates(cluster, served, subresource, operation),
    hooks: (cluster) => byCluster.get(cluster)?.hooks ?? [],
    close() {
      for (const stop of stops) stop();
      for (const { hooks } of byCluster.values()) for (const hook of hooks) hook.retire();
      byCluster.clear();
    },
  };
}

/** In the order of the names of configurations, then of their lists. Webhooks that did not change keep connections. */
function readHooks(
  cache: Cache,
  cluster: LogicalCluster,
  former: readonly AdmissionHook[],
  deps: HookDependencies,
): AdmissionHook[] {
  const found: AdmissionHook[] = [];
  for (const [type, plural] of TYPES) {
    const resource = cluster.table.resource(GROUP, plural);
    if (!resource) continue;
    for (const entry of cache.list(prefixOf(resource, cluster.name))) {
      if (isMarker(entry)) continue;
      const { metadata, webhooks = [] } = objectIn(entry, resource.storage) as unknown as Configuration;
      for (const settings of webhooks) {
        const known = former.find(
          (hook) =>
            hook.type === type &&
            hook.configuration === metadata.name &&
            equalJson(hook.settings as unknown as Json, settings as unknown as Json),
        );
        found.push(known ?? createAdmissionHook(metadata.name, type, settings, deps));
      }
    }
  }
  return found;
}

/** The webhooks of one cluster, indexed by what requests are about. */
class ClusterHooks {
  readonly hooks: readonly AdmissionHook[];
  readonly #known = new WeakMap<ServedVersion, Map<string, Candidates | undefined>>();

  constructor(hooks: readonly AdmissionHook[]) {
    this.hooks = hooks;
  }

  candidates(
    cluster: LogicalCluster,
    served: ServedVersion,
    subresource: string | undefined,
    operation: WebhookOperation,
  ): Candidates | undefined {
    let bySubresource = this.#known.get(served);
    if (!bySubresource) this.#known.set(served, (bySubresource = new Map()));
    const key = `${operation} ${subresource ?? ""}`;
    if (!bySubresource.has(key)) bySubresource.set(key, this.#find(cluster, served, subresource, operation));
    return bySubresource.get(key);
  }

  #find(
    cluster: LogicalCluster,
    served: ServedVersion,
    subresource: string | undefined,
    operation: WebhookOperation,
  ): Candidates | undefined {
    if (served.resource.name.group === GROUP) return undefined;
    const found: Record<HookType, Candidate[]> = { mutating: [], validating: [] };
    for (const hook of this.hooks) {
      const version = matchedVersion(hook, cluster, served, subresource, operation);
      if (version) found[hook.type].push({ hook, served: version });
    }
    return found.mutating.length + found.validating.length > 0 ? found : undefined;
  }
}

/** The version in which a webhook is asked: that of the request, or an equivalent one that its rules name. */
function matchedVersion(
  { settings }: AdmissionHook,
  cluster: LogicalCluster,
  served: ServedVersion,
  subresource: string | undefined,
  operation: WebhookOperation,
): ServedVersion | undefined {
  const rules = settings.rules ?? [];
  const matches = ({ resource, version }: ServedVersion): boolean =>
    rules.some((rule) =>
      ruleMatches(rule, {
        group: resource.name.group,
        version,
        resource: resource.name.resource,
        subresource,
        operation,
        namespaced: resource.namespaced,
      }),
    );
  if (matches(served)) return served;
  if (settings.matchPolicy === "Exact") return undefined;
  return equivalentsOf(cluster.table, served).find(matches);
}
