/**
 * Fills Secrets that request the token of a service account, and deletes them with the account: the long-lived tokens
 * that tools from before TokenRequest need.
 *
 * Reads: Secret of type `kubernetes.io/service-account-token`, ServiceAccount.
 * Writes: those Secrets; `secrets` of a ServiceAccount whose token Secret was deleted.
 */
import {
  SERVICE_ACCOUNT_TOKEN_TYPE,
  SERVICE_ACCOUNT_NAME_ANNOTATION,
  SERVICE_ACCOUNT_UID_ANNOTATION,
} from "../../well-known-names.ts";
import { Secret } from "../../secret/secret-kind.ts";
import { ServiceAccount } from "../../serviceaccount/serviceaccount-kind.ts";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { isNotFound } from "@flotilla/apimachinery";
import { defineKeyedController, done, watch, type Controller } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { createWatchSource } from "../watch-source.ts";
import { planSecret, type Account } from "./plan-secret.ts";
import { ignoreConflict } from "../ignore-conflict.ts";

type Place = Required<ObjectKey>;
/** A Secret to fill, a deleted account, or a deleted Secret of an account. */
type TokenKey =
  | ({ what: "secret" } & Place)
  | ({ what: "account" } & Place)
  | ({ what: "reference"; secret: string } & Place);

type Dependencies = Pick<
  SystemDependencies,
  "client" | "informers" | "clock" | "log" | "rootCertificate" | "issueSecretToken" | "isOwnToken"
>;

export function createTokenController(deps: Dependencies): Controller<TokenKey> {
  const { client, informers, clock, log, rootCertificate, issueSecretToken, isOwnToken } = deps;
  const secrets = createWatchSource<Secret, TokenKey>({
    client,
    clock,
    log,
    kind: Secret,
    fieldSelector: `type=${SERVICE_ACCOUNT_TOKEN_TYPE}`,
    map({ cluster, object: { metadata }, deleted }) {
      const place = { cluster, namespace: metadata.namespace ?? "" };
      const account = metadata.annotations?.[SERVICE_ACCOUNT_NAME_ANNOTATION];
      if (!account) return [];
      return deleted
        ? [{ what: "reference", ...place, name: account, secret: metadata.name }]
        : [{ what: "secret", ...place, name: metadata.name }];
    },
    // A reopened watch delivers every Secret; accounts deleted in the gap are found through their Secrets.
    afterGap: () => [],
  });

  const fill = async ({ cluster, namespace, name }: Place, signal: AbortSignal): Promise<void> => {
    const secret = await find(client, Secret, { cluster, namespace, name }, signal);
    const accountName = secret?.metadata.annotations?.[SERVICE_ACCOUNT_NAME_ANNOTATION];
    if (
      !secret ||
      secret.type !== SERVICE_ACCOUNT_TOKEN_TYPE ||
      !accountName ||
      secret.metadata.deletionTimestamp !== undefined
    )
      return;
    const wantedUid = secret.metadata.annotations?.[SERVICE_ACCOUNT_UID_ANNOTATION];
    const found = await find(client, ServiceAccount, { cluster, namespace, name: accountName }, signal);
    if (!found || (wantedUid && wantedUid !== found.metadata.uid)) {
      await removeSecret(cluster, secret, signal);
      return;
    }
    const account: Account = { name: accountName, uid: found.metadata.uid ?? "" };
    const filled = await planSecret(
      secret,
      account,
      rootCertificate,
      () => issueSecretToken(cluster, namespace, account, name),
      isOwnToken && ((token) => isOwnToken(cluster, token)),
    );
    if (filled) await client.update(Secret, cluster, filled, { signal }).catch(ignoreConflict);
  };

  const removeSecret = async (
    cluster: string,
    { metadata }: DeepReadonly<Secret>,
    signal: AbortSignal,
  ): Promise<void> => {
    const { namespace = "", name, uid = "" } = metadata;
    await client.delete(Secret, { cluster, namespace, name }, { preconditions: { uid }, signal }).catch(ignoreConflict);
  };

  /** Deletes every token of a deleted account; a new account of the same name is another one. */
  const removeTokens = async ({ cluster, namespace, name }: Place, signal: AbortSignal): Promise<void> => {
    const current = informers.of(ServiceAccount).get({ cluster, namespace, name });
    const { items } = await client
      .list(Secret, { cluster, namespace, fieldSelector: `type=${SERVICE_ACCOUNT_TOKEN_TYPE}`, signal })
      .catch(emptyIfNotFound);
    for (const secret of items) {
      const { annotations = {} } = secret.metadata;
      const belongs =
        annotations[SERVICE_ACCOUNT_NAME_ANNOTATION] === name &&
        (!current ||
          (annotations[SERVICE_ACCOUNT_UID_ANNOTATION] !== undefined &&
            annotations[SERVICE_ACCOUNT_UID_ANNOTATION] !== current.metadata.uid));
      if (belongs) await removeSecret(cluster, secret, signal);
    }
  };

  const removeReference = async (
    { cluster, namespace, name, secret }: Place & { secret: string },
    signal: AbortSignal,
  ): Promise<void> => {
    const account = informers.of(ServiceAccount).get({ cluster, namespace, name });
    if (!account?.secrets?.some((reference) => reference.name === secret)) return;
    const rest = account.secrets.filter((reference) => reference.name !== secret);
    await client.update(ServiceAccount, cluster, { ...account, secrets: rest }, { signal }).catch(ignoreConflict);
  };

  return defineKeyedController<TokenKey>({
    name: "tokens",
    writes: [Secret, ServiceAccount],
    sources: [
      { source: secrets },
      watch(ServiceAccount, ({ cluster, object: { metadata }, deleted }): TokenKey[] =>
        deleted ? [{ what: "account", cluster, namespace: metadata.namespace ?? "", name: metadata.name }] : [],
      ),
    ],
    idOf: (key) =>
      [key.what, key.cluster, key.namespace, key.name, ...(key.what === "reference" ? [key.secret] : [])].join("/"),
    async reconcile(key, { signal }) {
      if (key.what === "secret") await fill(key, signal);
      else if (key.what === "account") await removeTokens(key, signal);
      else await removeReference(key, signal);
      return done;
    },
  });
}

/** The accounts of a deleted cluster are reported as deleted, and so is everything else in it. */
function emptyIfNotFound(error: unknown): { items: [] } {
  if (!isNotFound(error)) throw error;
  return { items: [] };
}

async function find<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<DeepReadonly<T> | undefined> {
  try {
    return await client.get(kind, key, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
