/**
 * Who may do what: the question that every request asks, and the refusal in the words that clients know.
 * `access/rbac.ts` answers it.
 */
import type { PolicyRule, RoleRef } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { ApiError, forbidden } from "../../machinery/index.ts";
import type { LogicalCluster } from "../clusters/clusters.ts";
import type { UserInfo } from "./request.ts";

export interface AccessRequest {
  user: UserInfo;
  verb: string;
  cluster: string;
  /** Set for requests that are about a resource. */
  resource?: AccessedResource;
  /** Set for the others: `/version`. */
  path?: string;
}

export interface AccessedResource {
  group: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** Which binding allows it, or what stood in the way of finding one; often empty. */
  readonly reason: string;
}

/** All that applies to somebody; `missing` are the roles that bindings name and nobody has made. */
export interface UserRules {
  rules: DeepReadonly<PolicyRule>[];
  missing: RoleRef[];
}

export interface Authorizer {
  /** Answers at once and from memory: every request asks. */
  decide(request: AccessRequest): Decision;
  /** What somebody may do in a namespace, or in the whole cluster where none is given. */
  rulesFor(cluster: LogicalCluster, user: UserInfo, namespace: string | undefined): UserRules;
  /** The rules of a role; undefined when it is not there. */
  rulesOf(
    cluster: LogicalCluster,
    role: RoleRef,
    namespace: string | undefined,
  ): readonly DeepReadonly<PolicyRule>[] | undefined;
}

/**
 * Decides whether a caller is one of the controllers that belong to this server. Such callers write objects in the
 * form that is stored, may place pods, and may address stored versions that are not served. The answer depends on the
 * user and its groups alone, so a controller gets the same API in this process and over HTTP.
 */
export type IsController = (user: UserInfo) => boolean;

/** The server trusts members of one group, whose certificates and tokens only the server's bootstrap issues. */
export const memberOf =
  (group: string): IsController =>
  ({ groups }) =>
    groups.includes(group);

export const MASTERS = "system:masters";

/** Members of this group may do everything, whatever a cluster's roles say. */
export function isMaster({ groups }: UserInfo): boolean {
  return groups.includes(MASTERS);
}

/** The refusal of a request, as Kubernetes words it. */
export function accessDenied({ user, verb, resource, path }: AccessRequest, reason = ""): ApiError {
  const because = reason === "" ? "" : `: ${reason}`;
  if (!resource) {
    return new ApiError({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path ?? "")}${because}`,
      reason: "Forbidden",
      details: {},
      code: 403,
    });
  }
  const { group, name = "", namespace, subresource } = resource;
  const what = subresource ? `${resource.resource}/${subresource}` : resource.resource;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  return forbidden(
    { group, resource: resource.resource },
    name,
    `User ${JSON.stringify(user.name)} cannot ${verb} resource "${what}" in API group "${group}" ${where}${because}`,
  );
}
