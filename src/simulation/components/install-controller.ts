/**
 * Somebody installed OpenKruise's definitions on a member that was made without it: its controllers, which run in this
 * process, work there from then on, and the workloads that stand for them appear as an installation would have made
 * them.
 *
 * Reads: whether the member serves OpenKruise's kinds.
 * Writes: Namespace, Deployment and DaemonSet of `kruise-system`, where they are missing when OpenKruise appears;
 * nothing later.
 */
import { DaemonSet, Deployment, Namespace } from "../../api/index.ts";
import type { Kind, KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { find } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { isAlreadyExists } from "../../machinery/index.ts";
import { defineKeyedController, done, keyOf } from "../../runtime/index.ts";
import type { Controller } from "../../runtime/index.ts";
import { daemonSet, kruiseNamespace, managerDeployment } from "./kruise-manifests.ts";

export interface InstallDependencies {
  client: Client;
  /** Members on which OpenKruise can be installed, and is. */
  isInstalled(cluster: string): boolean;
  /** Tells of clusters whose kinds changed, those that are there included. */
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
      // One after the other: what is in the namespace needs it.
      const made = [
        await ensure(Namespace, kruiseNamespace(), cluster, signal),
        await ensure(Deployment, managerDeployment(), cluster, signal),
        await ensure(DaemonSet, daemonSet(), cluster, signal),
      ];
      if (made.includes(true)) log.info("OpenKruise was installed", { cluster });
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
