/**
 * Whether a work's executor account may apply the work. The agent may do nearly everything; a work from a user may do
 * only what the account may.
 */
import { SubjectAccessReview, AUTHENTICATED_GROUP, accountGroups, accountUser, RBAC_GROUP } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestWorkExecutor } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import { FlotillaError, type DeepReadonly } from "@flotilla/base";
import { readText } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { ApiError, isAlreadyExists } from "@flotilla/apimachinery";
import { WorkMistakeError } from "./work-mistake.ts";

interface Account {
  user: string;
  groups: readonly string[];
}

/** Dry-runs a create as another user: shows whether the server would allow it. Rejects with the server's error. */
export type DryRunAs = (
  account: Account,
  kind: AnyKind,
  object: DeepReadonly<KubernetesObject>,
  signal: AbortSignal,
) => Promise<void>;

export class NotAllowedError extends FlotillaError {
  constructor(message: string) {
    super("NotAllowed", `${message}, will try again in 1m0s`);
  }
}

/** How long a rejection is cached. */
export const NOT_ALLOWED_MS = 60_000;
const RBAC_RESOURCES: ReadonlySet<string> = new Set(["roles", "rolebindings", "clusterroles", "clusterrolebindings"]);

export interface ExecutorQuestion {
  executor: DeepReadonly<ManifestWorkExecutor>;
  kind: AnyKind;
  object: DeepReadonly<KubernetesObject>;
  /** Whether the object is deleted with the work: then the account needs permission to delete it. */
  isOwned: boolean;
}

/** Throws a `NotAllowedError`, or the error that kept the member from answering. */
export async function checkExecutor(
  { executor, kind, object, isOwned }: ExecutorQuestion,
  member: { client: Client; cluster: string; dryRunAs: DryRunAs },
  signal: AbortSignal,
): Promise<void> {
  if (executor.subject.type !== "ServiceAccount")
    throw new WorkMistakeError("only support ServiceAccount type for the executor");
  if (!executor.subject.serviceAccount) throw new WorkMistakeError("the executor service account is nil");
  const { namespace, name } = executor.subject.serviceAccount;
  const account: Account = {
    user: accountUser(namespace, name),
    groups: [...accountGroups(namespace), AUTHENTICATED_GROUP],
  };
  const place = kind.scope === "Cluster" ? "" : (object.metadata.namespace ?? "");
  const refusal = `not allowed to apply the resource ${kind.group} ${kind.plural}, ${place} ${object.metadata.name}`;

  for (const verb of ["create", "update", "patch", "get", ...(isOwned ? ["delete"] : [])]) {
    const resourceAttributes = {
      group: kind.group,
      version: kind.storageVersion,
      resource: kind.plural,
      verb,
      name: object.metadata.name,
      namespace: place || undefined,
    };
    const review = await member.client.create(
      SubjectAccessReview,
      member.cluster,
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: { name: "" },
        spec: { user: account.user, groups: [...account.groups], resourceAttributes },
      },
      { signal },
    );
    if (!review.status?.allowed) throw new NotAllowedError(refusal);
  }

  // An access review does not detect privilege escalation through RBAC objects; the server does when the object is
  // created.
  if (kind.group !== RBAC_GROUP || !RBAC_RESOURCES.has(kind.plural)) return;
  try {
    await member.dryRunAs(account, kind, object, signal);
  } catch (error) {
    // The server checks permissions before it checks for an existing object.
    if (isAlreadyExists(error)) return;
    if (error instanceof ApiError && error.status.code === 403)
      throw new NotAllowedError(`${refusal}, error: permission escalation`);
    throw error;
  }
}

/**
 * For a member over a network: the request impersonates the account. The server knows the account's groups; naming them
 * would need permission to impersonate each.
 */
export function dryRunOver(client: Client, cluster: string): DryRunAs {
  return async ({ user }, { group, storageVersion, plural, scope }, object, signal) => {
    const root = group ? `/apis/${group}/${storageVersion}` : `/api/${storageVersion}`;
    const { namespace } = object.metadata;
    const path = `${root}${scope === "Namespaced" && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ""}/${plural}?dryRun=All`;
    const { status, body } = await client.raw(
      {
        method: "POST",
        path,
        cluster,
        headers: { "content-type": "application/json", accept: "application/json" },
        impersonate: { user },
        body: Buffer.from(JSON.stringify(object)),
      },
      signal,
    );
    const text = await readText(body, MAX_ANSWER_BYTES);
    if (status >= 300) throw refusalOf(status, text);
  };
}

/** The response comes from a member, which is not trusted. It is the object, or a Status. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

function refusalOf(code: number, text: string): ApiError {
  const [, reason] = /"reason":\s*"(\w{1,64})"/.exec(text) ?? [];
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: text.slice(0, 1024),
    reason,
    code,
  });
}
