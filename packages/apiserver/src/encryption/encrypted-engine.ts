/**
 * An engine whose values are encrypted. It stands between the cache and the engine that stores: files, checksums and
 * snapshots have the encrypted values, memory and clients the plain ones.
 *
 * Without rules it only refuses to read encrypted values, stored before or by another server, so that a server that was
 * started without its keys says so and does not serve them as they are stored.
 */
import { messageOf } from "@flotilla/base";
import { StoreError } from "../store/errors.ts";
import { INTERNAL_PREFIX } from "../store/internal-keys.ts";
import { describeKey } from "../store/sqlite-failures.ts";
import type { Change, Engine, Entry, PastChange } from "../store/engine.ts";
import type { EncryptionRule } from "./encryption-configuration.ts";
import { ENCRYPTED } from "./value-providers.ts";
import type { StoredForm, ValueProvider } from "./value-providers.ts";

/** A stored value cannot be decrypted with the configured keys. */
class DecryptionError extends StoreError {}

const NO_PROVIDERS: readonly ValueProvider[] = [];

export function encryptEngine(engine: Engine, rules: readonly EncryptionRule[]): Engine {
  const known = new Map<string, readonly ValueProvider[]>();
  /** Keys whose stored value is not as the first provider would write it. */
  const outdated = new Set<string>();
  /** Of keys whose newest value has a provider with changing keys. */
  const forms = new Map<string, StoredForm>();

  /** By the first two parts of the key, of which there are as many as kinds. */
  function providersOf(key: string): readonly ValueProvider[] {
    if (rules.length === 0 || key.startsWith(INTERNAL_PREFIX)) return NO_PROVIDERS;
    const end = key.indexOf("/", key.indexOf("/", 1) + 1);
    const kind = key.slice(0, end);
    let providers = known.get(kind);
    if (!providers) {
      const [, group = "", resource = ""] = kind.split("/");
      providers =
        rules.find(({ matches }) => matches(group === "core" ? "" : group, resource))?.providers ?? NO_PROVIDERS;
      known.set(kind, providers);
    }
    return providers;
  }

  function encrypt(key: string, value: Uint8Array): Uint8Array {
    const [first] = providersOf(key);
    return first ? first.encrypt(value, key) : value;
  }

  /** `isCurrent`: the value is the newest of its key. */
  function decrypt(key: string, value: Uint8Array, isCurrent: boolean): Uint8Array | Promise<Uint8Array> {
    const providers = providersOf(key);
    const isEncrypted = startsWith(value, ENCRYPTED);
    if (!isEncrypted && providers.length === 0) return value;
    const index = isEncrypted
      ? providers.findIndex(({ prefix }) => prefix !== "" && startsWith(value, Buffer.from(prefix)))
      : providers.findIndex(({ prefix }) => prefix === "");
    const provider = providers[index];
    if (!provider) throw new DecryptionError(`${describeKey(key)} ${unreadable(value, isEncrypted, providers.length)}`);
    if (isCurrent) {
      if (index > 0) outdated.add(key);
      else outdated.delete(key);
    }
    const fail = (error: unknown): never => {
      throw new DecryptionError(
        `${describeKey(key)} cannot be decrypted with the key ${keyNameOf(provider.prefix)} of the ` +
          "encryption configuration: the secret of the key is another one, or the value was changed " +
          `(${messageOf(error)})`,
      );
    };
    const noteForm = (): void => {
      const form = isCurrent ? provider.formOf?.(value) : undefined;
      if (form) forms.set(key, form);
    };
    if (isCurrent) forms.delete(key);
    try {
      const plain = provider.decrypt(value, key);
      if (!(plain instanceof Promise)) {
        noteForm();
        return plain;
      }
      return plain.then((decrypted) => {
        noteForm();
        return decrypted;
      }, fail);
    } catch (error) {
      return fail(error);
    }
  }

  const plainEntry = (entry: Entry, isCurrent: boolean): Entry | Promise<Entry> =>
    withValue(entry, decrypt(entry.key, entry.value, isCurrent));

  return {
    isShared: engine.isShared,
    async commit(write) {
      const value = write.value === null || rules.length === 0 ? write.value : encrypt(write.key, write.value);
      const outcome = await engine.commit(value === write.value ? write : { ...write, value });
      // Only a write that another one preceded returns a value.
      return outcome.ok || !outcome.current
        ? outcome
        : { ...outcome, current: await plainEntry(outcome.current, false) };
    },
    async *scan(prefix) {
      for await (const batch of engine.scan(prefix)) yield await all(batch.map((entry) => plainEntry(entry, true)));
    },
    async *changes(after, signal) {
      for await (const batch of engine.changes(after, signal))
        yield { ...batch, changes: await all(batch.changes.map(plainChange)) };
    },
    async *past(upTo) {
      for await (const batch of engine.past(upTo)) yield await all(batch.map(plainPast));
    },
    revision: () => engine.revision(),
    isReachable: () => engine.isReachable?.() ?? true,
    compact: (revision) => engine.compact(revision),
    snapshot: (path) => engine.snapshot(path),
    isOutdated: (key) => outdated.has(key) || forms.get(key)?.isCurrent() === false,
    close: () => engine.close(),
  };
  function plainChange(change: Change): Change | Promise<Change> {
    if (change.value === null) {
      outdated.delete(change.key);
      forms.delete(change.key);
      return change;
    }
    return withValue(change, decrypt(change.key, change.value, true));
  }
  function plainPast(change: PastChange): PastChange | Promise<PastChange> {
    if (!change.previous) return change;
    const previous = plainEntry(change.previous, false);
    if (previous instanceof Promise) return previous.then((plain) => ({ ...change, previous: plain }));
    return previous === change.previous ? change : { ...change, previous };
  }
}

/** The same with another value, when it is there. */
function withValue<T extends { readonly value: Uint8Array | null }>(
  entry: T,
  value: Uint8Array | Promise<Uint8Array>,
): T | Promise<T> {
  if (value instanceof Promise) return value.then((plain) => ({ ...entry, value: plain }));
  return value === entry.value ? entry : { ...entry, value };
}

/** Awaited only where a key had to be asked for. */
function all<T>(items: (T | Promise<T>)[]): T[] | Promise<T[]> {
  return items.some((item) => item instanceof Promise) ? Promise.all(items) : (items as T[]);
}

function startsWith(value: Uint8Array, prefix: Uint8Array): boolean {
  if (value.length < prefix.length || value[0] !== prefix[0]) return false;
  return Buffer.compare(value.subarray(0, prefix.length), prefix) === 0;
}

/** `k8s:enc:aesgcm:v1:key1:` */
const keyNameOf = (prefix: string): string =>
  prefix
    .split(":")
    .slice(2, 5)
    .filter((part) => part !== "v1")
    .join("/");

function unreadable(value: Uint8Array, isEncrypted: boolean, providers: number): string {
  if (!isEncrypted)
    return "is stored without encryption, and its providers do not include identity; add identity as the last one until everything is rewritten";
  const [, , provider = "", , name = ""] = Buffer.from(value.subarray(0, 256)).toString("latin1").split(":");
  const advice =
    "start the server with the --encryption-provider-config that has this key, also if another key encrypts now";
  return providers === 0
    ? `is encrypted with the key ${provider}/${name}, and no keys are configured for it; ${advice}`
    : `is encrypted with the key ${provider}/${name}, which is not configured; ${advice}`;
}
