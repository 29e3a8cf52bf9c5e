/** `flotilla up`: starts a hub with simulated members, and serves it. */
import { Cluster, CLUSTER_NOT_READY_TAINT } from "@flotilla/karmada";
import { HUB, isConditionTrue } from "@flotilla/apimachinery";
import { FlotillaError, sleep, systemClock, UsageError } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import type { FleetStarter } from "@flotilla/cli";
import type { ServedConsole } from "./console/serve-console.ts";
import { createHub } from "./hub.ts";
import type { Hub } from "./hub.ts";
import { withHubProcess } from "./hub-process.ts";
import { createFeatureGates, parseFeatureGates } from "@flotilla/openkruise";
import type { FeatureGates } from "@flotilla/openkruise";

const READY_POLL_MS = 20;

export const startFleet: FleetStarter = async (options, progress, signal) => {
  const kruiseGates = options.kruiseGates === undefined ? undefined : readGates(options.kruiseGates);
  const wanted = options.memberNames ?? Array.from({ length: options.members }, (_, index) => `member${index + 1}`);
  return withHubProcess(options, progress, signal, async (hubProcess) => {
    const { data, log, logFile, environment, failed, stop } = hubProcess;
    const { startMs } = options;
    const hub = await createHub({
      ...environment,
      kruise: options.kruise,
      kruiseGates,
      nodes: options.nodes,
      pull: options.pull,
      autoApprovedUsers: options.autoApprovedUsers,
      times: startMs === undefined ? undefined : { startMs, restartMs: startMs, stopMs: startMs },
      membershipTimes: options.membership,
      memberLimits: options.memberLimits,
      failover: options.failover,
      scheduling: options.scheduling,
    });
    const { url, endpointOf, writeKubeconfigs } = await hubProcess.serve(hub, signal);

    progress("starting the controllers");
    await hub.start(signal);
    progress(`adding ${wanted.length} members`);
    // Members of an earlier start stay members, also when this start asks for fewer.
    const members = await hub.addMembers(wanted, endpointOf, signal);
    progress("writing kubeconfigs");
    const kubeconfigs = await writeKubeconfigs([HUB, ...members]);
    progress("waiting for the members to be ready");
    await membersReady(hub, members, signal);
    const ui = await serveUi(options.uiPort, kubeconfigs.get(HUB) ?? "", log);
    hubProcess.ready();
    log.info("ready", { url, members: members.length });
    const stopAll = async (): Promise<void> => {
      await ui?.close();
      await stop();
    };
    return { url, members, kubeconfigs, data, logFile, uiLink: ui?.link, stop: stopAll, failed };
  });
};

/**
 * The UI has the rights of the administrator's kubeconfig and uses the API like every other client. When its
 * port is taken, it uses another one.
 */
async function serveUi(port: number | undefined, kubeconfig: string, log: Log): Promise<ServedConsole | undefined> {
  if (port === undefined) return undefined;
  const { startConsole } = await import("./console/start-console.ts");
  const access = { kubeconfigs: [kubeconfig] };
  const uiLog = log.with({ component: "ui" });
  try {
    return await startConsole({ access, port, log: uiLog });
  } catch (error) {
    if (port === 0 || !(error instanceof FlotillaError) || error.code !== "Listen") throw error;
    return startConsole({ access, port: 0, log: uiLog });
  }
}

/** Throws `UsageError`: only the gate names can be wrong. */
function readGates(text: string): FeatureGates {
  try {
    return createFeatureGates(parseFeatureGates(text));
  } catch (error) {
    throw error instanceof FlotillaError ? new UsageError(`--kruise-gates: ${error.message}`) : error;
  }
}

async function membersReady(hub: Hub, members: readonly string[], signal: AbortSignal): Promise<void> {
  for (;;) {
    const { items } = await hub.client.list(Cluster, { cluster: HUB, signal });
    // The taint of a member that was not ready is removed a moment later; until then nothing is scheduled there.
    const ready = new Set(
      items
        .filter(
          ({ spec, status }) =>
            isConditionTrue(status?.conditions ?? [], "Ready") &&
            !spec.taints?.some(({ key }) => key === CLUSTER_NOT_READY_TAINT),
        )
        .map(({ metadata }) => metadata.name),
    );
    // A member whose network is cut on purpose does not become ready.
    if (members.every((name) => ready.has(name) || hub.isCut(name))) return;
    await sleep(systemClock, READY_POLL_MS, signal);
  }
}
