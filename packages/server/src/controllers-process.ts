/** `flotilla controllers`: the hub's controllers over HTTP, in a process of their own. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { HUB } from "@flotilla/apimachinery";
import { elapsedMs, MetricsText, systemClock, systemRandom, writeProcessMetrics } from "@flotilla/base";
import type { ControllersStanding, Roles } from "@flotilla/cli";
import { connectionOf, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Http2TransportOptions, Transport } from "@flotilla/client";
import { CONTROLLER_GROUPS } from "@flotilla/flotilla";
import type { ControllerGroup } from "@flotilla/flotilla";
import { serveMetrics } from "./agent/agent-metrics.ts";
import { runControllers } from "./roles/run-controllers.ts";
import type { ControllersTerm } from "./roles/run-controllers.ts";
import { inCluster, NOT_IN_POD } from "./process/in-cluster.ts";
import { reportConnection } from "./process/hub-connection.ts";
import { createStderrLog } from "./process/stderr-log.ts";

/** After this a server that does not answer is reported. */
const SILENT_MS = 5_000;

/**
 * An API server that is stopped, or behind a network that lost the connection, is noticed and left for another one. A
 * renewal of a Lease has 5.5 seconds: time to notice it, to connect and to renew.
 */
const LEASE_TIMEOUTS = { connectMs: 1_500, pingAfterMs: 1_000, pingMs: 1_500 };
const TIMEOUTS = { connectMs: 5_000, pingAfterMs: 5_000, pingMs: 10_000 };

const environment = { clock: systemClock, random: systemRandom };

export const startControllers: Roles["controllers"] = async (options, progress, signal) => {
  const log = createStderrLog(options.logLevel, options.logFormat);
  const connection = await connectionOf(
    options.kubeconfig === undefined ? inCluster(NOT_IN_POD) : await loadKubeconfig(options.kubeconfig),
  );
  const connect = (timeouts: Http2TransportOptions["timeouts"]): Transport =>
    createHttp2Transport({
      timeouts,
      ...connection,
      cluster: { root: HUB },
      userAgent: "flotilla-controllers",
      ...environment,
    });
  const transport = connect(TIMEOUTS);
  const leases = connect(LEASE_TIMEOUTS);
  const server = connection.server.href.replace(/\/+$/, "");
  const hub = reportConnection(transport, { log, server, signal });
  const { groups = CONTROLLER_GROUPS } = options;
  let active: ControllersTerm | undefined;
  /** Of each group: whether this process leads it, or which one does. */
  const known = new Map<ControllerGroup, "leading" | { leader: string }>();
  const standing = Promise.withResolvers<ControllersStanding>();
  let isReady = false;

  const metrics =
    options.metricsAddress === undefined
      ? undefined
      : await serveMetrics(options.metricsAddress, () => renderMetrics(active), log, {
          problems: () => active?.controllers.manager.problems() ?? [],
          members: (only) => active?.metrics.workloads.page(only),
        });
  progress("reading the hub");
  const silence = setTimeout(() => {
    if (!isReady) log.warn("the API server does not answer; retrying", { server });
  }, SILENT_MS);
  const ended = (async () => {
    try {
      await runControllers(
        {
          ...options,
          ...environment,
          transport: hub.transport,
          leases,
          log: hub.log,
          elapsedMs,
          identity: `${hostname()}_${randomUUID()}`,
          elects: options.leaderElects,
          onStanding(group, now) {
            const before = known.get(group);
            known.set(group, now);
            const leads = groups.filter((each) => known.get(each) === "leading");
            if (isReady) {
              if (now === "leading" && before !== "leading")
                options.onLeadership?.({ won: leads.length === groups.length ? "all" : group });
            } else if (known.size === groups.length) {
              isReady = true;
              const [other] = [...known.values()].filter((each) => each !== "leading");
              standing.resolve({ leads, leader: other?.leader });
            }
          },
          onTerm: (term) => void (active = term),
          onLost() {
            known.clear();
            options.onLeadership?.("lost");
          },
        },
        signal,
      );
    } finally {
      clearTimeout(silence);
      await metrics?.close();
      await Promise.all([transport.close(), leases.close()]);
    }
  })();
  return { server, standing: standing.promise, ended };
};

function renderMetrics(active: ControllersTerm | undefined): string {
  const text = new MetricsText();
  writeProcessMetrics(text);
  active?.metrics.write(text);
  return text.finish();
}
