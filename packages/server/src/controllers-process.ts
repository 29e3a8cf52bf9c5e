/**
 * `flotilla controllers`: the hub's controllers over HTTP, against an API server anywhere. Of several processes one
 * leads; the others hold nothing but their wait for the Lease.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { HUB } from "@flotilla/apimachinery";
import { elapsedMs, every, MetricsText, systemClock, systemRandom, VERSION, writeProcessMetrics } from "@flotilla/base";
import type { ControllersRoleOptions, Roles } from "@flotilla/cli";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import {
  createEventRecorders,
  createInformers,
  createLeaderElection,
  createWriteThroughClient,
  fenceTransport,
} from "@flotilla/controller-runtime";
import type { Leadership } from "@flotilla/controller-runtime";
import { createDecisions, createMonitoring } from "@flotilla/flotilla";
import { serveMetrics } from "./agent/agent-metrics.ts";
import { CONTROLLERS_LEASE_KEY, renewingWhile } from "./roles/controllers-lease.ts";
import { createHubControllers } from "./roles/hub-controllers.ts";
import type { HubControllers } from "./roles/hub-controllers.ts";
import { createHubMetrics } from "./roles/hub-metrics.ts";
import type { HubMetrics } from "./roles/hub-metrics.ts";
import { createHubReaders } from "./roles/hub-readers.ts";
import { startParts, stopParts } from "./roles/process-parts.ts";
import type { Part } from "./roles/process-parts.ts";
import { readWorkOrigin } from "./roles/work-origin.ts";
import { reportConnection } from "./process/hub-connection.ts";
import type { ReportedConnection } from "./process/hub-connection.ts";
import { createStderrLog } from "./process/stderr-log.ts";

/** How often a process that stands by looks who leads. */
const STANDBY_POLL_MS = 250;
/** How many of them until a server that does not answer is reported: five seconds. */
const SILENT_POLLS = Math.ceil(5_000 / STANDBY_POLL_MS);

/** Without leader election nothing ends the leadership but the process. */
const ALONE: Leadership = { check: () => {} };
const environment = { clock: systemClock, random: systemRandom };

export const startControllers: Roles["controllers"] = async (options, progress, signal) => {
  const log = createStderrLog(options.logLevel, options.logFormat);
  const connection = await connectionOf(await loadKubeconfig(options.kubeconfig));
  const transport = createHttp2Transport({
    ...connection,
    cluster: { root: HUB },
    userAgent: "flotilla-controllers",
    ...environment,
  });
  const server = connection.server.href.replace(/\/+$/, "");
  const hub = reportConnection(transport, { log, server, signal });
  let active: Term | undefined;
  let hasStood = false;
  const standing = Promise.withResolvers<"leading" | { standby: string }>();

  /** Runs one term: everything is created for it and closed after it. */
  async function lead(term: AbortSignal, leadership: Leadership): Promise<void> {
    progress("reading the hub");
    const run = await startTerm(hub, options, leadership, term);
    active = run;
    standing.resolve("leading");
    if (hasStood) options.onLeadership?.("won");
    hasStood = true;
    log.info("leading", { server });
    try {
      await untilAborted(term);
    } finally {
      active = undefined;
      await run.stop();
    }
  }

  const metrics =
    options.metricsAddress === undefined
      ? undefined
      : await serveMetrics(options.metricsAddress, () => renderMetrics(active), log, {
          problems: () => active?.controllers.manager.problems() ?? [],
          members: (only) => active?.metrics.workloads.page(only),
        });
  const ended = (async () => {
    try {
      const candidate = {
        client: createClient({ transport: hub.transport, fieldManager: "flotilla-controllers" }),
        ...environment,
        elapsedMs,
        log,
        identity: `${hostname()}_${randomUUID()}`,
      };
      if (!options.leaderElects) {
        await renewingWhile(candidate, (term) => lead(term, ALONE), signal);
        return;
      }
      const election = createLeaderElection({ ...candidate, lease: CONTROLLERS_LEASE_KEY });
      progress("waiting for the lease");
      let polls = 0;
      const watch = every(environment.clock, STANDBY_POLL_MS, () => {
        if (election.isLeader) return;
        if (election.leader !== "") {
          standing.resolve({ standby: election.leader });
          hasStood = true;
        }
        // Without a leader the Lease could not be read; retries go on silently, so the wait is reported once.
        else if (++polls === SILENT_POLLS) log.warn("the API server does not answer; retrying", { server });
      });
      try {
        // A process that lost its lease stands for it again.
        while (!signal.aborted)
          if ((await election.run(lead, signal)) === "lost" && !signal.aborted) options.onLeadership?.("lost");
      } catch (error) {
        // A stop in the middle of a start ends it with the signal's reason.
        if (!signal.aborted) throw error;
      } finally {
        watch.cancel();
      }
    } finally {
      await metrics?.close();
      await transport.close();
    }
  })();
  return { server, standing: standing.promise, ended };
};

/** The parts of one term that its metrics come from. */
interface Term {
  controllers: HubControllers;
  metrics: HubMetrics;
  stop(): Promise<void>;
}

async function startTerm(
  { transport: unfenced, log }: ReportedConnection,
  options: ControllersRoleOptions,
  leadership: Leadership,
  signal: AbortSignal,
): Promise<Term> {
  const transport = fenceTransport(unfenced, leadership);
  const client = createClient({ transport, fieldManager: "flotilla-system" });
  const origin = await readWorkOrigin(client, HUB);
  const informers = createInformers({ client, ...environment, log, scope: { cluster: HUB } });
  const clientFor = (part: string): Client =>
    createWriteThroughClient(createClient({ transport, fieldManager: `flotilla-${part}` }), [informers]);
  const events = createEventRecorders({ client: clientFor("events"), clock: systemClock, log });
  const decisions = createDecisions({ client: clientFor("decisions"), hub: HUB, clock: systemClock, log });
  const onHub = { hub: HUB, informers, events: events.recorders, ...environment, log };
  const monitoring = createMonitoring({ ...onHub, version: VERSION });
  const readers = createHubReaders({
    ...onHub,
    client: clientFor("discovery"),
    measure: (member, name) => fenceTransport(monitoring.requests.around(member, name), leadership),
    memberLimits: options.memberLimits,
    scheduling: options.scheduling,
  });
  const controllers = createHubControllers({
    ...onHub,
    clientFor,
    decisions,
    sources: readers.sources,
    monitoring,
    origin,
    membershipTimes: options.membership,
    failover: options.failover,
    autoApprovedUsers: options.autoApprovedUsers,
  });
  const metrics = createHubMetrics({
    hub: HUB,
    monitoring,
    decisions,
    writeInterpreterMetrics: readers.writeInterpreterMetrics,
    templates: readers.sources.views.templates,
    membership: controllers.membership,
    informers,
    managers: () => [controllers.manager],
    lanes: controllers.lanes,
  });
  const parts: readonly Part[] = [
    { stop: () => informers.close() },
    events,
    { stop: () => decisions.stop() },
    metrics,
    readers,
    controllers,
  ];
  try {
    await startParts(parts, signal);
  } catch (error) {
    await stopParts(parts);
    throw error;
  }
  return { controllers, metrics, stop: () => stopParts(parts) };
}

function renderMetrics(active: Term | undefined): string {
  const text = new MetricsText();
  writeProcessMetrics(text);
  active?.metrics.write(text);
  return text.finish();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
