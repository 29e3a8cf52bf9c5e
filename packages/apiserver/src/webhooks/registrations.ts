/** The admission webhooks of every logical cluster, from its stored configurations. */
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import type { Kind } from "@flotilla/apimachinery";
import { CandidateMemo } from "../admission-match/candidate-memo.ts";
import { CONFIGURATION_GROUP, followConfigurations, readConfigured } from "../clusters/cluster-configurations.ts";
import { equivalentsOf } from "../admission-match/equivalents.ts";
import { equivalentVersion, rulesMatch } from "../admission-match/match-rules.ts";
import type { RequestTarget } from "../admission-match/match-rules.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { BlockedAddresses } from "../clusters/tenant-addresses.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { Cache } from "../store/cache.ts";
import { createAdmissionHook } from "./admission-hook.ts";
import type { AdmissionHook, HookDependencies, HookType } from "./admission-hook.ts";
import { createSharedConnections } from "./shared-connections.ts";

const TYPES: readonly [HookType, Kind<MutatingWebhookConfiguration | ValidatingWebhookConfiguration>][] = [
  ["mutating", MutatingWebhookConfiguration],
  ["validating", ValidatingWebhookConfiguration],
];

/** A webhook whose rules match a request, and the version of the resource that they name. */
export interface Candidate {
  readonly hook: AdmissionHook;
  readonly served: ServedVersion;
}

export type Candidates = Readonly<Record<HookType, readonly Candidate[]>>;

export interface WebhookRegistrations {
  /** The webhooks whose rules match; undefined when there are none. Selectors and conditions are not evaluated. */
  candidates(cluster: LogicalCluster, target: RequestTarget): Candidates | undefined;
  /** All webhooks of a cluster, for metrics. */
  hooks(cluster: string): readonly AdmissionHook[];
  close(): void;
}

export interface RegistrationDependencies extends Omit<HookDependencies, "connect"> {
  cache: Cache;
  clusters: ClusterRegistry;
  blockedAddresses?: BlockedAddresses | undefined;
}

export function createWebhookRegistrations({
  cache,
  clusters,
  blockedAddresses,
  ...deps
}: RegistrationDependencies): WebhookRegistrations {
  const connections = createSharedConnections();
  const configured = followConfigurations<ClusterHooks>({
    group: CONFIGURATION_GROUP,
    cache,
    clusters,
    plurals: TYPES.map(([, { plural }]) => plural),
    load(cluster, former) {
      const hooks = cluster
        ? readHooks(cache, cluster, former?.hooks ?? [], {
            ...deps,
            connect: (caBundle) => connections.open(cluster.name, caBundle, blockedAddresses?.(cluster.name)),
          })
        : [];
      for (const hook of former?.hooks ?? []) if (!hooks.includes(hook)) hook.retire();
      return hooks.length > 0 ? new ClusterHooks(hooks) : undefined;
    },
  });
  return {
    candidates: (cluster, target) => configured.get(cluster.name)?.candidates(cluster, target),
    hooks: (cluster) => configured.get(cluster)?.hooks ?? [],
    close() {
      for (const { hooks } of configured.all()) for (const hook of hooks) hook.retire();
      configured.close();
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
  for (const [type, kind] of TYPES)
    for (const { metadata, webhooks = [] } of readConfigured(cache, cluster, kind))
      for (const settings of webhooks) {
        const known = former.find(
          (hook) =>
            hook.type === type &&
            hook.configuration === metadata.name &&
            equalJson(hook.settings as unknown as Json, settings as unknown as Json),
        );
        found.push(known ?? createAdmissionHook(metadata.name, type, settings, deps));
      }
  return found;
}

/** The webhooks of one cluster, indexed by what requests are about. */
class ClusterHooks {
  readonly hooks: readonly AdmissionHook[];
  readonly #memo = new CandidateMemo<Candidates>();

  constructor(hooks: readonly AdmissionHook[]) {
    this.hooks = hooks;
  }

  candidates(cluster: LogicalCluster, target: RequestTarget): Candidates | undefined {
    return this.#memo.of(target, () => this.#find(cluster, target));
  }

  #find(cluster: LogicalCluster, target: RequestTarget): Candidates | undefined {
    if (target.served.resource.name.group === CONFIGURATION_GROUP) return undefined;
    const found: Record<HookType, Candidate[]> = { mutating: [], validating: [] };
    for (const hook of this.hooks) {
      const served = matchedVersion(hook, cluster, target);
      if (served) found[hook.type].push({ hook, served });
    }
    return found.mutating.length + found.validating.length > 0 ? found : undefined;
  }
}

/** The version in which a webhook is called: that of the request, or an equivalent one that its rules name. */
function matchedVersion(
  { settings: { rules = [], matchPolicy } }: AdmissionHook,
  cluster: LogicalCluster,
  target: RequestTarget,
): ServedVersion | undefined {
  if (rulesMatch(rules, target)) return target.served;
  if (matchPolicy === "Exact") return undefined;
  return equivalentVersion(rules, target, equivalentsOf(cluster.table, target.served));
}
