/**
 * Impersonation: `kubectl --as`, `--as-group`, and proxies that pass on their caller's identity.
 *
 * The controllers of the server cannot be impersonated. Five modes can allow other impersonation. The constrained modes
 * need a right on the impersonated user and another on the
 * action (`impersonate-on:<mode>:<verb>`). The legacy mode needs `impersonate` on each name, group, uid and extra, and
 * then allows every action. The first matching mode wins; when none matches, the caller receives the error of the first
 * mode.
 */
import {
  NODE_NAME_EXTRA,
  ANONYMOUS_USER,
  AUTHENTICATED_GROUP,
  MASTERS_GROUP,
  NODES_GROUP,
  NODE_PREFIX,
  UNAUTHENTICATED_GROUP,
  accountGroups,
  accountOfUser,
} from "@flotilla/kubernetes";
import { setOwn } from "@flotilla/base";
import { ApiError, badRequest, dnsLabelProblems, dnsSubdomainProblems } from "@flotilla/apimachinery";
import { accessDenied } from "../request/authorize.ts";
import type { AccessRequest, AccessedResource, Authorizer, IsController } from "../request/authorize.ts";
import { confirm, Decisions } from "../request/decisions.ts";
import type { ApiRequest } from "../request/request.ts";
import type { UserInfo } from "../request/user-info.ts";

const EXTRA_HEADER = "impersonate-extra-";
const AUTHENTICATION_GROUP = "authentication.k8s.io";
const EXTRA_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
/** From this many values on, the right to all of them is checked first. */
const CHECK_ALL_FROM = 4;

/** The identity that a request impersonates. */
interface ImpersonatedIdentity {
  name: string;
  uid: string;
  groups: string[];
  extra: Record<string, string[]>;
}

/** The user that a request acts as: the impersonated user, or the sender. Throws or rejects with 400 and 403. */
export function actingUser(
  { authorizer, isController }: { authorizer: Pick<Authorizer, "decide">; isController: IsController },
  request: Pick<ApiRequest, "headers" | "rawHeaders" | "user">,
  access: Omit<AccessRequest, "user">,
): UserInfo | Promise<UserInfo> {
  const identity = impersonatedIdentity(request);
  if (!identity) return request.user;
  // Users who may impersonate all groups, such as administrators of a logical cluster, are not trusted like the server's own.
  if (isController(identity))
    throw accessDenied(
      { ...access, verb: "impersonate", resource: { group: "", resource: "groups" }, user: request.user },
      "impersonating the controllers of the server is not allowed",
    );
  const decisions = new Decisions(authorizer);
  return decisions.settle(() => impersonate(decisions, identity, { ...access, user: request.user }));
}

function impersonatedIdentity(request: Pick<ApiRequest, "headers" | "rawHeaders">): ImpersonatedIdentity | undefined {
  const { headers } = request;
  let found = false;
  for (const name in headers) if (name.startsWith("impersonate-")) found = true;
  if (!found) return undefined;
  const identity: ImpersonatedIdentity = { name: "", uid: "", groups: [], extra: {} };
  for (const [name, value] of headerValues(request)) {
    if (name === "impersonate-user") identity.name ||= value;
    else if (name === "impersonate-uid") identity.uid ||= value;
    else if (name === "impersonate-group") identity.groups.push(value);
    else if (name.startsWith(EXTRA_HEADER)) {
      const key = unescapeKey(name.slice(EXTRA_HEADER.length));
      setOwn(identity.extra, key, [...(Object.hasOwn(identity.extra, key) ? (identity.extra[key] ?? []) : []), value]);
    }
  }
  if (identity.name !== "") return identity;
  if (identity.uid === "" && identity.groups.length === 0 && Object.keys(identity.extra).length === 0) return undefined;
  throw badRequest("requested to impersonate a group, uid or extra without impersonating a user name");
}

/** Returns every header line separately: group names may contain commas, so joined lines cannot be split again. */
function* headerValues({
  headers,
  rawHeaders,
}: Pick<ApiRequest, "headers" | "rawHeaders">): Generator<[name: string, value: string]> {
  if (rawHeaders) {
    for (let index = 0; index + 1 < rawHeaders.length; index += 2)
      yield [(rawHeaders[index] ?? "").toLowerCase(), rawHeaders[index + 1] ?? ""];
    return;
  }
  for (const name in headers) for (const value of (headers[name] ?? "").split(", ")) yield [name, value];
}

function unescapeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text; // Invalid escapes are taken literally.
  }
}

type Mode = "associated-node" | "arbitrary-node" | "serviceaccount" | "user-info";

function impersonate(decisions: Decisions, identity: ImpersonatedIdentity, access: AccessRequest): UserInfo {
  let refusal: ApiError | undefined;
  for (const mode of [...constrainedModes(identity, access.user), undefined]) {
    try {
      if (mode) check(decisions, { ...access, verb: `impersonate-on:${mode}:${access.verb}` });
      return checkIdentity(decisions, identity, access, mode);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal ??= error;
    }
  }
  throw refusal ?? accessDenied(access);
}

