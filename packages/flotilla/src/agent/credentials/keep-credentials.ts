/**
 * Keeps an agent's client certificate valid: requests one with the bootstrap identity, renews it with its own identity
 * before it expires, and falls back to the bootstrap identity if it expired without renewal.
 *
 * Reads and writes: CertificateSigningRequests on the hub (`request-certificate.ts`), the credential store.
 */
import { FlotillaError, messageOf, sleep } from "@flotilla/base";
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client, CredentialSource } from "@flotilla/client";
import { ApiError } from "@flotilla/apimachinery";
import type { CredentialStore } from "./credential-store.ts";
import { expiresMs, problemWith, renewalDueMs } from "./hub-credentials.ts";
import type { HubAddress, HubCredentials } from "./hub-credentials.ts";
import type { AgentIdentity } from "./identity.ts";
import { CertificateDeniedError, requestCertificate } from "./request-certificate.ts";

/**
 * A certificate is renewed when between a fifth and a quarter of its lifetime is left; the random share spreads out the
 * renewals of certificates issued on the same day.
 */
const LEAST_SHARE = 0.2;
const SHARE_SPREAD = 0.05;
/** Wall clocks are corrected, and machines sleep: no wait for a date exceeds this. */
const LONGEST_WAIT_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 5 * 60_000;
/** Retry interval after a denial, long because the same approver would decide again. */
const AFTER_DENIAL_MS = 60 * 60_000;

/** The result of the last certificate request; unset before the first. */
export type Rotation = { ok: true; expiresMs: number } | { ok: false; message: string };

export interface CredentialKeeperOptions {
  hub: string;
  /** The hub's address from the bootstrap kubeconfig. */
  address: HubAddress;
  cluster: string;
  /** The name of this agent within the cluster, used when no stored credentials contain one. */
  agent: string;
  identityOf(agent: string): AgentIdentity;
  store: CredentialStore;
  /**
   * The bootstrap identity, and the registration made with it before the first request. Unset when the registration
   * already provided a certificate.
   */
  bootstrap?: { client: Client; introduce(client: Client, agent: string, signal: AbortSignal): Promise<unknown> };
  /** The client that uses our own certificate. */
  client: Client;
  expirationSeconds?: number;
  clock: Clock;
  random: Random;
  log: Log;
  /** Called when a certificate was issued, or the request failed. */
  onRotation?(rotation: Rotation): void;
}

export interface CredentialKeeper {
  /** Returns stored credentials if they are valid; otherwise requests new ones and waits for them. */
  obtain(signal: AbortSignal): Promise<HubCredentials>;
  /** For the transport to the hub: always the latest. */
  source: CredentialSource;
  /** Renews them; resolves when `signal` is aborted. */
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

  /** Issued but not stored yet: after a failed write the agent stores this one and does not request another. */
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
    log.info("certificate issued", {
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
        `cluster ${cluster} has no certificate that its hub accepts, and no bootstrap kubeconfig to request one; register it again`,
      );
    await store.prepare(signal);
    try {
      await bootstrap.introduce(bootstrap.client, agent, signal);
      return await ask(bootstrap.client, agent, signal);
    } catch (error) {
      throw explainRefusal(error);
    }
  }

  /** Retries without limit: a hub may be unreachable for days, and an approver may be absent. */
  async function retryUntilDone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
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
        log.warn("no certificate yet, retrying", { error, inMs: waitMs });
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
        : "no credentials are stored";
      if (stored && problem === undefined) {
        take(stored);
        return stored;
      }
      log.info("requesting credentials from the hub", { why: problem });
      return retryUntilDone(() => begin(agent, signal), signal);
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
          // An expired certificate cannot authenticate a request for its own renewal.
          else
            await retryUntilDone(
              () => (expiresMs(cert) <= clock.now() ? begin(agent, signal) : renew(agent, signal)),
              signal,
            );
        } catch (error) {
          if (!signal.aborted) throw error;
        }
      }
    },
  };
}

/** A bootstrap token expires after a day or with its use, and only a new one helps. */
function explainRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status.code !== 401) return error;
  return new FlotillaError(
    "Token",
    "the hub does not recognize the token in the bootstrap kubeconfig; it has expired or was used for " +
      "another cluster. Run 'flotilla token --bootstrap-kubeconfig FILE' on the hub to create another; it is " +
      "used as soon as the file is in place",
    { cause: error },
  );
}

/** Two clusters with one name would overwrite each other's work. */
export class NameTakenError extends FlotillaError {
  constructor(cluster: string, what: string) {
    super(
      "NameTaken",
      `another cluster is already registered as ${cluster}: ${what}; choose another name with --cluster-name, or delete the other one on the hub`,
    );
  }
}
