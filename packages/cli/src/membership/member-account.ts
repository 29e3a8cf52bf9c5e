/**
 * The hub's accounts on a member: `flotilla join` creates them and `flotilla unjoin` removes them. Names and labels are
 * karmadactl's, so that each tool can undo the other's work.
 */
import {
  ClusterRole,
  ClusterRoleBinding,
  Namespace,
  Secret,
  ServiceAccount,
  SERVICE_ACCOUNT_NAME_ANNOTATION,
  SERVICE_ACCOUNT_TOKEN_TYPE,
  RBAC_GROUP,
} from "@flotilla/kubernetes";
import { isNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, FlotillaError, isObject, sleep } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import {
  executionNamespace,
  MANAGED_LABEL,
  serviceAccountName,
  SYSTEM_LABEL,
  WORK_NAME,
  WORK_NAMESPACE,
  workName,
} from "@flotilla/karmada";

const LABELS = { [SYSTEM_LABEL]: "true" };

const IMPERSONATOR = serviceAccountName("impersonator");

/** How long a controller of the member may take to fill a token Secret. */
const TOKEN_WAIT_MS = 30_000;
const NAMESPACE_WAIT_MS = 60_000;
const LOOK_MS = 250;

export type Permissions = "scoped" | "admin";

type Rules = NonNullable<ClusterRole["rules"]>;

/**
 * The hub's rights on the member. `admin` is what karmadactl grants: everything. `scoped` reads, writes and deletes
 * objects of every kind, since any may be propagated, and nothing else: it cannot impersonate, approve certificates or
 * escalate by writing roles, except in the one role through which users of the hub reach the member as themselves.
 */
export function planRules(permissions: Permissions): Rules {
  const urls = { nonResourceURLs: ["*"], verbs: ["get"] };
  if (permissions === "admin") return [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }, urls];
  return [
    { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    {
      apiGroups: [RBAC_GROUP],
      resources: ["clusterroles"],
      resourceNames: [IMPERSONATOR],
      verbs: ["escalate", "bind"],
    },
    urls,
  ];
}

export interface AccountRequest {
  /** The name of the member; also the client's name for it. */
  cluster: string;
  namespace: string;
  permissions: Permissions;
  /** 0 requests tokens that never expire, kept in Secrets on the member as karmadactl does. */
  tokenSeconds: number;
}

export interface AccountTokens {
  token: string;
  impersonatorToken: string;
}

const roleName = (account: string): string => `karmada-controller-manager:${account}`;

/** Idempotent. */
export async function createAccounts(
  client: Client,
  request: AccountRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<AccountTokens> {
  const { cluster, namespace, permissions, tokenSeconds } = request;
  const account = serviceAccountName(cluster);
  const role = roleName(account);
  await ensureNamespace(client, cluster, namespace, clock, signal);
  for (const name of [account, IMPERSONATOR])
    await ensure(
      client,
      ServiceAccount,
      cluster,
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels: LABELS } },
      signal,
    );

  const rules = planRules(permissions);
  const found = await ensure(
    client,
    ClusterRole,
    cluster,
    { apiVersion: `${RBAC_GROUP}/v1`, kind: "ClusterRole", metadata: { name: role, labels: LABELS }, rules },
    signal,
  );
  if (!equalJson(found.rules, rules)) await client.update(ClusterRole, cluster, { ...found, rules }, { signal });
  await ensure(
    client,
    ClusterRoleBinding,
    cluster,
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: role, labels: LABELS },
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role },
      subjects: [{ kind: "ServiceAccount", name: account, namespace }],
    },
    signal,
  );
  // A right to escalate in one named role does not allow creating that role, since a new object has no name yet for
  // RBAC. So it is created here, with the labels of the Work that fills it: the hub does not change objects that others
  // own.
  const labels = { ...LABELS, [MANAGED_LABEL]: "true" };
  const annotations = {
    [WORK_NAMESPACE]: executionNamespace(cluster),
    [WORK_NAME]: workName("ClusterRole", IMPERSONATOR, ""),
  };
  const shared = await ensure(
    client,
    ClusterRole,
    cluster,
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRole",
      metadata: { name: IMPERSONATOR, labels, annotations },
      rules: [],
    },
    signal,
  );
  if (!equalJson({ ...shared.metadata.annotations, ...annotations }, shared.metadata.annotations))
    await client.patch(
      ClusterRole,
      { cluster, name: IMPERSONATOR },
      { metadata: { labels, annotations } },
      { type: "merge", signal },
    );
  const tokenOf = (name: string): Promise<string> =>
    tokenSeconds > 0
      ? requestToken(client, cluster, namespace, name, tokenSeconds, signal)
      : secretToken(client, cluster, namespace, name, clock, signal);
  return { token: await tokenOf(account), impersonatorToken: await tokenOf(IMPERSONATOR) };
}

