/** `flotilla apiserver`: starts the hub's API server without controllers, and serves it. */
import { Cluster } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import { callLogicalCluster } from "@flotilla/apiserver";
import type { Roles } from "@flotilla/cli";
import { kubeconfigPath } from "@flotilla/cli";
import { createClusterProxy } from "@flotilla/flotilla";
import { createEventRecorders, createInformers, writeControllerMetrics } from "@flotilla/controller-runtime";
import { withHubProcess } from "./hub-process.ts";
import { createHubApiServer } from "./roles/api-server.ts";
import type { HubExtensions } from "./roles/api-server.ts";
import { createHubControllers } from "./roles/hub-controllers.ts";
import { createKarmadaLogs } from "./roles/karmada-logs.ts";
import { createOcmLogs } from "./roles/ocm-logs.ts";

export const startApiServer: Roles["apiServer"] = (options, progress, signal) =>
  withHubProcess(options, progress, async (hubProcess) => {
    const { data, log, logFile, surroundings, failed, stop } = hubProcess;
    const { clock, random } = surroundings;
    const extensions: HubExtensions = {};
    const [karmadaLogs, ocmLogs] = [createKarmadaLogs(clock), createOcmLogs(clock)];
    const hubLogs: typeof karmadaLogs.hubRuntime.logs = (target) =>
      karmadaLogs.hubRuntime.logs(target) ?? ocmLogs.hubRuntime.logs(target);
    const api = await createHubApiServer({
      ...surroundings,
      extensions,
      nodes: 0,
      allowNoExecuteTaintPolicy: options.allowNoExecuteTaintPolicy,
    });
    const { server, manager } = api;
    const client = api.connect("system", "flotilla-system");
    const informers = createInformers({ client, clock, random, log, scope: { cluster: HUB } });
    const events = createEventRecorders({ client: api.connect("events", "flotilla-events"), clock, log });
    // Never started: they answer explanations and the proxy of Clusters from the hub's objects, with the same planners
    // as the controllers that run elsewhere.
    const readers = await createHubControllers({
      hub: HUB,
      clientFor: (part) => api.connect(part, `flotilla-${part}`),
      informers,
      events: events.recorders,
      clock,
      random,
      log,
    });
    Object.assign(extensions, {
      clusterProxy: createClusterProxy({
        hub: HUB,
        clusters: informers.of(Cluster),
        members: readers.members,
        askHub: (request, requestSignal) => callLogicalCluster(server.handle, HUB, request, requestSignal),
        clock,
      }),
      // The hub's pods represent components; those of the controllers log in their own process.
      runtimeOf: (cluster) => (cluster === HUB ? { hasNodes: false, logs: hubLogs } : undefined),
      explanation: (namespace, name) => readers.explainer.get(namespace, name),
      controllers: {
        writeMetrics: (text) => writeControllerMetrics(text, [manager]),
        problems: () => manager.problems(),
      },
    } satisfies HubExtensions);
    const { url, writeKubeconfigs } = await hubProcess.serve(
      {
        server,
        client,
        async stop() {
          await readers.stop();
          await events.stop();
          informers.close();
          await api.close();
        },
      },
      signal,
    );
    manager.start(signal);
    await manager.whenSynced(signal);
    const files = await writeKubeconfigs([HUB]);
    hubProcess.ready();
    log.info("ready", { url });
    const kubeconfigs = { hub: files.get(HUB) ?? "", controllers: kubeconfigPath(data, "controllers") };
    return { url, data, kubeconfigs, logFile, stop, failed };
  });
