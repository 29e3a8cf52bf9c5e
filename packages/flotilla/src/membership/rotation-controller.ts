/**
 * Renews the tokens that the hub uses for its members before they expire. It requests a new token from the member with
 * the old one and stores it in the same Secret, from which connections read it.
 *
 * Reads: Cluster, the Secrets that it names.
 * Writes: the token in those Secrets; an event on failure. Tokens without expiry, such as karmadactl's, are left
 * unchanged.
 */
import { Cluster, TOKEN_KEY } from "@flotilla/karmada";
import { Secret } from "@flotilla/kubernetes";
import { isConflict } from "@flotilla/apimachinery";
import { FlotillaError, formatTime, isObject, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { readText } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Lister, Source } from "@flotilla/controller-runtime";
import { tokenIn } from "./connection.ts";
import { lifetimeSeconds, readBoundToken, renewAfterMs } from "./plan-rotation.ts";
import type { BoundToken } from "./plan-rotation.ts";

export interface RotationDependencies {
  hub: string;
  client: Client;
  secrets: Lister<Secret>;
  /** A client for a member; undefined when it is not reached over a network. */
  memberClient(cluster: string): Client | undefined;
  /** Clusters whose Secrets changed. */
  changes: Source<ObjectKey>;
  events: EventRecorder;
  clock: Clock;
}

/** The response to a TokenRequest is short. */
const MAX_ANSWER_BYTES = 256 * 1024;

export function createRotationController(deps: RotationDependencies): Controller<ObjectKey> {
  const { hub, client, secrets, memberClient, changes, events, clock } = deps;
  async function renew(
    cluster: string,
    secret: DeepReadonly<Secret>,
    token: BoundToken,
    signal: AbortSignal,
  ): Promise<void> {
    const member = memberClient(cluster);
    if (!member) return;
    const fresh = await requestToken(member, cluster, token, signal);
    const { namespace = "", name, resourceVersion } = secret.metadata;
    const patch = {
      metadata: { resourceVersion: resourceVersion ?? null },
      data: { [TOKEN_KEY]: Buffer.from(fresh).toString("base64") },
    };
    await client.patch(Secret, { cluster: hub, namespace, name }, patch, { type: "merge", signal });
  }

  return defineController({
    name: "token-rotation",
    for: Cluster,
    watches: [{ source: changes }],
    writes: [Secret],

    async reconcile(cluster, { log, signal }) {
      const { metadata, spec } = cluster;
      let nextMs = Number.POSITIVE_INFINITY;
      for (const reference of [spec.secretRef, spec.impersonatorSecretRef]) {
        const secret = reference && secrets.get({ cluster: hub, ...reference });
        const token = secret && readBoundToken(tokenIn(secret));
        if (!token) continue;
        const waitMs = renewAfterMs(token, clock.now());
        if (waitMs > 0) {
          nextMs = Math.min(nextMs, waitMs);
          continue;
        }
        try {
          await renew(metadata.name, secret, token, signal);
        } catch (error) {
          // A failure would otherwise remain unnoticed until the token expires; after a concurrent write the Secret is
          // only read again.
          if (!isConflict(error))
            events.record(hub, cluster, {
              type: "Warning",
              reason: "TokenRenewalFailed",
              message: `${messageOf(error)}; the current token is valid until ${formatTime(token.endsMs)}`,
            });
          throw error;
        }
        log.info("member token renewed", { member: metadata.name, serviceAccount: token.serviceAccount });
      }
      return Number.isFinite(nextMs) ? { requeueAfterMs: nextMs } : done;
    },
  });
}

async function requestToken(member: Client, cluster: string, token: BoundToken, signal: AbortSignal): Promise<string> {
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: lifetimeSeconds(token) },
  };
  const path = `/api/v1/namespaces/${encodeURIComponent(token.namespace)}/serviceaccounts/${encodeURIComponent(token.serviceAccount)}/token`;
  const answer = await member.raw(
    {
      method: "POST",
      path,
      cluster,
      headers: { "content-type": "application/json", accept: "application/json" },
      body: Buffer.from(JSON.stringify(body)),
    },
    signal,
  );
  const text = await readText(answer.body, MAX_ANSWER_BYTES);
  const doing = `renewing the token of ${token.namespace}/${token.serviceAccount} on cluster ${cluster}`;
  if (answer.status !== 201 && answer.status !== 200)
    throw new FlotillaError(
      "TokenRenewal",
      `${doing}: the member returned ${answer.status}; check that the hub's account there may create serviceaccounts/token`,
    );
  const parsed: unknown = JSON.parse(text);
  const status = isObject(parsed) ? parsed["status"] : undefined;
  const fresh = isObject(status) ? status["token"] : undefined;
  if (typeof fresh !== "string" || fresh === "")
    throw new FlotillaError("TokenRenewal", `${doing}: the response contains no token`);
  return fresh;
}
