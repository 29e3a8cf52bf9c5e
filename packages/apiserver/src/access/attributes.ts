/**
 * The authorization attributes of a resource request. The verb describes the effect of the request, whatever the path
 * is called.
 */
import type { AccessedResource } from "../request/authorize.ts";
import { asksForWatch } from "../request/options.ts";
import type { ResourceRoute } from "../request/router.ts";

export function accessOf(
  method: string,
  route: ResourceRoute,
  query: URLSearchParams,
): { verb: string; resource: AccessedResource } {
  const { group, version, resource, subresource } = route;
  const verb = accessVerb(method, route, query);
  // A field selector on metadata.name turns reading a collection into reading that object. Other verbs ignore it.
  const name =
    route.name ?? (verb === "list" || verb === "watch" ? nameSelected(query.get("fieldSelector")) : undefined);
  const fieldSelector = SELECTING.has(verb) ? query.get("fieldSelector") || undefined : undefined;
  // A namespace belongs to itself, so that a role in the namespace can allow reading it.
  const namespace = route.namespace ?? (resource === "namespaces" ? route.name : undefined);
  const accessed = { group, version, resource, subresource: subresource || undefined, namespace, name };
  return { verb, resource: fieldSelector === undefined ? accessed : { ...accessed, fieldSelector } };
}

const SELECTING = new Set(["list", "watch", "deletecollection"]);

function accessVerb(method: string, { name, watch }: ResourceRoute, query: URLSearchParams): string {
  if (watch) return "watch";
  switch (method) {
    case "GET":
    case "HEAD":
      return name !== undefined ? "get" : asksForWatch(query) ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === undefined ? "deletecollection" : "delete";
    default:
      return "";
  }
}

/** The single object name that a field selector selects. */
export function nameSelected(selector: string | null | undefined): string | undefined {
  return !selector ? undefined : /(?:^|,)metadata\.name==?([^,=]+)/.exec(selector)?.[1];
}
