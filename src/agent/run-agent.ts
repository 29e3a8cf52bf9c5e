/**
 * The life of an agent on one cluster: it finds out what it may do on its hub, does that, and looks now and then
 * whether it may do more. A hub that does not answer is waited for; what was heard from it before goes on.
 */
import { FlotillaError, sleep } from "../base/index.ts";
import type { Clock, Log, Random } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import { ApiError } from "../machinery/index.ts";
import { createAgent } from "./create-agent.ts";
import type { Agent, AgentOptions, Faces } from "./create-agent.ts";
import { NameTakenError } from "./credentials/keep-credentials.ts";
import { ensureCluster } from "./ensure-cluster.ts";
import type { ClusterDescription } from "./ensure-cluster.ts";
import { readFaces } from "./faces.ts";
import type { Standing } from "./managed-cluster/introduce.ts";

export interface RunAgentOptions extends Omit<AgentOptions, "faces" | "only" | "onOlderHub" | "onChangedStanding"> {
  cluster: string;
  /**
   * Asks, with the identity of the beginning, how the hub knows the cluster; `introduces` tells a hub that does not
   * know it. Unset for who registered Karmada's way.
   */
  standing?(introduces: boolean, signal: AbortSignal): Promise<Standing>;
  /** Set for who registered Karmada's way, and makes its own Cluster. */
  description?: ClusterDescription;
  /** Told when it begins to serve. */
  onServing?(faces: Faces, agent: Agent): void;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
/** New rights come once, when the cluster is accepted; after that asking is worth little. */
const FIRST_LOOK_MS = 1_000;
const LAST_LOOK_MS = 10 * 60_000;
/** Rights that are gone are looked at once more, because a hub that just started may not know them yet. */
const SURE_AFTER_MS = 5_000;

/** Resolves when `signal` is aborted. Rejects when the name of the cluster is another's. */
export async function runAgent(
  { cluster, description, standing, onServing = () => {}, ...options }: RunAgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const { hub, clock, random, log } = options;
  const client = options.clientFor("agent");
  const waiting = { clock, random, log, signal };
  const who: Who = { client, hub, cluster, description, standing };
  try {
    let faces = await insist("finding out what this agent may do on its hub", () => rights(who, true, signal), {
      ...waiting,
      lastRetryMs: LAST_RETRY_MS,
    });
    while (!signal.aborted) {
      const alarm = createAlarm();
      const older = Promise.withResolvers<Faces>();
      const agent = createAgent({
        ...options,
        faces,
        only: cluster,
        onOlderHub() {
          log.warn("the hub is older than it was: it seems to have been restored from a copy; reading everything anew");
          older.resolve(faces);
        },
        onChangedStanding: alarm.ring,
      });
      let next: Faces | "none";
      try {
        onServing(faces, agent);
        const ended = new AbortController();
        const stop = (): void => ended.abort(signal.reason);
        signal.addEventListener("abort", stop, { once: true });
        const started = agent.start(ended.signal).catch((error: unknown) => {
          if (!ended.signal.aborted) throw error;
        });
        // One that began well has nothing more to say; one that did not ends everything.
        const failed = started.then(() => new Promise<never>(() => {}));
        next = await Promise.race([untilOther(who, faces, alarm, waiting), older.promise, failed]);
        stop();
        await started;
        signal.removeEventListener("abort", stop);
      } finally {
        await agent.stop();
      }
      // Whoever let it go does not want it back by itself; whoever starts it again does.
      faces =
        next === "none"
          ? await insist("being let in again", () => rights(who, false, signal), {
              ...waiting,
              lastRetryMs: LAST_LOOK_MS,
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
 * Rejects while there are none, with what somebody can do about it. `introduces` makes the cluster known to a hub that
 * does not know it.
 */
async function rights(
  { client, hub, cluster, description, standing }: Who,
  introduces: boolean,
  signal: AbortSignal,
): Promise<Faces> {
  const faces = await readFaces(client, hub, cluster, signal);
  if (faces.karmada || faces.ocm) {
    if (description) await ensureCluster(client, hub, cluster, description, signal);
    return faces;
  }
  throw new FlotillaError("NotAccepted", whyNot(cluster, standing && (await orRefused(standing(introduces, signal)))));
}

/** The identity of the beginning is a token that ends. */
async function orRefused(standing: Promise<Standing>): Promise<Standing | "refused"> {
  try {
    return await standing;
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 401) return "refused";
    throw error;
  }
}

function whyNot(cluster: string, standing: Standing | "refused" | undefined): string {
  if (standing === "refused")
    return `the hub does not let this agent see works for ${cluster}, nor know the token of the bootstrap kubeconfig with which it could ask why; 'flotilla accept ${cluster}' on the hub lets it in, and where nobody knows it there, 'flotilla token --bootstrap-kubeconfig FILE' makes another token`;
  if (standing === undefined)
    return `the hub does not let this agent see works for ${cluster}: it was not registered, or has left; 'flotilla register' registers it again`;
  if (standing === "unknown")
    return `the hub does not know ${cluster} any more: somebody let it go; what runs here stays. Start this agent again to ask anew`;
  if (standing === "made")
    return `the hub did not know ${cluster} any more and was asked again; 'flotilla accept ${cluster}' on the hub lets it in`;
  return `the hub does not let this agent see works for ${cluster}; 'flotilla accept ${cluster}' on the hub does`;
}

interface Waiting {
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

/**
 * Resolves when the agent may do something else than before, or nothing at all. A hub that does not answer changes
 * nothing.
 */
async function untilOther(
  { client, hub, cluster }: Who,
  before: Faces,
  alarm: Alarm,
  { clock, random, log, signal }: Waiting,
): Promise<Faces | "none"> {
  let isNone = false;
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(LAST_LOOK_MS, waitMs * 2)) {
    if (isNone) await sleep(clock, SURE_AFTER_MS, signal);
    else if (await alarm.sleep(clock, waitMs * (0.75 + random.next() / 2), signal)) waitMs = FIRST_LOOK_MS;
    try {
      const now = await readFaces(client, hub, cluster, signal);
      if (!now.karmada && !now.ocm && isNone) return "none";
      isNone = !now.karmada && !now.ocm;
      // Less than before is for the hub to enforce: what runs is not given up because of one answer.
      if ((now.karmada && !before.karmada) || (now.ocm && !before.ocm))
        return { karmada: now.karmada || before.karmada, ocm: now.ocm || before.ocm };
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug("the hub did not say what this agent may do", { error });
    }
  }
}

interface Alarm {
  /** Ends the sleep that is under way, or the next one. */
  ring(): void;
  /** Resolves with whether it was ended by `ring`. */
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

async function insist<T>(
  doing: string,
  work: () => Promise<T>,
  { clock, random, log, signal, lastRetryMs }: Waiting & { lastRetryMs: number },
): Promise<T> {
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(lastRetryMs, waitMs * 2)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || error instanceof NameTakenError) throw error;
      log.warn(`${doing} failed, trying again`, { error });
      await sleep(clock, waitMs * (0.75 + random.next() / 2), signal);
    }
  }
}
