/**
 * Who may do what. The `Authorizer` is a seam: this one is thin, so that everything that is not plainly allowed is refused in
 * the words that clients know.
 */
import { ApiError, forbidden } from "../machinery/index.ts";
import type { UserInfo } from "./request.ts";

export interface AccessRequest {
  user: UserInfo;
  verb: string;
  cluster: string;
  /** Set for requests that are about a resource. */
  resource?: { group: string; resource: string; subresource?: string; namespace?: string; name?: string };
  /** Set for the others: `/version`. */
  path?: string;
}

export interface Authorizer {
  allows(request: AccessRequest): boolean;
}

const OPEN_PATHS = new Set(["/healthz", "/livez", "/readyz", "/version"]);
const DISCOVERY = /^\/(api|apis|openapi)(\/|$)/;

/** `system:masters` may do everything; whoever is authenticated may look at discovery, version and health. */
export const thinAuthorizer: Authorizer = {
  allows({ user: { groups }, verb, path }) {
    if (groups.includes("system:masters")) return true;
    if (path === undefined || (verb !== "get" && verb !== "head")) return false;
    if (OPEN_PATHS.has(path)) return true;
    return groups.includes("system:authenticated") && (path === "/" || DISCOVERY.test(path) || path.startsWith("/livez/") || path.startsWith("/readyz/") || path.startsWith("/healthz/"));
  },
};

/** The refusal of a request, as Kubernetes words it. */
export function accessDenied({ user, verb, resource, path }: AccessRequest): ApiError {
  if (!resource) {
    return new ApiError({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `forbidden: User "${user.name}" cannot ${verb} path "${path ?? ""}"`,
      reason: "Forbidden",
      details: {},
      code: 403,
    });
  }
  const { group, name = "", namespace, subresource } = resource;
  const what = subresource ? `${resource.resource}/${subresource}` : resource.resource;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  return forbidden({ group, resource: resource.resource }, name, `User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`);
}
