/**
 * Whether the account that a work names may do what the work asks. The agent may nearly everything; a work that
 * somebody else wrote may as much as the account, and no more.
 */
import { SubjectAccessReview } from "../../api/index.ts";
import type { KubernetesObject, ManifestWorkExecutor } from "../../api/index.ts";
import { FlotillaError, type DeepReadonly } from "../../base/index.ts";
import type { AnyKind, Client } from "../../client/index.ts";
import { ApiError, isAlreadyExists } from "../../machinery/index.ts";
import { WorkMistakeError } from "./work-mistake.ts";

export interface Account {
  user: string;
  groups: readonly string[];
}

/** Creates nothing, as somebody else: shows whether the server would let them. Rejects with the server's refusal. */
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

/** How long a refusal is believed. */
export const NOT_ALLOWED_MS = 60_000;
const RBAC_GROUP = "rbac.authorization.k8s.io";
const RBAC_RESOURCES: ReadonlySet<string> = new Set(["roles", "rolebindings", "clusterroles", "clusterrolebindings"]);

export interface ExecutorQuestion {
  executor: DeepReadonly<ManifestWorkExecutor>;
  kind: AnyKind;
  object: DeepReadonly<KubernetesObject>;
  /** Whether the object goes with the work: then the account must be able to delete it. */
  isOwned: boolean;
}

/** Throws a `NotAllowedError`, or what kept the member from answering. */
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
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", "system:authenticated", `system:serviceaccounts:${namespace}`],
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

  // A review does not see that somebody hands out rights that they do not have; the server does when the object is
  // made.
  if (kind.group !== RBAC_GROUP || !RBAC_RESOURCES.has(kind.plural)) return;
  try {
    await member.dryRunAs(account, kind, object, signal);
  } catch (error) {
    // It is asked about rights before it looks for the object.
    if (isAlreadyExists(error)) return;
    if (error instanceof ApiError && error.status.code === 403)
      throw new NotAllowedError(`${refusal}, error: permission escalation`);
    throw error;
  }
}

/**
 * For a member over a network: the server is asked to take the request for the account's. It knows the account's
 * groups; naming them would need a right to each.
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
    const text = await readText(body);
    if (status >= 300) throw refusalOf(status, text);
  };
}

/** An answer comes from a member, which may say anything. */
const MAX_ANSWER_BYTES = 64 * 1024;

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes <= MAX_ANSWER_BYTES) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

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
