/**
 * The keys of an identity provider: found through its discovery document, kept in memory, and read again when a token
 * names an unknown key or after an hour. A provider that does not answer delays only tokens with unknown keys, which fail
 * at once between attempts. Known keys stay in use while they are read again.
 */
import { FlotillaError, isObject, messageOf } from "@flotilla/base";
import type { Clock, Json, Log } from "@flotilla/base";
import { keysIn } from "./web-token.ts";
import type { VerificationKey } from "./web-token.ts";

/** Reads a JSON document over https. */
export type FetchJson = (url: URL) => Promise<Json>;

export interface IssuerKeys {
  /** The keys that a token may be signed with. Rejects when none are known. */
  forToken(keyId: string): Promise<readonly VerificationKey[]>;
}

/** Tokens with invented key ids must not make the server ask the provider all the time. */
const RETRY_MS = 10_000;
const REFRESH_MS = 60 * 60 * 1000;

export function createIssuerKeys({
  issuer,
  discoveryUrl,
  fetchJson,
  clock,
  log,
}: {
  issuer: string;
  discoveryUrl: URL;
  fetchJson: FetchJson;
  clock: Clock;
  log: Log;
}): IssuerKeys {
  let keys: readonly VerificationKey[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let problem: string | undefined;

  async function read(): Promise<void> {
    triedAtMs = clock.now();
    try {
      const found = await fetchKeys();
      if (problem !== undefined) log.info("the keys of an issuer can be read again", { issuer });
      problem = undefined;
      keys = found;
      readAtMs = clock.now();
    } catch (error) {
      // Logged when it begins, not for each request.
      if (problem === undefined) log.warn("the keys of an issuer cannot be read", { issuer, error });
      problem = messageOf(error);
    } finally {
      reading = undefined;
    }
  }

  async function fetchKeys(): Promise<readonly VerificationKey[]> {
    const document = await fetchJson(discoveryUrl);
    if (!isObject(document) || document.issuer !== issuer)
      throw new FlotillaError(
        "IssuerKeys",
        `the discovery document is for issuer ${JSON.stringify(isObject(document) ? document.issuer : null)}`,
      );
    const { jwks_uri: uri } = document;
    if (typeof uri !== "string" || !URL.canParse(uri) || new URL(uri).protocol !== "https:")
      throw new FlotillaError("IssuerKeys", "the discovery document has no jwks_uri that starts with https://");
    const found = keysIn(await fetchJson(new URL(uri)));
    if (found.length === 0) throw new FlotillaError("IssuerKeys", "the key set has no key that verifies signatures");
    return found;
  }

  const matching = (keyId: string): readonly VerificationKey[] =>
    keyId === "" ? keys : keys.filter((key) => key.keyId === keyId);

  return {
    async forToken(keyId) {
      const nowMs = clock.now();
      const isKnown = matching(keyId).length > 0;
      const isStale = !isKnown || nowMs - readAtMs > REFRESH_MS;
      if (isStale && nowMs - triedAtMs >= RETRY_MS) reading ??= read();
      if (!isKnown) await reading;
      if (keys.length === 0)
        throw new FlotillaError("IssuerKeys", problem ?? "the keys of the issuer are not known yet");
      return matching(keyId);
    },
  };
}
