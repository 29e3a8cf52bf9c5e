/**
 * Several authorizers in order, as Kubernetes' AuthorizationConfiguration names them: the first that allows or denies a
 * request decides; a request without an opinion is forbidden.
 *
 * Members of system:masters and the controllers of this server ask only the roles: a webhook that is down, or that denies
 * too much, must not stop the server itself.
 */
import type { AccessRequest, Authorizer, Decision, IsController } from "../request/authorize.ts";
import { isMaster } from "../request/authorize.ts";
import type { NodeAuthorizer } from "./node-authorizer.ts";
import { nodeOf } from "./node-identity.ts";
import type { Rbac } from "./rbac.ts";
import type { Opinion } from "./opinion.ts";

/** An authorizer besides the roles of a cluster. */
export interface ForeignAuthorizer {
  readonly name: string;
  /** Answers at once where it can. Never rejects. */
  ask(request: AccessRequest): Opinion | Promise<Opinion>;
}

/** `nodes`: what kubelets may do, by the pods of their node. */
export type ConfiguredAuthorizer = "nodes" | "roles" | ForeignAuthorizer;

/** The authorizers of a server that has no configuration. */
export const DEFAULT_AUTHORIZERS: readonly ConfiguredAuthorizer[] = ["nodes", "roles"];

export function createAuthorizerChain(
  { roles, nodes }: { roles: Rbac; nodes: NodeAuthorizer },
  configuration: { readonly authorizers: readonly ConfiguredAuthorizer[] },
  isController: IsController,
): Authorizer {
  let known = chainOf(configuration.authorizers);
  const chainNow = (): Chain => {
    if (known.authorizers !== configuration.authorizers) known = chainOf(configuration.authorizers);
    return known;
  };

  /** A request is decided by the authorizers that were configured when it came. */
  function askFrom(
    authorizers: readonly ConfiguredAuthorizer[],
    index: number,
    request: AccessRequest,
    before: Collected,
  ): Decision | Promise<Decision> {
    for (let place = index; place < authorizers.length; place++) {
      const authorizer = authorizers[place] as ConfiguredAuthorizer;
      const answer =
        authorizer === "roles"
          ? opinionOfRoles(roles.decide(request))
          : (authorizer === "nodes" ? nodes : authorizer).ask(request);
      if (answer instanceof Promise)
        return answer.then((opinion) => decided(opinion, before) ?? askFrom(authorizers, place + 1, request, before));
      const decision = decided(answer, before);
      if (decision) return decision;
    }
    const { reasons, errors } = before;
    return {
      allowed: false,
      reason: reasons.join("\n"),
      error: errors.length === 0 ? undefined : errors.join("; "),
    };
  }

  return {
    decide(request) {
      const { user } = request;
      const { authorizers, areRolesEnough } = chainNow();
      if (isMaster(user) || isController(user) || (areRolesEnough && nodeOf(user) === undefined))
        return roles.decide(request);
      return askFrom(authorizers, 0, request, { reasons: [], errors: [] });
    },
    rulesFor(cluster, user, namespace) {
      const { authorizers, foreign } = chainNow();
      const known = authorizers.includes("roles")
        ? roles.rulesFor(cluster, user, namespace)
        : { rules: [], missing: [] };
      if (foreign.length > 0)
        return { ...known, incomplete: `the authorizer ${foreign.join(", ")} cannot list the rules of a user` };
      return authorizers.includes("nodes") && nodeOf(user) !== undefined
        ? { ...known, incomplete: "node authorizer does not support user rule resolution" }
        : known;
    },
    rulesOf: (...role) => roles.rulesOf(...role),
  };
}

interface Chain {
  readonly authorizers: readonly ConfiguredAuthorizer[];
  /** The names of those besides the roles and the Node authorizer. */
  readonly foreign: readonly string[];
  readonly areRolesEnough: boolean;
}

function chainOf(authorizers: readonly ConfiguredAuthorizer[]): Chain {
  const foreign = authorizers.flatMap((each) => (typeof each === "string" ? [] : [each.name]));
  return { authorizers, foreign, areRolesEnough: foreign.length === 0 && authorizers.includes("roles") };
}

/** What the authorizers without an opinion said. */
interface Collected {
  readonly reasons: string[];
  readonly errors: string[];
}

/** Undefined when the next authorizer is to be asked. */
function decided({ opinion, reason, error }: Opinion, before: Collected): Decision | undefined {
  if (opinion === "allow") return { allowed: true, reason };
  if (opinion === "deny") return { allowed: false, denied: true, reason, error };
  if (reason !== "") before.reasons.push(reason);
  if (error !== undefined) before.errors.push(error);
  return undefined;
}

const NO_OPINION: Opinion = { opinion: "none", reason: "" };

function opinionOfRoles(decision: Decision): Opinion {
  // The reason of an allowed request is computed when it is read.
  if (decision.allowed)
    return {
      opinion: "allow",
      get reason() {
        return decision.reason;
      },
    };
  return decision.reason === "" ? NO_OPINION : { opinion: "none", reason: decision.reason };
}