/** Resolves with what stays because others use it too. */
export async function removeAccounts(
  client: Client,
  { cluster, namespace }: Pick<AccountRequest, "cluster" | "namespace">,
  signal: AbortSignal,
): Promise<string[]> {
  const account = serviceAccountName(cluster);
  const role = roleName(account);
  const remove = (kind: Kind, name: string, inNamespace?: string): Promise<void> =>
    deleteIfThere(client, kind, { cluster, name, namespace: inNamespace || undefined }, signal);
  await remove(ClusterRoleBinding, role);
  await remove(ClusterRole, role);
  await remove(Secret, account, namespace);
  await remove(ServiceAccount, account, namespace);

  const { items } = await client.list(ServiceAccount, { cluster, namespace, signal });
  const others = items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== "default" && name !== IMPERSONATOR);
  if (others.length > 0)
    return [
      `the namespace ${namespace} stays on the member: ${others.join(", ")} of other hubs ${others.length === 1 ? "is" : "are"} in it`,
    ];
  const found = await find(client, Namespace, { cluster, name: namespace }, { signal });
  if (found && found.metadata.labels?.[SYSTEM_LABEL] !== "true")
    return [`the namespace ${namespace} stays on the member: it existed before`];
  await remove(ClusterRoleBinding, IMPERSONATOR);
  await remove(ClusterRole, IMPERSONATOR);
  await remove(Namespace, namespace);
  return [];
}

/** Waits for a namespace that a recent unjoin is deleting. */
async function ensureNamespace(
  client: Client,
  cluster: string,
  name: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.now() + NAMESPACE_WAIT_MS;
  for (;;) {
    const { metadata } = await ensure(
      client,
      Namespace,
      cluster,
      { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: LABELS } },
      signal,
    );
    if (!metadata.deletionTimestamp) return;
    if (clock.now() >= untilMs)
      throw new FlotillaError(
        "Namespace",
        `the namespace ${name} of ${cluster} has been deleting for longer than ${NAMESPACE_WAIT_MS / 1000} s; try again when it is deleted`,
      );
    await sleep(clock, LOOK_MS, signal);
  }
}

/** Creates missing objects; existing ones are not changed. */
export async function ensure<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  cluster: string,
  object: DeepReadonly<T>,
  signal: AbortSignal,
): Promise<DeepReadonly<T>> {
  const { name, namespace } = object.metadata;
  return (
    (await find(client, kind, { cluster, name, namespace }, { signal })) ??
    client.create(kind, cluster, object, { signal })
  );
}

async function deleteIfThere(
  client: Client,
  kind: Kind,
  key: { cluster: string; namespace?: string; name: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.delete(kind, key, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** A token that expires; the hub renews it before that. */
async function requestToken(
  client: Client,
  cluster: string,
  namespace: string,
  account: string,
  expirationSeconds: number,
  signal: AbortSignal,
): Promise<string> {
  const body = Buffer.from(
    JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds } }),
  );
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const answer = await client.raw(
    {
      method: "POST",
      path,
      cluster,
      headers: { "content-type": "application/json", accept: "application/json" },
      body,
    },
    signal,
  );
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const parsed: unknown = answer.status < 300 ? JSON.parse(Buffer.concat(chunks).toString("utf8")) : undefined;
  const status = isObject(parsed) ? (parsed as Record<string, Json>)["status"] : undefined;
  const token = isObject(status) ? status["token"] : undefined;
  if (typeof token !== "string")
    throw new FlotillaError(
      "Token",
      `requesting a token of ${namespace}/${account} from ${cluster}: it returned ${answer.status}; use --token-days 0 for a token that never expires`,
    );
  return token;
}

async function secretToken(
  client: Client,
  cluster: string,
  namespace: string,
  account: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const wanted: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: account, namespace, annotations: { [SERVICE_ACCOUNT_NAME_ANNOTATION]: account } },
    type: SERVICE_ACCOUNT_TOKEN_TYPE,
  };
  const untilMs = clock.now() + TOKEN_WAIT_MS;
  for (;;) {
    const { data } = await ensure(client, Secret, cluster, wanted, signal);
    if (data?.["token"]) return Buffer.from(data["token"], "base64").toString("utf8");
    if (clock.now() >= untilMs)
      throw new FlotillaError(
        "Token",
        `waiting for the token of ${namespace}/${account} on ${cluster}: its Secret was not filled within ` +
          `${TOKEN_WAIT_MS / 1000} s; check that a controller manager runs there`,
      );
    await sleep(clock, LOOK_MS, signal);
  }
}
