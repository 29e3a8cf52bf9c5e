/**
 * `/healthz`, `/livez` and `/readyz`: named checks, each of which can be requested or excluded. A server that responds
 * at all has opened its store and built its resources, so most checks can only succeed. Those that can fail: whether
 * the server is about to stop, whether its disk accepts writes, and whether the controllers in its process are healthy.
 */
import type { ApiResponse } from "../request/request.ts";
import { textResponse } from "../request/respond.ts";
import type { Route } from "../request/router.ts";

export interface HealthState {
  /** The server is about to stop: clients should connect elsewhere, but may finish running requests. */
  readonly draining: boolean;
  /** Whether the controllers in this process are healthy. */
  areControllersHealthy?(): boolean;
  /** Whether the store accepts writes. */
  takesWrites?(): boolean;
  /** Whether the quota of the store is used up, or nearly so. */
  isStoreNearlyFull?(): boolean;
}

type Endpoint = Extract<Route, { type: "health" }>["endpoint"];

interface Check {
  name: string;
  isReadiness?: true;
  /**
   * Applies to the server as a whole and only to the hub. If a member failed it, its workloads would be evicted because
   * of a disk that all clusters of the server share.
   */
  isOfHub?: true;
  /** A failure is reported, but the server stays ready: a client must reach it to delete something. */
  isWarning?: true;
  passes?(state: HealthState): boolean;
}

/** In the order in which they are listed. The names are those that Kubernetes' tests and tools expect. */
const CHECKS: readonly Check[] = [
  { name: "ping" },
  { name: "log" },
  { name: "etcd" },
  { name: "etcd-readiness", isReadiness: true },
  { name: "informer-sync", isReadiness: true },
  { name: "poststarthook/start-apiserver-admission-initializer" },
  { name: "poststarthook/generic-apiserver-start-informers" },
  { name: "poststarthook/priority-and-fairness-config-consumer" },
  { name: "poststarthook/priority-and-fairness-filter" },
  { name: "poststarthook/storage-object-count-tracker-hook" },
  { name: "poststarthook/start-apiextensions-informers" },
  { name: "poststarthook/start-apiextensions-controllers" },
  { name: "poststarthook/crd-informer-synced" },
  { name: "poststarthook/start-system-namespaces-controller" },
  { name: "poststarthook/start-cluster-authentication-info-controller" },
  { name: "poststarthook/storage-readiness" },
  { name: "poststarthook/start-legacy-token-tracking-controller" },
  { name: "poststarthook/start-service-ip-repair-controllers" },
  { name: "poststarthook/rbac/bootstrap-roles" },
  { name: "poststarthook/scheduling/bootstrap-system-priority-classes" },
  { name: "poststarthook/priority-and-fairness-config-producer" },
  { name: "poststarthook/bootstrap-controller" },
  { name: "poststarthook/start-kubernetes-service-cidr-controller" },
  { name: "poststarthook/start-kube-aggregator-informers" },
  { name: "poststarthook/apiservice-status-local-available-controller" },
  { name: "poststarthook/apiservice-status-remote-available-controller" },
  { name: "poststarthook/apiservice-registration-controller" },
  { name: "poststarthook/apiservice-discovery-controller" },
  { name: "poststarthook/kube-apiserver-autoregistration" },
  { name: "autoregister-completion" },
  { name: "poststarthook/apiservice-openapi-controller" },
  { name: "poststarthook/apiservice-openapiv3-controller" },
  { name: "controllers", isReadiness: true, passes: (state) => state.areControllersHealthy?.() ?? true },
  { name: "store-writes", isReadiness: true, isOfHub: true, passes: (state) => state.takesWrites?.() ?? true },
  {
    name: "store-quota",
    isReadiness: true,
    isOfHub: true,
    isWarning: true,
    passes: (state) => !(state.isStoreNearlyFull?.() ?? false),
  },
  { name: "shutdown", isReadiness: true, passes: ({ draining }) => !draining },
];

const checksOf = (endpoint: Endpoint, isHub: boolean): readonly Check[] =>
  CHECKS.filter(({ isReadiness, isOfHub }) => (!isReadiness || endpoint === "readyz") && (!isOfHub || isHub));

/** The paths of all checks, for the list of paths. */
export function healthPaths(isHub: boolean): string[] {
  return (["healthz", "livez", "readyz"] as const).flatMap((endpoint) => [
    `/${endpoint}`,
    ...checksOf(endpoint, isHub).map(({ name }) => `/${endpoint}/${name}`),
  ]);
}

export function healthResponse(
  { endpoint, check }: Extract<Route, { type: "health" }>,
  query: URLSearchParams,
  state: HealthState,
  isHub: boolean,
): ApiResponse {
  const checks = checksOf(endpoint, isHub);
  const passes = (candidate: Check): boolean => candidate.passes?.(state) ?? true;
  if (check !== undefined) {
    const found = checks.find(({ name }) => name === check);
    if (!found) return textResponse(404, "404 page not found\n");
    return passes(found)
      ? textResponse(200, "ok")
      : textResponse(500, `internal server error: ${check} check failed\n`);
  }
  const excluded = new Set(query.getAll("exclude"));
  const lines: string[] = [];
  let failed = false;
  for (const candidate of checks) {
    if (excluded.delete(candidate.name)) lines.push(`[+]${candidate.name} excluded: ok`);
    else if (passes(candidate)) lines.push(`[+]${candidate.name} ok`);
    else {
      failed ||= !candidate.isWarning;
      lines.push(`[-]${candidate.name} failed: reason withheld`);
    }
  }
  if (excluded.size > 0)
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${[...excluded]
        .sort()
        .map((name) => JSON.stringify(name))
        .join(", ")}`,
    );
  if (failed) return textResponse(500, `${lines.join("\n")}\n${endpoint} check failed\n`);
  return textResponse(200, query.has("verbose") ? `${lines.join("\n")}\n${endpoint} check passed\n` : "ok");
}
