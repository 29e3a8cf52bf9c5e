/**
 * Deletes a join token for one cluster after a certificate was issued with it, through either API.
 *
 * Reads: issued CertificateSigningRequests, the Secret of the token that made them.
 * Writes: deletes that Secret if it is marked as single-use.
 */
import { CertificateSigningRequest, Secret } from "@flotilla/kubernetes";
import type { Clock } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Lister } from "@flotilla/controller-runtime";
import { isSingleUse, joinTokenKey, tokenEndMs } from "./join-tokens.ts";
import { joinTokenOf } from "./plan-agent-request.ts";

export interface JoinTokenDependencies {
  hub: string;
  client: Client;
  secrets: Lister<Secret>;
  clock: Clock;
}

export function createJoinTokenController({
  hub,
  client,
  secrets,
  clock,
}: JoinTokenDependencies): Controller<ObjectKey> {
  return defineController({
    name: "join-tokens",
    for: CertificateSigningRequest,
    writes: [Secret],

    async reconcile(request, { log, signal }) {
      const id = joinTokenOf(request.spec.username ?? "");
      if (id === undefined) return done;
      const key = joinTokenKey(hub, id);
      const token = secrets.get(key);
      const endMs = isSingleUse(token) ? tokenEndMs(request) : undefined;
      if (!token || endMs === undefined) return done;
      const leftMs = endMs - clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      const { uid = "" } = token.metadata;
      await unlessChanged(client.delete(Secret, key, { preconditions: { uid }, signal }));
      log.info("join token deleted: it was used", { user: request.spec.username, request: request.metadata.name });
      return done;
    },
  });
}
