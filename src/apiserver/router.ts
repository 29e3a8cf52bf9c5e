/**
 * Reads what a request is about from its path. Pure string work: whether the resource exists is for the cluster's table to say.
 *
 * `/clusters/<name>/…` addresses a logical cluster; without it the hub is meant, because stock tools take a host and a port.
 */
import { badRequest, pathNotFound } from "../machinery/index.ts";

export const HUB = "hub";

export interface ResourceRoute {
  type: "resource";
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  name?: string;
  subresource?: string;
  /** What follows the subresource, for proxies; without a leading slash. */
  rest: string;
  /** The old `/watch/` prefix, which makes any read a watch. */
  watch: boolean;
}

export type Route =
  | ResourceRoute
  /** `/api`, `/apis`, `/apis/<group>`, `/api/v1`, `/apis/<group>/<version>` */
  | { type: "discovery"; legacy: boolean; group?: string; version?: string }
  | { type: "openapi-v3"; document?: string }
  | { type: "openapi-v2" }
  | { type: "openid-configuration" }
  | { type: "openid-keys" }
  | { type: "version" }
  | { type: "health"; endpoint: "healthz" | "livez" | "readyz"; check?: string }
  | { type: "metrics" }
  | { type: "root" }
  | { type: "unknown" };

/** Splits `/clusters/<name>` off the front of a path. */
export function splitCluster(path: string): { cluster: string; path: string } {
  if (!path.startsWith("/clusters/")) return { cluster: HUB, path };
  const start = "/clusters/".length;
  const end = path.indexOf("/", start);
  if (end < 0) return { cluster: decode(path.slice(start)), path: "/" };
  return { cluster: decode(path.slice(start, end)), path: path.slice(end) };
}

const UNKNOWN: Route = { type: "unknown" };

export function routeOf(path: string): Route {
  const end = path.length > 1 && path.endsWith("/") ? path.length - 1 : path.length;
  const segments = path.slice(1, end).split("/").map(decode);
  switch (segments[0]) {
    case "api":
      return segments.length === 1 ? { type: "discovery", legacy: true } : routeOfVersion("", segments.slice(1), true);
    case "apis":
      if (segments.length === 1) return { type: "discovery", legacy: false };
      if (segments.length === 2) return { type: "discovery", legacy: false, group: segments[1] ?? "" };
      return routeOfVersion(segments[1] ?? "", segments.slice(2), false);
    case "openapi":
      if (segments[1] === "v2" && segments.length === 2) return { type: "openapi-v2" };
      if (segments[1] === "v3") return segments.length === 2 ? { type: "openapi-v3" } : { type: "openapi-v3", document: segments.slice(2).join("/") };
      return UNKNOWN;
    case ".well-known":
      return segments[1] === "openid-configuration" && segments.length === 2 ? { type: "openid-configuration" } : UNKNOWN;
    case "openid":
      return segments[1] === "v1" && segments[2] === "jwks" && segments.length === 3 ? { type: "openid-keys" } : UNKNOWN;
    case "version":
      return segments.length === 1 ? { type: "version" } : UNKNOWN;
    case "healthz":
    case "livez":
    case "readyz":
      if (end < path.length) return UNKNOWN;
      return { type: "health", endpoint: segments[0], ...(segments.length > 1 && { check: segments.slice(1).join("/") }) };
    case "metrics":
      return segments.length === 1 ? { type: "metrics" } : UNKNOWN;
    case "":
      return segments.length === 1 ? { type: "root" } : UNKNOWN;
    default:
      return UNKNOWN;
  }
}

/** The part of a path after `/api/` or `/apis/<group>/`: a version, then a resource in it. */
function routeOfVersion(group: string, segments: string[], legacy: boolean): Route {
  const version = segments[0] ?? "";
  if (segments.length === 1) return { type: "discovery", legacy, group, version };
  const watch = segments[1] === "watch" && segments.length > 2;
  const parts = segments.slice(watch ? 2 : 1);
  const route = (resource: string, rest: string[], namespace?: string): Route => {
    if (resource === "" || namespace === "" || rest[0] === "" || rest[1] === "") return UNKNOWN;
    const [name, subresource] = rest;
    return {
      type: "resource",
      group,
      version,
      resource,
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(subresource !== undefined && { subresource }),
      rest: rest.slice(2).join("/"),
      watch,
    };
  };
  // `namespaces/a/pods` is about pods, while `namespaces/a/status` is about the namespace itself.
  const [first = "", second, third] = parts;
  if (first !== "namespaces" || third === undefined || NAMESPACE_SUBRESOURCES.has(third)) return route(first, parts.slice(1));
  return route(third, parts.slice(3), second);
}

const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

function decode(segment: string): string {
  if (!segment.includes("%")) return segment;
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch (error) {
    throw badRequest(`the path holds a malformed escape: ${segment} (${(error as Error).message})`);
  }
  // A slash inside a segment would reach into the key of another object; no such thing is served.
  if (text.includes("/")) throw pathNotFound();
  return text;
}
