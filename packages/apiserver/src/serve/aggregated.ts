/** Requests that another API server answers. */
import { proxyResponse } from "../aggregation/proxy-response.ts";
import type { RemoteService } from "../aggregation/remote-service.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import type { UserInfo } from "../request/user-info.ts";
import { splitCluster } from "../request/router.ts";
import type { Route } from "../request/router.ts";
import { findCluster } from "./operations.ts";
import type { OperationDependencies } from "./operations.ts";
import type { ObservedRequest } from "./server-metrics.ts";

/** The other server that answers for a page: the resources of its version, and their OpenAPI document. */
export function remoteOfPage(
  { aggregation }: OperationDependencies,
  cluster: string,
  route: Route,
): RemoteService | undefined {
  if (route.type === "discovery")
    return route.group === undefined || route.version === undefined
      ? undefined
      : aggregation.find(cluster, route.group, route.version);
  if (route.type !== "openapi-v3" || route.document === undefined) return undefined;
  const [root, group, version, ...rest] = route.document.split("/");
  return root === "apis" && group !== undefined && version !== undefined && rest.length === 0
    ? aggregation.find(cluster, group, version)
    : undefined;
}

/** Has another server answer. The request was authorized here; the other server authorizes it again. */
export function proxied(
  deps: OperationDependencies,
  remote: RemoteService,
  request: ApiRequest,
  seen: ObservedRequest,
  user: UserInfo,
): Promise<ApiResponse> {
  const { cluster, path } = splitCluster(request.path);
  const own = findCluster(deps, cluster);
  seen.cluster = own.name;
  seen.group = remote.group;
  seen.version = remote.version;
  return proxyResponse(remote, request, path, user);
}
