/**
 * Credentials that change at run time: tokens and certificates in files that another process rotates. Credential
 * plugins are in `exec-plugin.ts`.
 */
import { X509Certificate, createPrivateKey } from "node:crypto";
import { FlotillaError, messageOf } from "@flotilla/base";
import type { Clock } from "@flotilla/base";

export interface Credentials {
  readonly token?: string;
  /** PEM, both or neither. */
  readonly cert?: string;
  readonly key?: string;
}

export interface CredentialSource {
  /** The credentials currently in force. Rejects with `CredentialsError` when there are none. */
  current(): Promise<Credentials>;
  /**
   * Called when the server rejected these credentials. Resolves with new ones, or with undefined when there are none.
   */
  replace(refused: Credentials): Promise<Credentials | undefined>;
}

/** No credentials are available: a plugin failed, or a file cannot be read. */
export class CredentialsError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Credentials", message, options);
  }
}

/** Mounted files are rotated well before their contents expire. */
const REREAD_AFTER_MS = 60_000;
/** A server that rejects everything must not make us read files, or run a plugin, for every request. */
export const REPLACE_AT_MOST_EVERY_MS = 10_000;

/**
 * `read` returns the current contents of the files. Incomplete contents during a rotation (one of a pair, or nothing)
 * are ignored.
 */
export function createFileCredentials({
  read,
  clock,
}: {
  read: () => Promise<Credentials>;
  clock: Clock;
}): CredentialSource {
  let known: Credentials | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<Credentials> | undefined;

  const reread = (): Promise<Credentials> => {
    reading ??= (async () => {
      try {
        const found = await read();
        if (!known || (!sameCredentials(found, known) && isUsable(found))) known = found;
        return known;
      } catch (error) {
        if (!known)
          throw new CredentialsError(`cannot read the credential files: ${messageOf(error)}`, {
            cause: error,
          });
        return known; // Files are briefly missing while they are replaced; the old contents are still valid.
      } finally {
        readAtMs = clock.now();
        reading = undefined;
      }
    })();
    return reading;
  };

  return {
    async current() {
      return known && clock.now() - readAtMs < REREAD_AFTER_MS ? known : reread();
    },
    async replace(refused) {
      if (known && !sameCredentials(known, refused)) return known;
      if (clock.now() - readAtMs < REPLACE_AT_MOST_EVERY_MS) return undefined;
      const found = await reread();
      return sameCredentials(found, refused) ? undefined : found;
    },
  };
}

export function sameCredentials(a: Credentials, b: Credentials): boolean {
  return a.token === b.token && sameIdentity(a, b);
}

/** Compares the part that belongs to a connection; a token is sent with each request. */
export function sameIdentity(a: Credentials, b: Credentials): boolean {
  return a.cert === b.cert && a.key === b.key;
}

function isUsable({ token, cert, key }: Credentials): boolean {
  if (token === "") return false;
  return cert === undefined || key === undefined || isPair(cert, key);
}

/** Reports whether the key belongs to the certificate. */
export function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    // Not valid PEM, for example because only half of it is written.
    return false;
  }
}
