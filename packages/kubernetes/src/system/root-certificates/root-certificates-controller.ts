/**
 * Maintains the CA certificate of the API server in every namespace of every cluster.
 *
 * Reads: Namespace; the ConfigMap `kube-root-ca.crt` of each.
 * Writes: that ConfigMap, if it is missing or differs.
 */
import { ConfigMap } from "../../configmap/configmap-kind.ts";
import { Namespace } from "../../namespace/namespace-kind.ts";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { isNotFound } from "@flotilla/apimachinery";
import { defineController, done, type Controller } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { createInNamespace, isTerminating } from "../namespaces.ts";
import { createWatchSource, keysOf } from "../watch-source.ts";
import { DESCRIPTION, ROOT_CERTIFICATE_NAME, rootCertificateConfigMap } from "./config-map.ts";
import { ignoreConflict } from "../ignore-conflict.ts";

export function createRootCertificateController(
  deps: Pick<SystemDependencies, "client" | "informers" | "clock" | "log" | "rootCertificate">,
): Controller<ObjectKey> {
  const { client, informers, clock, log, rootCertificate } = deps;
  const changes = createWatchSource<ConfigMap, ObjectKey>({
    client,
    clock,
    log,
    kind: ConfigMap,
    fieldSelector: `metadata.name=${ROOT_CERTIFICATE_NAME}`,
    map: ({ cluster, object }) => (object.metadata.namespace ? [{ cluster, name: object.metadata.namespace }] : []),
    afterGap: () => keysOf(informers.of(Namespace)),
  });
  return defineController({
    name: "root-certificates",
    for: Namespace,
    watches: [{ source: changes }],
    writes: [ConfigMap],

    async reconcile(namespace, { key: { cluster, name }, signal }) {
      if (isTerminating(namespace)) return done;
      const wanted = rootCertificateConfigMap(name, rootCertificate);
      const present = await find(client, { cluster, namespace: name, name: ROOT_CERTIFICATE_NAME }, signal);
      if (!present) {
        await createInNamespace(client, ConfigMap, cluster, wanted, signal);
        return done;
      }
      if (equalJson(present.data, wanted.data) && present.metadata.annotations?.[DESCRIPTION]) return done;
      const annotations = { ...wanted.metadata.annotations, ...present.metadata.annotations };
      await client
        .update(
          ConfigMap,
          cluster,
          { ...present, metadata: { ...present.metadata, annotations }, data: wanted.data },
          { signal },
        )
        .catch(ignoreConflict);
      return done;
    },
  });
}

async function find(client: Client, key: ObjectKey, signal: AbortSignal): Promise<DeepReadonly<ConfigMap> | undefined> {
  try {
    return await client.get(ConfigMap, key, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
