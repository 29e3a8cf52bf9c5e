/** Endpoints that are not resources: discovery, OpenAPI, health, metrics, and the list of paths. */
import { HUB, methodNotAllowed } from "@flotilla/apimachinery";
import { openIdConfiguration, openIdKeys } from "./openid.ts";
import { METRICS_CONTENT_TYPE } from "@flotilla/base";
import type { MetricsText } from "@flotilla/base";
import { auditMetrics } from "../audit/auditor.ts";
import type { Auditor } from "../audit/auditor.ts";
import { identityMetrics } from "../identity/identity-metrics.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { foreignDocuments, foreignSwaggers, foreignVersions } from "../aggregation/foreign-versions.ts";
import { discoveryResponse } from "../discovery/discovery.ts";
import { healthPaths, healthResponse } from "./health.ts";
import { flowDumps, renderFlowDump } from "../flowcontrol/flow-dump.ts";
import type { FlowControl } from "../flowcontrol/flow-control.ts";
import type { HealthState } from "./health.ts";
import type { ServerMetrics } from "./server-metrics.ts";
import type { Replication } from "../replication/replication.ts";
import { openApiV2Response, openApiV3Response } from "../openapi/openapi.ts";
import { PageNotFound } from "../request/page-not-found.ts";
import type { OperationDependencies } from "./operations.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import { encode, jsonResponse, textResponse } from "../request/respond.ts";
import type { ResourceRoute, Route } from "../request/router.ts";
import type { VersionInfo } from "../discovery/version.ts";

export interface PageOptions {
  deps: OperationDependencies;
  version: VersionInfo;
  health: HealthState;
  metrics: ServerMetrics;
  auditor?: Auditor | undefined;
  writeIdentityMetrics?: ((text: MetricsText) => void) | undefined;
  writeControllerMetrics?(text: MetricsText): void;
  workloads?: WorkloadMetrics;
  flow?: Pick<FlowControl, "writeMetrics" | "levels">;
  /** For standby hubs; unset: there can be none. */
  replication?: Replication | undefined;
}

/** Metrics of the workloads on members. */
export interface WorkloadMetrics {
  /** Those of one logical cluster, on its own page. */
  write(text: MetricsText, cluster: string): void;
  /** Those of every member, or of the requested one: the hub's page `/metrics/members`. */
  page(only?: string): string;
}

export type PageRoute = Exclude<Route, ResourceRoute | { type: "dry-run" }>;

export function pageResponse(
  {
    deps,
    version,
    health,
    metrics,
    auditor,
    writeIdentityMetrics,
    writeControllerMetrics,
    workloads,
    flow,
    replication,
  }: PageOptions,
  cluster: LogicalCluster,
  route: PageRoute,
  request: ApiRequest,
): ApiResponse | Promise<ApiResponse> {
  if (route.type === "unknown") throw new PageNotFound();
  // Health endpoints accept any method, as in Kubernetes.
  if (route.type === "health") return healthResponse(route, request.query, health, cluster.name === HUB);
  if (route.type === "replication") {
    if (!replication || cluster.name !== HUB) throw new PageNotFound();
    return replication.respond(request, route.action);
  }
  if (request.method !== "GET") throw methodNotAllowed();
  const remotes = deps.aggregation.remotes(cluster.name);
  switch (route.type) {
    case "discovery":
      return discoveryResponse(cluster.table, foreignVersions(remotes), route, request.headers);
    case "openapi-v3":
      return openApiV3Response(cluster.table, foreignDocuments(remotes), route.document, request, deps.clock.now());
    case "openapi-v2":
      if (remotes.length === 0) return openApiV2Response(cluster.table, [], version, request);
      return foreignSwaggers(remotes, { clock: deps.clock, signal: request.signal }).then((foreign) =>
        openApiV2Response(cluster.table, foreign, version, request),
      );
    case "openid-configuration":
      return openIdConfiguration(deps.accountTokens, cluster, request);
    case "openid-keys":
      return openIdKeys(deps.accountTokens, cluster, request);
    case "version":
      return jsonResponse(200, version);
    case "flow-dump": {
      const of = flowDumps.find((dump) => route.of === dump);
      if (of === undefined || !flow) throw new PageNotFound();
      const hasDetails = Boolean(request.query.get("includeRequestDetails"));
      return textResponse(200, renderFlowDump(of, flow.levels(cluster.name), hasDetails));
    }
    case "metrics":
      if (route.of === "members") {
        if (!workloads || cluster.name !== HUB) throw new PageNotFound();
        return metricsText(workloads.page(request.query.get("cluster") ?? undefined));
      }
      // One set of controllers serves all clusters, so its metrics are reported once.
      return metricsResponse(
        metrics,
        deps,
        cluster,
        cluster.name === HUB
          ? (text) => {
              if (auditor) auditor.writeMetrics(text);
              // Dashboards expect the names also while nothing is audited.
              else for (const metric of auditMetrics) text.family(metric);
              if (writeIdentityMetrics) writeIdentityMetrics(text);
              else for (const metric of identityMetrics) text.family(metric);
              writeControllerMetrics?.(text);
            }
          : workloads && ((text) => workloads.write(text, cluster.name)),
        flow,
      );
    default:
      return jsonResponse(200, { paths: rootPaths(cluster) });
  }
}

function metricsResponse(
  metrics: ServerMetrics,
  { store, pressure, configured, conversions, aggregation }: OperationDependencies,
  cluster: LogicalCluster,
  more: PageOptions["writeControllerMetrics"],
  flow: PageOptions["flow"],
): ApiResponse {
  const objects = new Map<string, number>();
  for (const resource of cluster.table.resources) {
    const { group, resource: name } = resource.name;
    const { verbs } = resource.kind;
    if (!verbs || verbs.includes("list"))
      objects.set(group ? `${name}.${group}` : name, store.count(cluster, resource));
  }
  const figures = { objects, backlogBytes: pressure.bytes(cluster.name) };
  return metricsText(
    metrics.render(cluster.name, figures, (text) => {
      configured.writeMetrics(cluster.name, text);
      flow?.writeMetrics(cluster.name, text);
      conversions.writeMetrics(cluster.name, text);
      aggregation.writeMetrics(cluster.name, text);
      more?.(text);
    }),
  );
}

function metricsText(text: string): ApiResponse {
  return {
    status: 200,
    headers: { "content-type": METRICS_CONTENT_TYPE, "cache-control": "no-cache, private" },
    body: encode(text),
  };
}

function rootPaths({ name, table }: LogicalCluster): string[] {
  const paths = new Set([
    "/.well-known/openid-configuration",
    "/api",
    "/apis",
    "/apis/",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openid/v1/jwks",
    "/version",
    ...healthPaths(name === HUB),
  ]);
  for (const { versions } of table.resources) {
    for (const { apiVersion } of versions) {
      if (!apiVersion.includes("/")) paths.add(`/api/${apiVersion}`);
      else paths.add(`/apis/${apiVersion.split("/", 1)[0] ?? ""}`).add(`/apis/${apiVersion}`);
    }
  }
  return [...paths].sort();
}
