/**
 * Starts OpenKruise on a member that was created without it, once a user installs OpenKruise's CRDs there: its
 * controllers, which run in this process, reconcile the member from then on, and the workloads that represent them are
 * created as an installation would create them.
 *
 * Reads: whether the member serves OpenKruise's kinds.
 * Writes: Namespace, Deployment and DaemonSet of `kruise-system`, if missing when OpenKruise appears; nothing later.
 */
import { DaemonSet, Deployment, Namespace } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { defineKeyedController, done, keyOf } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import { daemonSet, IN_PROCESS_ANNOTATION, kruiseNamespace, MANAGER, managerDeployment } from "./kruise-manifests.ts";

/** Distinguishes our namespace from that of another installation, also after an interrupted start. */
function markedNamespace(): Namespace {
  const namespace = kruiseNamespace();
  return { ...namespace, metadata: { ...namespace.metadata, annotations: { [IN_PROCESS_ANNOTATION]: MANAGER } } };
}

export interface InstallDependencies {
  client: Client;
  /** Whether OpenKruise is installed on a member that supports installing it. */
  isInstalled(cluster: string): boolean;
  /** Notifies about clusters whose served kinds changed, including the existing clusters. */
  onServed(listener: (cluster: string) => void): () => void;
}

export function createKruiseInstallController({
  client,
  isInstalled,
  onServed,
}: InstallDependencies): Controller<{ cluster: string }> {
  return defineKeyedController<{ cluster: string }>({
    name: "kruise-install",
    writes: [Namespace, Deployment, DaemonSet],
    sources: [
      {
        source: {
          start(enqueue, signal) {
            const stop = onServed((cluster) => {
              if (isInstalled(cluster)) enqueue({ cluster });
            });
            signal.addEventListener("abort", stop, { once: true });
          },
          isQuiet: () => true,
        },
      },
    ],
    idOf: ({ cluster }) => cluster,
    async reconcile({ cluster }, { log, signal }) {
      if (!isInstalled(cluster)) return done;
      // Manifests of OpenKruise create the namespace before the CRDs: they install a manager of their own, under the
      // same names.
      const present = await find(client, Namespace, keyOf(cluster, kruiseNamespace()), { signal });
      if (present && present.metadata.annotations?.[IN_PROCESS_ANNOTATION] === undefined) return done;
      // Sequential: the namespaced objects need the namespace.
      const made = [
        await ensure(Namespace, markedNamespace(), cluster, signal),
        await ensure(Deployment, managerDeployment(), cluster, signal),
        await ensure(DaemonSet, daemonSet(), cluster, signal),
      ];
      if (made.includes(true)) log.info("OpenKruise installed", { cluster });
      return done;
    },
  });

  async function ensure<T extends KubernetesObject>(
    kind: Kind<T>,
    object: DeepReadonly<T>,
    cluster: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (await find(client, kind, keyOf(cluster, object), { signal })) return false;
    try {
      await client.create(kind, cluster, object, { signal });
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return false;
      throw error;
    }
  }
}
