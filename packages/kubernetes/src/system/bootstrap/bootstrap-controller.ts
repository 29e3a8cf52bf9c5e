/**
 * Signs `cluster-info` with the bootstrap tokens of its cluster, and deletes expired tokens.
 *
 * Reads: Secret of type `bootstrap.kubernetes.io/token` in `kube-system`; the ConfigMap `kube-public/cluster-info`.
 * Writes: the signatures in that ConfigMap; deletes Secrets.
 */
import { BOOTSTRAP_TOKEN_TYPE } from "../../well-known-names.ts";
import { ConfigMap } from "../../configmap/configmap-kind.ts";
import { Secret } from "../../secret/secret-kind.ts";
import type { ObjectKey } from "@flotilla/client";
import { isNotFound } from "@flotilla/apimachinery";
import { defineKeyedController, done, type Controller, type Result } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { createWatchSource } from "../watch-source.ts";
import { CLUSTER_INFO, find, planSignatures } from "./cluster-info.ts";
import { TOKEN_NAMESPACE, expirationOf, signingToken } from "./token-secret.ts";
import { ignoreConflict } from "../ignore-conflict.ts";

/** A token to check, or the `cluster-info` of a cluster. */
type BootstrapKey = ({ what: "token" } & Required<ObjectKey>) | { what: "cluster-info"; cluster: string };

/** Timers are limited to a few weeks, so a token that lasts longer is checked in between. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

export function createBootstrapController(
  deps: Pick<SystemDependencies, "client" | "clock" | "log">,
): Controller<BootstrapKey> {
  const { client, clock, log } = deps;
  const secrets = createWatchSource<Secret, BootstrapKey>({
    client,
    clock,
    log,
    kind: Secret,
    fieldSelector: `type=${BOOTSTRAP_TOKEN_TYPE}`,
    map({ cluster, object: { metadata }, deleted }) {
      const { namespace = "", name } = metadata;
      if (namespace !== TOKEN_NAMESPACE) return [];
      return [
        { what: "cluster-info", cluster },
        ...(deleted ? [] : [{ what: "token" as const, cluster, namespace, name }]),
      ];
    },
    // A reopened watch delivers every token; one that was deleted in the gap leaves a signature that authenticates
    // nothing, until the next change.
    afterGap: () => [],
  });
  const configMaps = createWatchSource<ConfigMap, BootstrapKey>({
    client,
    clock,
    log,
    kind: ConfigMap,
    fieldSelector: `metadata.name=${CLUSTER_INFO.name}`,
    map: ({ cluster, object, deleted }) =>
      object.metadata.namespace === CLUSTER_INFO.namespace && !deleted ? [{ what: "cluster-info", cluster }] : [],
    afterGap: () => [],
  });

  const sign = async (cluster: string, signal: AbortSignal): Promise<void> => {
    const info = await find(client, cluster, signal);
    if (!info?.data) return;
    const { items } = await client.list(Secret, {
      cluster,
      namespace: TOKEN_NAMESPACE,
      fieldSelector: `type=${BOOTSTRAP_TOKEN_TYPE}`,
      signal,
    });
    const nowMs = clock.now();
    const data = planSignatures(
      info.data,
      items.map((secret) => signingToken(secret, nowMs)).filter((token) => token !== undefined),
    );
    if (data) await client.update(ConfigMap, cluster, { ...info, data }, { signal }).catch(ignoreConflict);
  };

  const clean = async ({ cluster, namespace, name }: Required<ObjectKey>, signal: AbortSignal): Promise<Result> => {
    const { items } = await client.list(Secret, { cluster, namespace, fieldSelector: `metadata.name=${name}`, signal });
    const [secret] = items;
    if (secret?.type !== BOOTSTRAP_TOKEN_TYPE) return done;
    const leftMs = expirationOf(secret) - clock.now();
    if (leftMs === Number.POSITIVE_INFINITY) return done;
    if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, LONGEST_WAIT_MS) };
    await client
      .delete(Secret, { cluster, namespace, name }, { preconditions: { uid: secret.metadata.uid ?? "" }, signal })
      .catch(ignoreConflict);
    log.info("bootstrap token deleted", { cluster, secret: name });
    return done;
  };

  return defineKeyedController<BootstrapKey>({
    name: "bootstrap-tokens",
    writes: [Secret, ConfigMap],
    sources: [{ source: secrets }, { source: configMaps }],
    idOf: (key) => (key.what === "token" ? `token/${key.cluster}/${key.name}` : `cluster-info/${key.cluster}`),
    async reconcile(key, { signal }) {
      try {
        if (key.what === "token") return await clean(key, signal);
        await sign(key.cluster, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error; // The cluster was removed.
      }
      return done;
    },
  });
}
