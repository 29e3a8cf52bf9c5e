/** `flotilla apiserver`: starts the hub's API server without controllers, and serves it. */
import { HUB, isAlreadyExists } from "@flotilla/apimachinery";
import { callLogicalCluster } from "@flotilla/apiserver";
import type { Roles } from "@flotilla/cli";
import { kubeconfigPath } from "@flotilla/cli";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { createEventRecorders, createInformers, writeControllerMetrics } from "@flotilla/controller-runtime";
import { Lease } from "@flotilla/kubernetes";
import { CONTROLLERS_LEASE_KEY } from "./roles/controllers-lease.ts";
import { withHubProcess } from "./hub-process.ts";
import { createComponentReadiness } from "./roles/component-readiness.ts";
import { createHubApiServer } from "./roles/api-server.ts";
import { createHubLogs } from "./roles/hub-logs.ts";
import { createHubReaders } from "./roles/hub-readers.ts";
import { createSimulatedClusters } from "./roles/simulated-clusters.ts";
import { startParts, stopParts } from "./roles/process-parts.ts";
import type { Part } from "./roles/process-parts.ts";

export const startApiServer: Roles["apiServer"] = (options, progress, signal) =>
  withHubProcess(options, progress, signal, async (hubProcess) => {
    const { data, log, logFile, environment, failed, stop } = hubProcess;
    const { clock, random } = environment;
    const api = await createHubApiServer({
      ...environment,
      runsKruise: (cluster) => clusters.runsKruise(cluster),
      nodes: 0,
      allowNoExecuteTaintPolicy: options.allowNoExecuteTaintPolicy,
    });
    const { server, manager } = api;
    const clusters = createSimulatedClusters(server);
    const client = api.connect("system", "flotilla-system");
    const informers = createInformers({ client, clock, random, log, scope: { cluster: HUB } });
    const events = createEventRecorders({ client: api.connect("events", "flotilla-events"), clock, log });
    // Explanations use the same planners as the controllers that run elsewhere.
    const readers = createHubReaders({
      hub: HUB,
      client: api.connect("discovery", "flotilla-discovery"),
      informers,
      events: events.recorders,
      clock,
      random,
      log,
    });
    const { hubRuntime } = createHubLogs(clock);
    api.extend({
      ...readers.extensions((request, asked) => callLogicalCluster(server.handle, HUB, request, asked)),
      // The hub's pods represent components; those of the controllers log in their own process.
      runtimeOf: (cluster) => (cluster === HUB ? hubRuntime : undefined),
      controllers: {
        writeMetrics: (text) => writeControllerMetrics(text, [manager]),
        problems: () => manager.problems(),
      },
    });
    const parts: readonly Part[] = [
      api,
      { stop: () => informers.close() },
      events,
      readers,
      createComponentReadiness({ client: api.connect("components", "flotilla-components"), clock, log }),
    ];
    const { url, writeKubeconfigs } = await hubProcess.serve({ server, client, stop: () => stopParts(parts) }, signal);
    await startParts(parts, signal);
    await manager.whenSynced(signal);
    await announceControllersElsewhere(client);
    const files = await writeKubeconfigs([HUB]);
    hubProcess.ready();
    log.info("ready", { url });
    const kubeconfigs = { hub: files.get(HUB) ?? "", controllers: kubeconfigPath(data, "controllers") };
    return { url, data, kubeconfigs, logFile, stop, failed };
  });

/**
 * Creates the Lease of the controllers without a holder, so that clients distinguish a hub whose controllers never ran from
 * one whose controllers run in its own process.
 */
async function announceControllersElsewhere(client: Client): Promise<void> {
  const { cluster, namespace, name } = CONTROLLERS_LEASE_KEY;
  if (await find(client, Lease, CONTROLLERS_LEASE_KEY)) return;
  try {
    await client.create(Lease, cluster, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace, name },
    });
  } catch (error) {
    // Controllers that were already connecting have created it.
    if (!isAlreadyExists(error)) throw error;
  }
}
