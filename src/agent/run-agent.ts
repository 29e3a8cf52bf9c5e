/**
 * The life of an agent on one cluster: it finds out what it may do on its hub, does that, and looks now and then whether it may do more.
 * A hub that does not answer is waited for; what was heard from it before goes on.
 */
import { FlotillaError, sleep } from "../base/index.ts";
import type { Clock, Log, Random } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import { createAgent } from "./create-agent.ts";
import type { Agent, AgentOptions, Faces } from "./create-agent.ts";
import { NameTakenError } from "./credentials/keep-credentials.ts";
import { ensureCluster } from "./ensure-cluster.ts";
import type { ClusterDescription } from "./ensure-cluster.ts";
import { readFaces } from "./faces.ts";

export interface RunAgentOptions extends Omit<AgentOptions, "faces" | "only" | "onOlderHub"> {
  cluster: string;
  /** Set for who registered Karmada's way, and makes its own Cluster. */
  description?: ClusterDescription;
  /** Told when it begins to serve. */
  onServing?(faces: Faces, agent: Agent): void;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
/** New rights come once, when the cluster is accepted; after that asking is worth little. */
const FIRST_LOOK_MS = 5_000;
const LAST_LOOK_MS = 10 * 60_000;

/** Resolves when `signal` is aborted. Rejects when the name of the cluster is another's. */
export async function runAgent({ cluster, description, onServing = () => {}, ...options }: RunAgentOptions, signal: AbortSignal): Promise<void> {
  const { hub, clock, random, log } = options;
  const client = options.clientFor("agent");
  const waiting = { clock, random, log, signal };
  try {
    let faces = await insist("finding out what this agent may do on its hub", () => rights(client, hub, cluster, description, signal), waiting);
    while (!signal.aborted) {
      const older = Promise.withResolvers<Faces>();
      const agent = createAgent({
        ...options,
        faces,
        only: cluster,
        onOlderHub() {
          log.warn("the hub is older than it was: it seems to have been restored from a copy; reading everything anew");
          older.resolve(faces);
        },
      });
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
        faces = await Promise.race([untilOther(client, hub, cluster, faces, waiting), older.promise, failed]);
        stop();
        await started;
        signal.removeEventListener("abort", stop);
      } finally {
        await agent.stop();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function rights(client: Client, hub: string, cluster: string, description: ClusterDescription | undefined, signal: AbortSignal): Promise<Faces> {
  if (description) await ensureCluster(client, hub, cluster, description, signal);
  const faces = await readFaces(client, hub, cluster, signal);
  if (!faces.karmada && !faces.ocm) throw new FlotillaError("NotAccepted", `the hub does not let this agent see works for ${cluster} yet; 'flotilla accept ${cluster}' on the hub does`);
  return faces;
}

interface Waiting {
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

/** Resolves when the agent may do something else than before. A hub that does not answer changes nothing. */
async function untilOther(client: Client, hub: string, cluster: string, before: Faces, { clock, random, log, signal }: Waiting): Promise<Faces> {
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(LAST_LOOK_MS, waitMs * 2)) {
    await sleep(clock, waitMs * (0.75 + random.next() / 2), signal);
    try {
      const now = await readFaces(client, hub, cluster, signal);
      // Less than before is for the hub to enforce: what runs is not given up because of one answer.
      if ((now.karmada && !before.karmada) || (now.ocm && !before.ocm)) return { karmada: now.karmada || before.karmada, ocm: now.ocm || before.ocm };
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug("the hub did not say what this agent may do", { error });
    }
  }
}

async function insist<T>(doing: string, work: () => Promise<T>, { clock, random, log, signal }: Waiting): Promise<T> {
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(LAST_RETRY_MS, waitMs * 2)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || error instanceof NameTakenError) throw error;
      log.warn(`${doing} failed, trying again`, { error });
      await sleep(clock, waitMs * (0.75 + random.next() / 2), signal);
    }
  }
}
