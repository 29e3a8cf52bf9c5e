/**
 * Encrypts values with keys that a key management service protects (KMS v2). A random seed is made at the start and
 * encrypted by the plugin once; each value has a key derived from the seed, so writes never wait for the plugin. The
 * encrypted seed is stored with the value. When the plugin reports another key, a new seed follows.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import { FlotillaError, messageOf, sleep } from "@flotilla/base";
import type { Clock, Log, Timer } from "@flotilla/base";
import { StoreError } from "../store/errors.ts";
import { GrpcError, grpcStatus } from "../store/grpc/grpc-channel.ts";
import { keyUse, readEnvelope, renderEnvelope, wrappedParts } from "./kms-messages.ts";
import type { KmsStatus, StoredEnvelope, WrappedKey } from "./kms-messages.ts";
import type { KmsPlugin } from "./kms-plugin.ts";
import type { StoredForm, ValueProvider } from "./value-providers.ts";

export interface KmsProvider extends ValueProvider {
  /** Asks the plugin for the first time; before, nothing can be encrypted. Throws when it does not work. */
  start(): Promise<void>;
  close(): void;
}

const SEED_BYTES = 32;
const INFO_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** As kube-apiserver: how often the plugin is asked for its key, and how soon again after a failure. */
const STATUS_EVERY_MS = { working: 60_000, failing: 10_000 };
/** A seed per start of a server and per rotation. */
const MAX_SEEDS = 1_000;
/** A plugin that restarts must not end the server, which follows the values of others. */
const DECRYPT_ATTEMPTS = 6;
const RETRY_MS = 1_000;
const VERSIONS: ReadonlySet<string> = new Set(["v2", "v2beta1"]);

interface Seed {
  readonly secret: Uint8Array;
  readonly form: StoredForm;
}

