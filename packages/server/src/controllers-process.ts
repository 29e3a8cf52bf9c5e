/**
 * `flotilla controllers`: the hub's controllers over HTTP, against an API server anywhere. Of several processes one
 * leads; the others hold nothing but their wait for the Lease.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { HUB } from "@flotilla/apimachinery";
import { MetricsText, systemClock, systemRandom, writeProcessMetrics } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import type { ControllersRoleOptions, Roles } from "@flotilla/cli";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import {
  createEventRecorders,
  createInformers,
  createLeaderElection,
  createWriteThroughClient,
  writeControllerMetrics,
} from "@flotilla/controller-runtime";
import { serveMetrics } from "./agent/agent-metrics.ts";
import { createHubControllers } from "./roles/hub-controllers.ts";
import type { HubControllers } from "./roles/hub-controllers.ts";
import { createStderrLog } from "./process/stderr-log.ts";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";

const LEASE = { cluster: HUB, namespace: KARMADA_SYSTEM_NAMESPACE, name: "flotilla-controllers" };
/** How often a process that stands by looks who leads. */
const STANDBY_POLL_MS = 250;

const surroundings = { clock: systemClock, random: systemRandom };

export const startControllers: Roles["controllers"] = async (options, progress, signal) => {
  const log = createStderrLog(options.logLevel, options.logFormat);
  const connection = await connectionOf(await loadKubeconfig(options.kubeconfig));
  const transport = createHttp2Transport({
    ...connection,
    cluster: { root: HUB },
    userAgent: "flotilla-controllers",
    ...surroundings,
  });
  const server = connection.server.href.replace(/\/+$/, "");
  let active: HubControllers | undefined;
  const standing = Promise.withResolvers<"leading" | { standby: string }>();

  /** Runs one term: everything is created for it and closed after it. */
  async function lead(term: AbortSignal): Promise<void> {
    progress("reading the hub");
    const run = await startTerm(transport, options, log, term);
    active = run.controllers;
    standing.resolve("leading");
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
      : await serveMetrics(
          options.metricsAddress,
          () => renderMetrics(active),
          log,
          () => active?.manager.problems() ?? [],
        );
  const ended = (async () => {
    try {
      if (!options.leaderElects) return await lead(signal);
      const election = createLeaderElection({
        client: createClient({ transport, fieldManager: "flotilla-controllers" }),
        ...surroundings,
        log,
        lease: LEASE,
        identity: `${hostname()}_${randomUUID()}`,
      });
      progress("waiting for the lease");
      const watch = setInterval(() => {
        if (!election.isLeader && election.leader !== "") standing.resolve({ standby: election.leader });
      }, STANDBY_POLL_MS);
      try {
        // A process that lost its lease stands for it again.
        while (!signal.aborted) await election.run(lead, signal);
      } catch (error) {
        // A stop in the middle of a start ends it with the signal's reason.
        if (!signal.aborted) throw error;
      } finally {
        clearInterval(watch);
      }
    } finally {
      await metrics?.close();
      await transport.close();
    }
  })();
  return { server, standing: standing.promise, ended };
};

async function startTerm(
  transport: Transport,
  options: ControllersRoleOptions,
  log: Log,
  signal: AbortSignal,
): Promise<{ controllers: HubControllers; stop(): Promise<void> }> {
  const client = createClient({ transport, fieldManager: "flotilla-system" });
  const informers = createInformers({ client, ...surroundings, log, scope: { cluster: HUB } });
  const clientFor = (part: string): Client =>
    createWriteThroughClient(createClient({ transport, fieldManager: `flotilla-${part}` }), [informers]);
  const events = createEventRecorders({ client: clientFor("events"), clock: systemClock, log });
  const controllers = await createHubControllers({
    hub: HUB,
    clientFor,
    informers,
    events: events.recorders,
    membershipTimes: options.membership,
    failover: options.failover,
    scheduling: options.scheduling,
    autoApprovedUsers: options.autoApprovedUsers,
    ...surroundings,
    log,
  });
  const stop = async (): Promise<void> => {
    await controllers.stop();
    await events.stop();
    informers.close();
  };
  try {
    await controllers.start(signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return { controllers, stop };
}

function renderMetrics(active: HubControllers | undefined): string {
  const text = new MetricsText();
  writeProcessMetrics(text);
  if (active) {
    writeControllerMetrics(text, [active.manager]);
    active.writeInterpreterMetrics(text);
    active.monitoring.write(text);
  }
  return text.finish();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
