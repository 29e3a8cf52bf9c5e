/**
 * Who we are to a server, when that changes while we run: tokens and certificates in files that somebody else keeps
 * fresh. Plugins that give them are in `exec-plugin.ts`.
 */
import { X509Certificate, createPrivateKey } from "node:crypto";
import { FlotillaError, messageOf } from "../base/index.ts";
import type { Clock } from "../base/index.ts";

export interface Credentials {
  readonly token?: string;
  /** PEM, both or neither. */
  readonly cert?: string;
  readonly key?: string;
}

export interface CredentialSource {
  /** Those that hold now. Rejects with `CredentialsError` when there are none. */
  current(): Promise<Credentials>;
  /** The server did not accept these. Resolves with others, or with undefined when there are none. */
  replace(refused: Credentials): Promise<Credentials | undefined>;
}

/** We do not know who we are: a plugin failed, or a file cannot be read. */
export class CredentialsError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Credentials", message, options);
  }
}

/** What is in files is rotated by whoever mounts them, well before it expires. */
const REREAD_AFTER_MS = 60_000;
/** A server that refuses everything must not make us read, or run a plugin, for every request. */
export const REPLACE_AT_MOST_EVERY_MS = 10_000;

/**
 * `read` gives what the files hold now. What they hold while they are being rotated (one of a pair, nothing) is passed
 * over.
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
          throw new CredentialsError(`the files that say who we are cannot be read: ${messageOf(error)}`, {
            cause: error,
          });
        return known; // Files are missing for a moment while they are replaced; the old content still holds.
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

/** The part that belongs to a connection; a token goes with each request. */
export function sameIdentity(a: Credentials, b: Credentials): boolean {
  return a.cert === b.cert && a.key === b.key;
}

function isUsable({ token, cert, key }: Credentials): boolean {
  if (token === "") return false;
  return cert === undefined || key === undefined || isPair(cert, key);
}

/** True when the key is the certificate's. */
export function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    // Not PEM at all, for example because only half of it is written.
    return false;
  }
}
