/**
 * The keys that all API servers of a hub share: certificate authorities, the keys of service account tokens and the
 * secrets of administrators' tokens. Each file has one or more keys: the first signs, all verify.
 *
 * Reads: the files of a folder. Writes them only where it may: into the data directory of the first server of a hub.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AUTHORITY_FILES, ensureAuthorities, pemBlocks } from "@flotilla/apimachinery";
import type { Authorities } from "@flotilla/apimachinery";
import { createSigningKey, openSigningKeys } from "@flotilla/apiserver";
import { FlotillaError, systemRandom } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import { writeSecret } from "../secret-file.ts";

export const SIGNING_KEYS = "service-accounts.key";
export const ADMINISTRATOR_SECRETS = "administrators.key";
export const KEY_FILES: readonly string[] = [...Object.keys(AUTHORITY_FILES), SIGNING_KEYS, ADMINISTRATOR_SECRETS];

/** The keys of a hub are missing, or are those of another hub. */
export class KeysError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Keys", message, options);
  }
}

/** Of one purpose: what this server signs with, and what it accepts. Fingerprints. */
interface KeyUse {
  readonly signs: string;
  readonly accepts: readonly string[];
}

export interface HubKeys extends Authorities {
  /** PEM of the keys of service account tokens. Created when first asked for, which takes a tenth of a second. */
  signingKeys(): Promise<string>;
  administratorSecrets: readonly string[];
  /** By purpose. They contain no secret. */
  fingerprints(): Promise<Fingerprints>;
}

export type Fingerprints = Readonly<Record<string, KeyUse>>;

export interface HubKeysOptions {
  directory: string;
  /** Whether missing keys are created. */
  mayWrite: boolean;
  clock: Clock;
  log: Log;
}

export async function openHubKeys(options: HubKeysOptions): Promise<HubKeys> {
  const { directory, mayWrite } = options;
  const authorities = await ensureAuthorities(options);
  const keep = async (name: string, make: () => string | Promise<string>): Promise<string> => {
    const path = join(directory, name);
    const kept = await readKey(path);
    if (kept !== undefined) return kept.trim();
    if (!mayWrite) throw new KeysError(`${path} does not exist; copy it from another API server of this hub`);
    const made = (await make()).trim();
    await writeSecret(path, `${made}\n`);
    return made;
  };
  const signingKeys = (): Promise<string> => keep(SIGNING_KEYS, createSigningKey);
  const administratorSecrets = (await keep(ADMINISTRATOR_SECRETS, newSecret)).split("\n");
  return {
    ...authorities,
    signingKeys,
    administratorSecrets,
    fingerprints: async () => ({
      "certificate authority": useOf(certificatesIn(authorities.trusted)),
      "front proxy authority": useOf(certificatesIn(authorities.trustedFrontProxies)),
      "authority without clients": useOf(certificatesIn(authorities.noClients)),
      "service account key": useOf(openSigningKeys(await signingKeys()).map(({ der }) => der)),
      "administrators' secret": useOf(administratorSecrets.map((secret) => Buffer.from(secret))),
    }),
  };
}

/** Creates all keys of a new hub in a folder that has none. */
export async function createHubKeys(directory: string, deps: Pick<HubKeysOptions, "clock" | "log">): Promise<HubKeys> {
  if (await hasHubKeys(directory))
    throw new KeysError(`${directory} already has keys of a hub; choose another folder, or remove them first`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const keys = await openHubKeys({ directory, mayWrite: true, ...deps });
  await keys.signingKeys();
  return keys;
}

export const newSecret = (): string => Buffer.from(systemRandom.bytes(32)).toString("base64url");

/** Whether a folder has any of the keys. */
export async function hasHubKeys(directory: string): Promise<boolean> {
  for (const name of KEY_FILES) if ((await readKey(join(directory, name))) !== undefined) return true;
  return false;
}

/** Undefined if the file does not exist. A file that may not be read is an error: it is never replaced. */
export async function readKey(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new KeysError(`cannot read ${path}: check its permissions`, { cause: error });
  }
}

const certificatesIn = (pem: string): Uint8Array[] => Array.from(pemBlocks(pem), ({ bytes }) => bytes);

/** Enough to distinguish keys, and too little to find a secret with. */
const FINGERPRINT_LENGTH = 16;

const fingerprintOf = (content: Uint8Array): string =>
  createHash("sha256").update("flotilla key\n").update(content).digest("hex").slice(0, FINGERPRINT_LENGTH);

function useOf(keys: readonly Uint8Array[]): KeyUse {
  const [signs = "", ...others] = keys.map(fingerprintOf);
  return { signs, accepts: [signs, ...others] };
}
