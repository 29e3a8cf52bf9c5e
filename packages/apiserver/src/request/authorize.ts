/**
 * Authorization: the question that every request asks, and the forbidden error in Kubernetes' wording. `access/rbac.ts`
 * and `access/authorizer-chain.ts` implement it.
 */
import { MASTERS_GROUP } from "@flotilla/kubernetes";
import type { PolicyRule, RoleRef } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { ApiError, forbidden } from "@flotilla/apimachinery";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { UserInfo } from "./user-info.ts";

export interface AccessRequest {
  user: UserInfo;
  verb: string;
  cluster: string;
  /** Set for resource requests. */
  resource?: AccessedResource;
  /** Set for nonresource requests: `/version`. */
  path?: string;
}

export interface AccessedResource {
  group: string;
  /** Only webhooks read it; unset is any. */
  version?: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  /** What a request about several objects is limited to; rules of roles do not read it. */
  fieldSelector?: string | undefined;
}

export interface Decision {
  readonly allowed: boolean;
  /** The binding that allows the request, or the errors that occurred while looking for one; often empty. */
  readonly reason: string;
  /** An authorizer rejects the request, whatever later ones would say. */
  readonly denied?: boolean | undefined;
  /** Set when an authorizer failed, and none allows the request. */
  readonly error?: string | undefined;
}

/** All rules that apply to a user; `missing` are the roles that bindings name but that do not exist. */
interface UserRules {
  rules: DeepReadonly<PolicyRule>[];
  missing: RoleRef[];
  /** Why there may be more rules than these; unset when these are all. */
  incomplete?: string | undefined;
}

export interface Authorizer {
  /** Called for every request: answers at once from memory, unless a webhook has to be called. */
  decide(request: AccessRequest): Decision | Promise<Decision>;
  /** The rules of a user in a namespace, or in the whole cluster without a namespace. */
  rulesFor(cluster: LogicalCluster, user: UserInfo, namespace: string | undefined): UserRules;
  /** The rules of a role; undefined when it does not exist. */
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

/** Members of this group may do everything, whatever the roles of a cluster allow. */
export function isMaster({ groups }: UserInfo): boolean {
  return groups.includes(MASTERS_GROUP);
}

/** The forbidden error, in Kubernetes' wording. */
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
