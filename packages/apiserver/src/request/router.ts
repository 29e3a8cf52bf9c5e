/**
 * Parses the path of a request. Pure string processing: the cluster's resource table determines whether the resource
 * exists.
 *
 * `/clusters/<name>/…` addresses a logical cluster; paths without it address the hub, because standard tools only
 * accept a host and a port.
 */
import { badRequest, HUB, pathNotFound } from "@flotilla/apimachinery";

export interface ResourceRoute {
  type: "resource";
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  name?: string;
  subresource?: string;
  /** The path after the subresource, for proxies; without a leading slash. */
  rest: string;
  /** The legacy `/watch/` prefix, which turns any read into a watch. */
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
  /** `/metrics`, and `/metrics/members` for the workloads on members. */
  | { type: "metrics"; of: "server" | "members" }
  /** `/debug/api_priority_and_fairness/dump_…` */
  | { type: "flow-dump"; of: string }
  /** What a standby hub asks: `/replication/changes`, `/replication/step-down`. */
  | { type: "replication"; action: "changes" | "step-down" }
  /** Several requests in one dry run. */
  | { type: "dry-run" }
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
  const plain = path.slice(1, end).split("/");
  const segments = path.includes("%") ? plain.map(decode) : plain;
  switch (segments[0]) {
    case "api":
      return segments.length === 1 ? { type: "discovery", legacy: true } : routeOfVersion("", segments, 1, true);
    case "apis":
      if (segments.length === 1) return { type: "discovery", legacy: false };
      if (segments.length === 2) return { type: "discovery", legacy: false, group: segments[1] ?? "" };
      return routeOfVersion(segments[1] ?? "", segments, 2, false);
    case "openapi":
      if (segments[1] === "v2" && segments.length === 2) return { type: "openapi-v2" };
      if (segments[1] === "v3")
        return segments.length === 2
          ? { type: "openapi-v3" }
          : { type: "openapi-v3", document: segments.slice(2).join("/") };
      return UNKNOWN;
    case ".well-known":
      return segments[1] === "openid-configuration" && segments.length === 2
        ? { type: "openid-configuration" }
        : UNKNOWN;
    case "openid":
      return segments[1] === "v1" && segments[2] === "jwks" && segments.length === 3
        ? { type: "openid-keys" }
        : UNKNOWN;
    case "version":
      return segments.length === 1 ? { type: "version" } : UNKNOWN;
    case "healthz":
    case "livez":
    case "readyz":
      if (end < path.length) return UNKNOWN;
      return {
        type: "health",
        endpoint: segments[0],
        check: segments.length > 1 ? segments.slice(1).join("/") : undefined,
      };
    case "metrics":
      if (segments.length === 1) return { type: "metrics", of: "server" };
      return segments[1] === "members" && segments.length === 2 ? { type: "metrics", of: "members" } : UNKNOWN;
    case "debug":
      return segments[1] === "api_priority_and_fairness" && segments.length === 3
        ? { type: "flow-dump", of: segments[2]?.replace(/^dump_/, "") ?? "" }
        : UNKNOWN;
    case "replication":
      return segments.length === 2 && (segments[1] === "changes" || segments[1] === "step-down")
        ? { type: "replication", action: segments[1] }
        : UNKNOWN;
    case "dry-run":
      return segments.length === 1 ? { type: "dry-run" } : UNKNOWN;
    case "":
      return segments.length === 1 ? { type: "root" } : UNKNOWN;
    default:
      return UNKNOWN;
  }
}

/** Parses the path after `/api/` or `/apis/<group>/`, starting at a segment: a version, then a resource in it. */
function routeOfVersion(group: string, segments: readonly string[], start: number, legacy: boolean): Route {
  const version = segments[start] ?? "";
  if (segments.length === start + 1) return { type: "discovery", legacy, group, version };
  const watch = segments[start + 1] === "watch" && segments.length > start + 2;
  const first = start + (watch ? 2 : 1);
  // `namespaces/a/pods` is about pods, while `namespaces/a/status` is about the namespace itself.
  const third = segments[first + 2];
  const inNamespace = segments[first] === "namespaces" && third !== undefined && !NAMESPACE_SUBRESOURCES.has(third);
  const at = inNamespace ? first + 2 : first;
  const namespace = inNamespace ? segments[first + 1] : undefined;
  const resource = segments[at] ?? "";
  const name = segments[at + 1];
  const subresource = segments[at + 2];
  if (resource === "" || namespace === "" || name === "" || subresource === "") return UNKNOWN;
  return {
    type: "resource",
    group,
    version,
    resource,
    namespace,
    name,
    subresource,
    rest: segments.length > at + 3 ? segments.slice(at + 3).join("/") : "",
    watch,
  };
}

const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

function decode(segment: string): string {
  if (!segment.includes("%")) return segment;
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch (error) {
    throw badRequest(`the path contains a malformed escape: ${segment} (${(error as Error).message})`);
  }
  // A slash inside a segment would reach into the key of another object; no such name is served.
  if (text.includes("/")) throw pathNotFound();
  return text;
}
