/**
 * The main loop of an agent on one cluster: determines what it may do on its hub, does that, and periodically checks
 * for new permissions. It waits for an unreachable hub and continues with the last known works.
 */
import { FlotillaError, sleep } from "@flotilla/base";
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { ApiError } from "@flotilla/apimachinery";
import { createAgent } from "./create-agent.ts";
import type { Agent, AgentOptions, HubApis } from "./create-agent.ts";
import { NameTakenError } from "./credentials/keep-credentials.ts";
import { ensureCluster } from "./ensure-cluster.ts";
import type { ClusterDescription } from "./ensure-cluster.ts";
import { readHubApis } from "./hub-apis.ts";
import type { RegistrationState } from "./managed-cluster/introduce.ts";

export interface RunAgentOptions extends Omit<AgentOptions, "apis" | "only" | "onOlderHub" | "onChangedStanding"> {
  cluster: string;
  /**
   * Queries, with the bootstrap identity, how the hub knows the cluster; `introduces` registers it with a hub that does
   * not know it. Unset for clusters registered through Karmada's API.
   */
  standing?(introduces: boolean, signal: AbortSignal): Promise<RegistrationState>;
  /** Set for clusters registered through Karmada's API, which create their own Cluster. */
  description?: ClusterDescription;
  /** Called when the agent starts to serve. */
  onServing?(apis: HubApis, agent: Agent): void;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
/** New permissions come once, when the cluster is accepted; after that, frequent checks gain little. */
const FIRST_CHECK_MS = 1_000;
const MAX_CHECK_INTERVAL_MS = 10 * 60_000;
/** Lost permissions are checked once more, because a hub that just started may not have loaded them yet. */
const SURE_AFTER_MS = 5_000;

/** Resolves when `signal` is aborted. Rejects when the name belongs to another cluster. */
export async function runAgent(given: RunAgentOptions, signal: AbortSignal): Promise<void> {
  const { cluster, description, standing, onServing = () => {}, ...options } = given;
  const { hub, clock, random, log } = options;
  const client = options.clientFor("agent");
  const waiting = { clock, random, log, signal };
  const who: Who = { client, hub, cluster, description, standing };
  try {
    let apis = await retryUntilDone(
      "determining the permissions of this agent on its hub",
      () => rights(who, true, signal),
      {
        ...waiting,
        lastRetryMs: LAST_RETRY_MS,
      },
    );
    while (!signal.aborted) {
      const alarm = createAlarm();
      const older = Promise.withResolvers<HubApis>();
      const agent = createAgent({
        ...options,
        apis,
        only: cluster,
        onOlderHub() {
          log.warn(
            "the hub returned older data than before; it appears to have been restored from a backup. Listing everything again",
          );
          older.resolve(apis);
        },
        onRegistrationChange: alarm.ring,
      });
      let next: HubApis | "none";
      try {
        onServing(apis, agent);
        const ended = new AbortController();
        const stop = (): void => ended.abort(signal.reason);
        signal.addEventListener("abort", stop, { once: true });
        const started = agent.start(ended.signal).catch((error: unknown) => {
          if (!ended.signal.aborted) throw error;
        });
        // Never resolves after a successful start; a failed start ends everything.
        const failed = started.then(() => new Promise<never>(() => {}));
        next = await Promise.race([untilOther(who, apis, alarm, waiting), older.promise, failed]);
        stop();
        await started;
        signal.removeEventListener("abort", stop);
      } finally {
        await agent.stop();
      }
      // A cluster that was removed on the hub does not register again by itself, only when the agent is restarted.
      apis =
        next === "none"
          ? await retryUntilDone("registering again", () => rights(who, false, signal), {
              ...waiting,
              lastRetryMs: MAX_CHECK_INTERVAL_MS,
            })
          : next;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface Who {
  client: Client;
  hub: string;
  cluster: string;
  description?: ClusterDescription;
  standing?: RunAgentOptions["standing"];
}

/**
 * Rejects while there are no permissions, with instructions for the administrator. `introduces` registers the cluster
 * with a hub that does not know it.
 */
async function rights(who: Who, introduces: boolean, signal: AbortSignal): Promise<HubApis> {
  const { client, hub, cluster, description, standing } = who;
  // The hub grants access to the Works of a Cluster that exists.
  const forbidden =
    description && introduces ? await forbiddenOf(ensureCluster(client, hub, cluster, description, signal)) : undefined;
  const apis = await readHubApis(client, hub, cluster, signal);
  if (apis.karmada || apis.ocm) {
    if (forbidden) throw forbidden;
    return apis;
  }
  throw new FlotillaError("NotAccepted", whyNot(cluster, standing && (await orRefused(standing(introduces, signal)))), {
    cause: forbidden,
  });
}

/** The error of a write that the hub does not permit; undefined if it succeeded. */
async function forbiddenOf(written: Promise<void>): Promise<ApiError | undefined> {
  try {
    await written;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 403) return error;
    throw error;
  }
}

/** The bootstrap token expires. */
async function orRefused(standing: Promise<RegistrationState>): Promise<RegistrationState | "refused"> {
  try {
    return await standing;
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 401) return "refused";
    throw error;
  }
}

function whyNot(cluster: string, standing: RegistrationState | "refused" | undefined): string {
  if (standing === "refused")
    return (
      `the hub does not allow this agent to read works for ${cluster}, and does not recognize the token in ` +
      `the bootstrap kubeconfig, so the reason is unknown; run 'flotilla accept ${cluster}' on the hub, or, ` +
      "if the cluster is not registered there, create another token with 'flotilla token " +
      "--bootstrap-kubeconfig FILE'"
    );
  if (standing === undefined)
    return (
      `the hub does not allow this agent to read works for ${cluster}: the cluster was not registered, or was ` +
      "removed; register it again with 'flotilla register'"
    );
  if (standing === "unknown")
    return `cluster ${cluster} was removed from the hub; its workloads keep running. Restart this agent to register again`;
  if (standing === "made")
    return `cluster ${cluster} was no longer known to the hub and was registered again; run 'flotilla accept ${cluster}' on the hub`;
  return `the hub does not allow this agent to read works for ${cluster}; run 'flotilla accept ${cluster}' on the hub`;
}

interface Waiting {
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

/** Resolves when the agent's permissions change, or are all revoked. An unreachable hub changes nothing. */
async function untilOther(
  { client, hub, cluster }: Who,
  before: HubApis,
  alarm: Alarm,
  { clock, random, log, signal }: Waiting,
): Promise<HubApis | "none"> {
  let isNone = false;
  for (let waitMs = FIRST_CHECK_MS; ; waitMs = Math.min(MAX_CHECK_INTERVAL_MS, waitMs * 2)) {
    if (isNone) await sleep(clock, SURE_AFTER_MS, signal);
    else if (await alarm.sleep(clock, waitMs * (0.75 + random.next() / 2), signal)) waitMs = FIRST_CHECK_MS;
    try {
      const now = await readHubApis(client, hub, cluster, signal);
      if (!now.karmada && !now.ocm && isNone) return "none";
      isNone = !now.karmada && !now.ocm;
      // Reduced permissions are left for the hub to enforce: one answer does not stop running controllers.
      if ((now.karmada && !before.karmada) || (now.ocm && !before.ocm))
        return { karmada: now.karmada || before.karmada, ocm: now.ocm || before.ocm };
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug("permissions of this agent could not be read", { error });
    }
  }
}

interface Alarm {
  /** Ends the current sleep, or the next one. */
  ring(): void;
  /** Resolves with true if `ring` ended it. */
  sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean>;
}

function createAlarm(): Alarm {
  let rung = new AbortController();
  return {
    ring: () => rung.abort(),
    async sleep(clock, ms, signal) {
      const { signal: woken } = rung;
      try {
        await sleep(clock, ms, AbortSignal.any([signal, woken]));
      } catch (error) {
        if (signal.aborted || !woken.aborted) throw error;
        rung = new AbortController();
      }
      return woken.aborted;
    },
  };
}

async function retryUntilDone<T>(
  doing: string,
  work: () => Promise<T>,
  waiting: Waiting & { lastRetryMs: number },
): Promise<T> {
  const { clock, random, log, signal, lastRetryMs } = waiting;
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(lastRetryMs, waitMs * 2)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || error instanceof NameTakenError) throw error;
      log.warn(`${doing} failed, retrying`, { error });
      await sleep(clock, waitMs * (0.75 + random.next() / 2), signal);
    }
  }
}
