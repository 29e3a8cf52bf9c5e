/**
 * Keeps an agent known to its hub: gets a certificate with the bootstrap identity, renews it with its own before it
 * ends, and starts anew with the bootstrap identity when it ended while nobody could renew it.
 *
 * Reads and writes: requests on the hub (`request-certificate.ts`), the store of credentials.
 */
import { FlotillaError, messageOf, sleep } from "../../base/index.ts";
import type { Clock, Log, Random } from "../../base/index.ts";
import type { Client, CredentialSource } from "../../client/index.ts";
import { ApiError } from "../../machinery/index.ts";
import type { CredentialStore } from "./credential-store.ts";
import { expiresMs, problemWith, renewalDueMs } from "./hub-credentials.ts";
import type { HubAddress, HubCredentials } from "./hub-credentials.ts";
import type { AgentIdentity } from "./identity.ts";
import { CertificateDeniedError, requestCertificate } from "./request-certificate.ts";

/**
 * A certificate is renewed when between a fifth and a quarter of its lifetime is left, by chance, so that those of one
 * day spread out.
 */
const LEAST_SHARE = 0.2;
const SHARE_SPREAD = 0.05;
/** Wall clocks are corrected, and machines sleep: no wait for a date is longer than this. */
const LONGEST_WAIT_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 5 * 60_000;
/** Whoever said no is asked again seldom. */
const AFTER_DENIAL_MS = 60 * 60_000;

/** How the last attempt to get a certificate went; unset before the first. */
export type Rotation = { ok: true; expiresMs: number } | { ok: false; message: string };

export interface CredentialKeeperOptions {
  hub: string;
  /** Where the hub is, by the bootstrap kubeconfig. */
  address: HubAddress;
  cluster: string;
  /** The name of this agent among those of the cluster, where nothing says which it had. */
  agent: string;
  identityOf(agent: string): AgentIdentity;
  store: CredentialStore;
  /**
   * The identity that everybody starts with, and what is done with it before the first request. Unset: whoever
   * registered the cluster left a certificate.
   */
  bootstrap?: { client: Client; introduce(client: Client, agent: string, signal: AbortSignal): Promise<unknown> };
  /** With our own. */
  client: Client;
  expirationSeconds?: number;
  clock: Clock;
  random: Random;
  log: Log;
  /** Told when a certificate came, or did not. */
  onRotation?(rotation: Rotation): void;
}

export interface CredentialKeeper {
  /** Those that are stored when they are good, else new ones, for which it waits. */
  obtain(signal: AbortSignal): Promise<HubCredentials>;
  /** For the transport to the hub: always the newest. */
  source: CredentialSource;
  /** Renews them until `signal` is aborted; then it resolves. */
  keep(signal: AbortSignal): Promise<void>;
}

export function createCredentialKeeper(options: CredentialKeeperOptions): CredentialKeeper {
  const {
    hub,
    address,
    cluster,
    identityOf,
    store,
    bootstrap,
    client,
    expirationSeconds,
    clock,
    random,
    log,
    onRotation = () => {},
  } = options;
  let current: HubCredentials | undefined;
  let share = LEAST_SHARE;

  /** Issued, and not kept yet: whoever could not write it down does not ask for another. */
  let unsaved: HubCredentials | undefined;

  async function ask(through: Client, agent: string, signal: AbortSignal): Promise<HubCredentials> {
    if (!unsaved || expiresMs(unsaved.cert) <= clock.now()) {
      const issued = await requestCertificate(
        { hub, client: through, identity: identityOf(agent), expirationSeconds, clock, random, log },
        signal,
      );
      unsaved = { address, cluster, agent, ...issued };
    }
    const credentials = unsaved;
    await store.save(credentials, signal);
    unsaved = undefined;
    take(credentials);
    log.info("have a certificate", {
      user: identityOf(agent).commonName,
      until: new Date(expiresMs(credentials.cert)).toISOString(),
    });
    return credentials;
  }

  async function renew(agent: string, signal: AbortSignal): Promise<HubCredentials> {
    await store.prepare(signal);
    return ask(client, agent, signal);
  }

  function take(credentials: HubCredentials): void {
    current = credentials;
    share = LEAST_SHARE + SHARE_SPREAD * random.next();
    onRotation({ ok: true, expiresMs: expiresMs(credentials.cert) });
  }

  async function begin(agent: string, signal: AbortSignal): Promise<HubCredentials> {
    if (!bootstrap)
      throw new CertificateDeniedError(
        `${cluster} has no certificate that its hub accepts, and no bootstrap kubeconfig to ask for one; register it again`,
      );
    await store.prepare(signal);
    try {
      await bootstrap.introduce(bootstrap.client, agent, signal);
      return await ask(bootstrap.client, agent, signal);
    } catch (error) {
      throw explainRefusal(error);
    }
  }

  /** Until it works: a hub may be away for days, and a person may be on holiday. */
  async function insist<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || error instanceof NameTakenError) throw error;
        onRotation({ ok: false, message: messageOf(error) });
        const waitMs =
          error instanceof CertificateDeniedError
            ? AFTER_DENIAL_MS
            : Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 20));
        log.warn("no certificate yet, trying again", { error, inMs: waitMs });
        await sleep(clock, waitMs * (0.75 + random.next() / 2), signal);
      }
    }
  }

  return {
    async obtain(signal) {
      const stored = await store.load(signal);
      const agent = stored?.cluster === cluster && stored.agent !== "" ? stored.agent : options.agent;
      const problem = stored
        ? problemWith(stored, { address, cluster, commonName: identityOf(agent).commonName }, clock.now())
        : "there are none";
      if (stored && problem === undefined) {
        take(stored);
        return stored;
      }
      log.info("asking the hub for credentials", { why: problem });
      return insist(() => begin(agent, signal), signal);
    },
    source: {
      async current() {
        return current ? { cert: current.cert, key: current.key } : {};
      },
      async replace(refused) {
        return current && current.cert !== refused.cert ? { cert: current.cert, key: current.key } : undefined;
      },
    },
    async keep(signal) {
      for (let held = current; held && !signal.aborted; held = current) {
        const { agent, cert } = held;
        const dueMs = renewalDueMs(cert, share) - clock.now();
        try {
          if (dueMs > 0) await sleep(clock, Math.min(dueMs, LONGEST_WAIT_MS), signal);
          // One that ended opens nothing any more, not even the way to another.
          else
            await insist(() => (expiresMs(cert) <= clock.now() ? begin(agent, signal) : renew(agent, signal)), signal);
        } catch (error) {
          if (!signal.aborted) throw error;
        }
      }
    },
  };
}

/** A token for new clusters ends after a day, and nothing but a new one helps. */
function explainRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status.code !== 401) return error;
  return new FlotillaError(
    "Token",
    "the hub does not know the token of the bootstrap kubeconfig; it may have ended, and 'flotilla token --bootstrap-kubeconfig FILE' on the hub makes another, which counts as soon as it is there",
    { cause: error },
  );
}

/** Two clusters under one name would undo each other's work. */
export class NameTakenError extends FlotillaError {
  constructor(cluster: string, what: string) {
    super(
      "NameTaken",
      `another cluster has registered as ${cluster}: ${what}; choose another name with --cluster-name, or delete the other one on the hub`,
    );
  }
}
