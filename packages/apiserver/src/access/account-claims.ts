/** The claims of service account tokens: bound tokens, and legacy tokens stored in Secrets. */
import { accountOfUser, accountUser } from "@flotilla/kubernetes";
import { isObject, defined, omitZero } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";

export const LEGACY_ISSUER = "kubernetes/serviceaccount";
const LEGACY = "kubernetes.io/serviceaccount/";

export interface NamedObject {
  name: string;
  uid: string;
}

/** The pod, Secret or node that a token is bound to. The token is valid only while that object exists. */
export interface BoundObjects {
  pod?: NamedObject;
  secret?: NamedObject;
  node?: NamedObject;
}

export interface AccountClaims extends BoundObjects {
  namespace: string;
  account: NamedObject;
  /** Undefined for tokens in Secrets, which never expire. */
  lifetime?: { issuedAt: number; notBefore: number; expires: number };
  id?: string;
  audiences?: string[];
  isLegacy: boolean;
}

export interface TokenSpec extends BoundObjects {
  namespace: string;
  account: NamedObject;
  audiences: readonly string[];
  id: string;
  /** Seconds since 1970. */
  issuedAt: number;
  lifetimeSeconds: number;
  /** Using the token after this many seconds produces a warning. */
  warnAfterSeconds?: number;
}

export function boundClaims(issuer: string, spec: TokenSpec): JsonObject {
  const { namespace, account, pod, secret, node, audiences, id, issuedAt, lifetimeSeconds, warnAfterSeconds } = spec;
  return {
    aud: [...audiences],
    exp: issuedAt + lifetimeSeconds,
    iat: issuedAt,
    iss: issuer,
    jti: id,
    "kubernetes.io": {
      namespace,
      ...defined({
        node: node ? refOf(node) : undefined,
        pod: pod ? refOf(pod) : undefined,
        secret: secret ? refOf(secret) : undefined,
      }),
      serviceaccount: refOf(account),
      ...defined({ warnafter: warnAfterSeconds === undefined ? undefined : issuedAt + warnAfterSeconds }),
    },
    nbf: issuedAt,
    sub: accountUser(namespace, account.name),
  };
}

export function legacyClaims(namespace: string, account: NamedObject, secret: string): JsonObject {
  return {
    iss: LEGACY_ISSUER,
    [`${LEGACY}namespace`]: namespace,
    [`${LEGACY}secret.name`]: secret,
    [`${LEGACY}service-account.name`]: account.name,
    [`${LEGACY}service-account.uid`]: account.uid,
    sub: accountUser(namespace, account.name),
  };
}

/** Reads verified claims. Returns undefined when the claims do not belong to a service account. */
export function readClaims(payload: JsonObject): AccountClaims | undefined {
  return payload.iss === LEGACY_ISSUER ? readLegacy(payload) : readBound(payload);
}

function readBound(payload: JsonObject): AccountClaims | undefined {
  const { sub, aud, exp, iat, nbf, jti } = payload;
  const claim = payload["kubernetes.io"];
  if (!isObject(claim) || typeof claim.namespace !== "string") return undefined;
  const account = objectOf(claim.serviceaccount);
  if (!account || sub !== accountUser(claim.namespace, account.name) || typeof exp !== "number") return undefined;
  const pod = objectOf(claim.pod);
  const secret = objectOf(claim.secret);
  const node = objectOf(claim.node);
  return {
    namespace: claim.namespace,
    account,
    pod,
    secret,
    node,
    lifetime: {
      expires: exp,
      issuedAt: typeof iat === "number" ? iat : 0,
      notBefore: typeof nbf === "number" ? nbf : 0,
    },
    id: typeof jti === "string" ? jti : undefined,
    audiences: Array.isArray(aud)
      ? aud.filter((audience) => typeof audience === "string")
      : typeof aud === "string"
        ? [aud]
        : [],
    isLegacy: false,
  };
}

function readLegacy(payload: JsonObject): AccountClaims | undefined {
  const text = (name: string): string =>
    typeof payload[LEGACY + name] === "string" ? (payload[LEGACY + name] as string) : "";
  const account = { name: text("service-account.name"), uid: text("service-account.uid") };
  const namespace = text("namespace");
  const secret = text("secret.name");
  const subject = accountOfUser(typeof payload.sub === "string" ? payload.sub : "");
  if (account.uid === "" || secret === "" || subject?.namespace !== namespace || subject.name !== account.name)
    return undefined;
  return { namespace, account, secret: { name: secret, uid: "" }, isLegacy: true };
}

function refOf({ name, uid }: NamedObject): JsonObject {
  return { name, ...omitZero({ uid }) };
}

function objectOf(value: unknown): NamedObject | undefined {
  if (!isObject(value) || typeof value.name !== "string") return undefined;
  return { name: value.name, uid: typeof value.uid === "string" ? value.uid : "" };
}
