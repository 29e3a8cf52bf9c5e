/**
 * The authorizer library of admission expressions: who may do what. The decision comes from a callback, so that an
 * expression knows no server.
 */
import { dnsLabelProblems, dnsSubdomainProblems } from "@flotilla/apimachinery";
import type { Row } from "../types/functions.ts";
import { CelError, CelOpaque, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

export interface AuthorizedUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Empty strings are values that the expression did not set. */
export interface AuthorizedResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** As written. A selector that cannot be parsed does not restrict the check. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** What an expression asks about: a resource in any version, or the path of a request that names no resource. */
export type AuthorizationCheck = { readonly user: AuthorizedUser; readonly verb: string } & (
  | { readonly resource: AuthorizedResource; readonly path?: undefined }
  | { readonly path: string; readonly resource?: undefined }
);

interface AuthorizationDecision {
  readonly allowed: boolean;
  readonly reason: string;
  /** Set when the authorizer failed. */
  readonly error?: string | undefined;
}

export type Authorize = (check: AuthorizationCheck) => AuthorizationDecision;

/** Values that only have functions, and that cannot be compared. */
abstract class AuthorizationValue extends CelOpaque {
  equals(): CelError {
    return NO_SUCH_OVERLOAD;
  }
}

export class CelAuthorizer extends AuthorizationValue {
  readonly typeName = "kubernetes.authorization.Authorizer";
  readonly user: AuthorizedUser;
  readonly authorize: Authorize;
  constructor(user: AuthorizedUser, authorize: Authorize) {
    super();
    this.user = user;
    this.authorize = authorize;
  }
}

class PathCheck extends AuthorizationValue {
  readonly typeName = "kubernetes.authorization.PathCheck";
  readonly authorizer: CelAuthorizer;
  readonly path: string;
  constructor(authorizer: CelAuthorizer, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck extends AuthorizationValue {
  readonly typeName = "kubernetes.authorization.GroupCheck";
  readonly authorizer: CelAuthorizer;
  readonly group: string;
  constructor(authorizer: CelAuthorizer, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

export class ResourceCheck extends AuthorizationValue {
  readonly typeName = "kubernetes.authorization.ResourceCheck";
  private readonly authorizer: CelAuthorizer;
  private readonly resource: AuthorizedResource;
  constructor(authorizer: CelAuthorizer, resource: AuthorizedResource) {
    super();
    this.authorizer = authorizer;
    this.resource = resource;
  }

  with(change: Partial<AuthorizedResource>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.resource, ...change });
  }

  check(verb: string): Decision {
    const { user, authorize } = this.authorizer;
    return new Decision(authorize({ user, verb, resource: this.resource }));
  }
}

class Decision extends AuthorizationValue {
  readonly typeName = "kubernetes.authorization.Decision";
  readonly decision: AuthorizationDecision;
  constructor(decision: AuthorizationDecision) {
    super();
    this.decision = decision;
  }
}

/** A check on all objects of a resource in the cluster, for expressions to narrow. */
export const resourceCheck = (authorizer: CelAuthorizer, group: string, resource: string): ResourceCheck =>
  new ResourceCheck(authorizer, {
    group,
    resource,
    subresource: "",
    namespace: "",
    name: "",
    fieldSelector: "",
    labelSelector: "",
  });

function pathOf(authorizer: CelAuthorizer, path: string): CelValue {
  return path.trim() === "" ? new CelError("path must not be empty") : new PathCheck(authorizer, path);
}

function resourceOf({ authorizer, group }: GroupCheck, resource: string): CelValue {
  return resource.trim() === ""
    ? new CelError("resource must not be empty")
    : resourceCheck(authorizer, group, resource);
}

function serviceAccountOf({ authorize }: CelAuthorizer, namespace: string, name: string): CelValue {
  if (dnsSubdomainProblems(name).length > 0) return new CelError("Invalid service account name");
  if (dnsLabelProblems(namespace).length > 0) return new CelError("Invalid service account namespace");
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return new CelAuthorizer({ username: `system:serviceaccount:${namespace}:${name}`, groups }, authorize);
}

const checkPath = ({ authorizer: { user, authorize }, path }: PathCheck, verb: string): CelValue =>
  new Decision(authorize({ user, verb, path }));

/** A function that sets one part of a resource check. */
const setting =
  (part: keyof AuthorizedResource) =>
  (check: ResourceCheck, value: string): CelValue =>
    check.with({ [part]: value });

export const authorizer: readonly Row[] = [
  ["path", "authorizer_path", "Authorizer.(string) -> PathCheck", pathOf],
  [
    "group",
    "authorizer_group",
    "Authorizer.(string) -> GroupCheck",
    (check: CelAuthorizer, group: string) => new GroupCheck(check, group),
  ],
  ["serviceAccount", "authorizer_serviceaccount", "Authorizer.(string, string) -> Authorizer", serviceAccountOf],
  ["resource", "groupcheck_resource", "GroupCheck.(string) -> ResourceCheck", resourceOf],
  ["subresource", "resourcecheck_subresource", "ResourceCheck.(string) -> ResourceCheck", setting("subresource")],
  ["namespace", "resourcecheck_namespace", "ResourceCheck.(string) -> ResourceCheck", setting("namespace")],
  ["name", "resourcecheck_name", "ResourceCheck.(string) -> ResourceCheck", setting("name")],
  ["fieldSelector", "authorizer_fieldselector", "ResourceCheck.(string) -> ResourceCheck", setting("fieldSelector")],
  ["labelSelector", "authorizer_labelselector", "ResourceCheck.(string) -> ResourceCheck", setting("labelSelector")],
  ["check", "pathcheck_check", "PathCheck.(string) -> Decision", checkPath],
  [
    "check",
    "resourcecheck_check",
    "ResourceCheck.(string) -> Decision",
    (check: ResourceCheck, verb: string) => check.check(verb),
  ],
  ["allowed", "decision_allowed", "Decision.() -> bool", ({ decision }: Decision) => decision.allowed],
  ["reason", "decision_reason", "Decision.() -> string", ({ decision }: Decision) => decision.reason],
  ["error", "decision_error", "Decision.() -> string", ({ decision }: Decision) => decision.error ?? ""],
  ["errored", "decision_errored", "Decision.() -> bool", ({ decision }: Decision) => decision.error !== undefined],
];