export function createKmsProvider(options: { name: string; plugin: KmsPlugin; clock: Clock; log: Log }): KmsProvider {
  const { name, plugin, clock, log } = options;
  const prefix = `k8s:enc:kms:v2:${name}:`;
  const head = Buffer.from(prefix);
  /** By the digest of the wrapped key. */
  const seeds = new Map<string, Seed | Promise<Seed>>();
  let current: { secret: Uint8Array; keyId: string; wrapped: readonly Uint8Array[] } | undefined;
  let timer: Timer | undefined;
  let isClosed = false;
  let isFailing = false;

  const remember = (id: string, seed: Seed | Promise<Seed>): void => {
    const [oldest] = seeds.size >= MAX_SEEDS ? seeds.keys() : [];
    if (oldest !== undefined) seeds.delete(oldest);
    seeds.set(id, seed);
  };
  const seedOf = (secret: Uint8Array, keyId: string): Seed => ({
    secret,
    form: { isCurrent: () => current?.keyId === keyId },
  });

  /** Makes a new seed when the plugin has another key. */
  async function refresh(): Promise<void> {
    const { keyId } = working(await plugin.status());
    if (current?.keyId === keyId) return;
    const secret = randomBytes(SEED_BYTES);
    const wrapped = await plugin.encrypt(secret, randomUUID());
    remember(idOf({ wrapped, use: keyUse.hkdfSeed }), seedOf(secret, wrapped.keyId));
    if (current) log.info("values are encrypted with a new key", { provider: name });
    current = { secret, keyId: wrapped.keyId, wrapped: wrappedParts(wrapped) };
  }

  function schedule(): void {
    if (isClosed) return;
    timer = clock.after(isFailing ? STATUS_EVERY_MS.failing : STATUS_EVERY_MS.working, () => {
      void refresh().then(
        () => {
          if (isFailing) log.info("the key management plugin answers again", { provider: name });
          isFailing = false;
          schedule();
        },
        (error: unknown) => {
          if (!isFailing)
            log.warn("the key management plugin does not work; values are encrypted with the last key", {
              provider: name,
              error: messageOf(error),
            });
          isFailing = true;
          schedule();
        },
      );
    });
  }

  async function unwrap(envelope: StoredEnvelope): Promise<Seed> {
    for (let attempt = 1; ; attempt++)
      try {
        const secret = await plugin.decrypt(envelope.wrapped, randomUUID());
        if (secret.length !== SEED_BYTES)
          throw new FlotillaError("Encryption", `the plugin returned a key of ${secret.length} bytes`);
        return seedOf(secret, envelope.wrapped.keyId);
      } catch (error) {
        if (attempt === DECRYPT_ATTEMPTS || isClosed || !isPassing(error)) throw error;
        await sleep(clock, RETRY_MS);
      }
  }

  function seedFor(envelope: StoredEnvelope): Seed | Promise<Seed> {
    const id = idOf(envelope);
    const known = seeds.get(id);
    if (known) return known;
    const unwrapping = unwrap({ ...envelope, wrapped: copied(envelope.wrapped) }).then(
      (seed) => {
        seeds.set(id, seed);
        return seed;
      },
      (error: unknown) => {
        seeds.delete(id);
        throw error;
      },
    );
    remember(id, unwrapping);
    return unwrapping;
  }

  return {
    prefix,
    async start() {
      try {
        await refresh();
      } catch (error) {
        plugin.close();
        throw new StoreError(`the key management plugin ${name} does not work: ${messageOf(error)}`, {
          cause: error,
        });
      }
      schedule();
    },
    encrypt(value, key) {
      if (!current) throw new StoreError(`the key management plugin ${name} was not asked for a key yet`);
      const info = randomBytes(INFO_BYTES);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", derived(current.secret, info), nonce).setAAD(Buffer.from(key));
      const data = Buffer.concat([info, nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
      return Buffer.concat([head, renderEnvelope(data, current.wrapped)]);
    },
    decrypt(value, key) {
      const envelope = readEnvelope(value.subarray(head.length));
      const seed = seedFor(envelope);
      return seed instanceof Promise
        ? seed.then(({ secret }) => opened(envelope, secret, key))
        : opened(envelope, seed.secret, key);
    },
    formOf(value) {
      const seed = seeds.get(idOf(readEnvelope(value.subarray(head.length))));
      return seed instanceof Promise ? undefined : seed?.form;
    },
    close() {
      isClosed = true;
      timer?.cancel();
      plugin.close();
    },
  };
}

/** Throws unless the plugin works. */
function working(status: KmsStatus): KmsStatus {
  if (!VERSIONS.has(status.version))
    throw new FlotillaError("Encryption", `it has the version ${JSON.stringify(status.version.slice(0, 64))}, not v2`);
  if (status.healthz !== "ok")
    throw new FlotillaError("Encryption", `it says ${JSON.stringify(status.healthz.slice(0, 256))}`);
  if (status.keyId === "") throw new FlotillaError("Encryption", "it names no key");
  return status;
}

const isPassing = (error: unknown): boolean =>
  error instanceof GrpcError &&
  (error.status === grpcStatus.unavailable || error.status === grpcStatus.deadlineExceeded);

/** Identifies a wrapped key and how it is used. */
function idOf({ wrapped: { ciphertext, keyId, annotations }, use }: Pick<StoredEnvelope, "wrapped" | "use">): string {
  const digest = createHash("sha256");
  const add = (part: Uint8Array): unknown => digest.update(`${part.length}:`).update(part);
  add(ciphertext);
  add(Buffer.from(`${use} ${keyId}`));
  for (const [key, value] of [...annotations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    add(Buffer.from(key));
    add(value);
  }
  return digest.digest("base64url");
}

/** Stored values are views of larger buffers, which must not be kept. */
const copied = ({ ciphertext, keyId, annotations }: WrappedKey): WrappedKey => ({
  ciphertext: Uint8Array.from(ciphertext),
  keyId,
  annotations,
});

/** One block of HKDF-Expand with SHA-256: the seed is random, so nothing has to be extracted first. */
const derived = (seed: Uint8Array, info: Uint8Array): Buffer =>
  createHmac("sha256", seed).update(info).update(Uint8Array.of(1)).digest();

function opened({ data, use }: StoredEnvelope, secret: Uint8Array, key: string): Uint8Array {
  const infoEnd = use === keyUse.hkdfSeed ? INFO_BYTES : 0;
  if (use !== keyUse.hkdfSeed && use !== keyUse.aesGcmKey)
    throw new FlotillaError("Encryption", `the key is used in an unknown way (${use})`);
  const nonceEnd = infoEnd + NONCE_BYTES;
  if (data.length < nonceEnd + TAG_BYTES) throw new FlotillaError("Encryption", "the value is too short");
  const cipherKey = infoEnd > 0 ? derived(secret, data.subarray(0, infoEnd)) : secret;
  const cipher = createDecipheriv("aes-256-gcm", cipherKey, data.subarray(infoEnd, nonceEnd))
    .setAAD(Buffer.from(key))
    .setAuthTag(data.subarray(-TAG_BYTES));
  return Buffer.concat([cipher.update(data.subarray(nonceEnd, -TAG_BYTES)), cipher.final()]);
}
