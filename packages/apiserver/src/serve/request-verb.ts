/** The verb of a request for a resource: what it does, by its method and its path. */
import { asksForWatch } from "../request/options.ts";
import { routeOf, splitCluster } from "../request/router.ts";
import type { ResourceRoute } from "../request/router.ts";
import type { ApiRequest } from "../request/request.ts";
import type { Verb } from "./operations.ts";

/** Undefined for a method that the path does not support. */
export function verbOf(
  method: string,
  { name, watch, subresource }: ResourceRoute,
  query: URLSearchParams,
): Verb | undefined {
  if (watch) return method === "GET" ? "watch" : undefined;
  if (name !== undefined && subresource !== undefined && isConnect(subresource)) return "connect";
  switch (method) {
    case "GET":
      if (name !== undefined) return "get";
      return asksForWatch(query) ? "watch" : "list";
    case "POST":
      if (name === undefined || subresource !== undefined) return "create";
      break;
    case "PUT":
      if (name !== undefined) return "update";
      break;
    case "PATCH":
      if (name !== undefined) return "patch";
      break;
    case "DELETE":
      return name === undefined ? "deletecollection" : "delete";
    default:
  }
  return undefined;
}

const CONNECTS = new Set(["proxy", "log", "exec", "attach", "portforward", "kubeconfig"]);
/** Subresources that code serves, and whose connections may stay open. */
export const isConnect = (subresource: string): boolean => CONNECTS.has(subresource);

/** A read that names a revision accepts what this server has; other requests must see what other servers acknowledged. */
export function readsTheNewest({ method, path, query }: ApiRequest): boolean {
  const { type } = routeOf(splitCluster(path).path);
  if (type !== "resource" && type !== "dry-run") return false;
  return method !== "GET" || !query.get("resourceVersion");
}