function constrainedModes(identity: ImpersonatedIdentity, requester: UserInfo): Mode[] {
  const onlyName = identity.uid === "" && identity.groups.length === 0 && Object.keys(identity.extra).length === 0;
  const node = nodeOf(identity.name);
  if (node !== undefined) {
    if (!onlyName) return [];
    const home = requester.extra?.[NODE_NAME_EXTRA];
    const isAssociated = accountOfUser(requester.name) !== undefined && home?.length === 1 && home[0] === node;
    return isAssociated ? ["associated-node", "arbitrary-node"] : ["arbitrary-node"];
  }
  if (accountOf(identity.name)) return onlyName ? ["serviceaccount"] : [];
  return ["user-info"];
}

/** Checks the right to each part of the impersonated identity. Without a mode it checks legacy impersonation. */
function checkIdentity(
  decisions: Decisions,
  identity: ImpersonatedIdentity,
  access: AccessRequest,
  mode: Mode | undefined,
): UserInfo {
  const verb = mode ? `impersonate:${mode}` : "impersonate";
  const namesGroup = mode ? AUTHENTICATION_GROUP : "";
  const { user, cluster } = access;
  const question = (resource: AccessedResource): AccessRequest => ({ user, cluster, verb, resource });
  const account = accountOf(identity.name);
  const node = mode && nodeOf(identity.name);
  if (node !== undefined)
    check(decisions, question({ group: namesGroup, resource: "nodes", name: mode === "associated-node" ? "*" : node }));
  else if (account) check(decisions, question({ group: namesGroup, resource: "serviceaccounts", ...account }));
  else check(decisions, question({ group: namesGroup, resource: "users", name: identity.name }));
  if (identity.uid !== "")
    check(decisions, question({ group: AUTHENTICATION_GROUP, resource: "uids", name: identity.uid }));
  checkGroups(decisions, identity.groups, mode !== undefined, (name) =>
    question({ group: namesGroup, resource: "groups", name }),
  );
  checkExtra(decisions, identity.extra, mode !== undefined, (subresource, name) =>
    question({ group: AUTHENTICATION_GROUP, resource: "userextras", subresource, name }),
  );

  const given =
    node !== undefined
      ? [NODES_GROUP]
      : account && identity.groups.length === 0
        ? accountGroups(account.namespace)
        : identity.groups;
  const implied =
    identity.name === ANONYMOUS_USER
      ? UNAUTHENTICATED_GROUP
      : given.includes(UNAUTHENTICATED_GROUP)
        ? undefined
        : AUTHENTICATED_GROUP;
  const groups = implied === undefined || given.includes(implied) ? given : [...given, implied];
  return {
    name: identity.name,
    uid: identity.uid !== "" ? identity.uid : undefined,
    groups,
    extra: Object.keys(identity.extra).length > 0 ? identity.extra : undefined,
  };
}

function checkGroups(
  decisions: Decisions,
  groups: readonly string[],
  constrained: boolean,
  question: (name?: string) => AccessRequest,
): void {
  if (constrained) {
    if (groups.includes("")) throw accessDenied(question(), "impersonating the empty string group is not allowed");
    if (groups.includes(MASTERS_GROUP))
      throw accessDenied(question(MASTERS_GROUP), `impersonating the ${MASTERS_GROUP} group is not allowed`);
    if (groups.length >= CHECK_ALL_FROM && decisions.decide(question("*")).allowed) return;
  }
  for (const group of groups) check(decisions, question(group));
}

function checkExtra(
  decisions: Decisions,
  extra: Readonly<Record<string, readonly string[]>>,
  constrained: boolean,
  question: (key?: string, value?: string) => AccessRequest,
): void {
  const entries = Object.entries(extra);
  if (entries.length === 0) return;
  if (constrained) {
    for (const [key, values] of entries) {
      const problem = extraProblem(key, values);
      if (problem !== undefined) throw accessDenied(question(), problem);
    }
    if (
      entries.reduce((count, [, values]) => count + values.length, 0) >= CHECK_ALL_FROM &&
      decisions.decide(question("*", "*")).allowed
    )
      return;
  }
  for (const [key, values] of entries) for (const value of values) check(decisions, question(key, value));
}

function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const invalid = keyProblem(key);
  if (invalid !== undefined)
    return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${invalid}`;
  if (key !== key.toLowerCase())
    return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
  return values.includes("") ? "impersonating the empty string value in extra is not allowed" : undefined;
}

function keyProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  const domain = key.slice(0, Math.max(slash, 0));
  const path = key.slice(slash + 1);
  if (domain === "" || path === "")
    return `${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`;
  const [problem] = dnsSubdomainProblems(domain);
  if (problem !== undefined) return `${JSON.stringify(domain)}: ${problem}`;
  return EXTRA_PATH.test(path)
    ? undefined
    : `${JSON.stringify(path)}: Invalid path (regex used for validation is '${EXTRA_PATH.source.slice(1, -1)}')`;
}

function check(decisions: Decisions, request: AccessRequest): void {
  confirm(request, decisions.decide(request));
}

function nodeOf(user: string): string | undefined {
  if (!user.startsWith(NODE_PREFIX)) return undefined;
  const name = user.slice(NODE_PREFIX.length);
  return dnsSubdomainProblems(name).length === 0 ? name : undefined;
}

/** A user name with the prefix of a service account but an invalid account name is a plain user. */
function accountOf(user: string): { namespace: string; name: string } | undefined {
  const account = accountOfUser(user);
  return account && dnsLabelProblems(account.namespace).length === 0 && dnsSubdomainProblems(account.name).length === 0
    ? account
    : undefined;
}
