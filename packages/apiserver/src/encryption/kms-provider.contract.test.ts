/** Values whose keys a key management plugin protects: a plugin on a real socket, its rotation, and its failures. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import http2 from "node:http2";
import type { Http2Server, Http2Session } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFakeClock, silentLog, systemClock } from "@flotilla/base";
import { WireReader } from "@flotilla/apimachinery";
import { bytes, join as joined } from "../store/grpc/message-parts.ts";
import { createMemoryEngine } from "../store/memory-engine.ts";
import type { Engine } from "../store/engine.ts";
import { encryptEngine } from "./encrypted-engine.ts";
import { createKmsPlugin } from "./kms-plugin.ts";
import type { KmsPlugin } from "./kms-plugin.ts";
import { createKmsProvider } from "./kms-provider.ts";
import type { KmsProvider } from "./kms-provider.ts";

const KEY = "/core/secrets/hub/default/db";
const PLAIN = Buffer.from('{"data":{"pass":"top-secret"}}');

let directory: string;
const closing: (() => void | Promise<void>)[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "kms-"));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(directory, { recursive: true });
});

const text = (field: number, value: string) => bytes(field, Buffer.from(value));

/** A plugin with AES keys by name. */
class FakePlugin {
  keyId = "key-1";
  healthz = "ok";
  version = "v2";
  /** The size of the padding in an encrypted key. */
  padding = 0;
  readonly calls: string[] = [];
  readonly keys = new Map<string, Buffer>();
  readonly socketPath: string;
  #server: Http2Server | undefined;
  readonly #sessions = new Set<Http2Session>();

  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  async start(): Promise<void> {
    this.#server = http2.createServer();
    this.#server.on("session", (session) => this.#sessions.add(session));
    this.#server.on("stream", (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const method = String(headers[":path"]);
        this.calls.push(method);
        const answer = Buffer.from(this.#answer(method, fieldsOf(Buffer.concat(chunks).subarray(5))));
        const head = Buffer.alloc(5);
        head.writeUInt32BE(answer.length, 1);
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.end(Buffer.concat([head, answer]));
      });
    });
    await new Promise<void>((resolve) => this.#server?.listen(this.socketPath, resolve));
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    await new Promise<void>((resolve) => {
      if (this.#server?.listening) this.#server.close(() => resolve());
      else resolve();
    });
  }

  #key(id: string): Buffer {
    const key = this.keys.get(id) ?? randomBytes(32);
    this.keys.set(id, key);
    return key;
  }

  #answer(method: string, fields: Map<number, Uint8Array>): Uint8Array {
    const field = (number: number): Buffer => Buffer.from(fields.get(number) ?? []);
    if (method === "/v2.KeyManagementService/Status")
      return joined([...text(1, this.version), ...text(2, this.healthz), ...text(3, this.keyId)]);
    if (method === "/v2.KeyManagementService/Encrypt") {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", this.#key(this.keyId), nonce);
      const sealed = Buffer.concat([nonce, cipher.update(field(1)), cipher.final(), cipher.getAuthTag()]);
      const annotation = joined([...text(1, "version.example.com"), ...text(2, "1")]);
      return joined([
        ...bytes(1, Buffer.concat([sealed, Buffer.alloc(this.padding)])),
        ...text(2, this.keyId),
        ...bytes(3, annotation),
      ]);
    }
    const sealed = field(1);
    const cipher = createDecipheriv("aes-256-gcm", this.#key(field(3).toString()), sealed.subarray(0, 12));
    cipher.setAuthTag(sealed.subarray(-16));
    return joined(bytes(1, Buffer.concat([cipher.update(sealed.subarray(12, -16)), cipher.final()])));
  }
}

function fieldsOf(message: Uint8Array): Map<number, Uint8Array> {
  const fields = new Map<number, Uint8Array>();
  const reader = new WireReader(message);
  while (reader.next()) fields.set(reader.field, reader.bytes());
  return fields;
}

async function startPlugin(): Promise<FakePlugin> {
  const plugin = new FakePlugin(join(directory, "kms.sock"));
  await plugin.start();
  closing.push(() => plugin.stop());
  return plugin;
}

async function startProvider({ socketPath }: FakePlugin): Promise<KmsProvider> {
  const plugin = createKmsPlugin({ socketPath, timeoutMs: 3_000, clock: systemClock });
  const provider = createKmsProvider({ name: "vault", plugin, clock: systemClock, log: silentLog });
  closing.push(() => provider.close());
  await provider.start();
  return provider;
}

const engineOf = (stored: Engine, provider: KmsProvider): Engine =>
  encryptEngine(stored, [{ matches: () => true, providers: [provider] }]);

async function storedValue(engine: Engine): Promise<Buffer> {
  for await (const [entry] of engine.scan("/")) if (entry) return Buffer.from(entry.value);
  throw new Error("nothing is stored");
}

test("values have Kubernetes' prefix and no plain text; another start asks the plugin for the key once", async () => {
  const plugin = await startPlugin();
  const stored = createMemoryEngine();
  const first = engineOf(stored, await startProvider(plugin));

  for (let index = 0; index < 3; index++) await first.commit({ key: KEY + index, expect: "any", value: PLAIN });

  const value = await storedValue(stored);
  expect(value.toString("latin1").startsWith("k8s:enc:kms:v2:vault:")).toBe(true);
  expect(value.includes("top-secret")).toBe(false);
  expect(await storedValue(first)).toEqual(PLAIN);
  expect(plugin.calls.map((path) => path.split("/")[2])).toEqual(["Status", "Encrypt"]);
  const second = engineOf(stored, await startProvider(plugin));
  expect(await storedValue(second)).toEqual(PLAIN);
  await storedValue(second);
  expect(plugin.calls.filter((path) => path.endsWith("/Decrypt"))).toHaveLength(1);
});

test("a value that was changed or moved to another object cannot be read", async () => {
  const provider = await startProvider(await startPlugin());
  const value = Buffer.from(provider.encrypt(PLAIN, KEY));

  expect(() => provider.decrypt(value, `${KEY}2`)).toThrow("authenticate");
  // The last byte of the data: the envelope's other fields follow it.
  const changed = Buffer.from(value);
  const at = "k8s:enc:kms:v2:vault:".length + 60;
  changed[at] = (changed[at] ?? 0) ^ 1;
  expect(() => provider.decrypt(changed, KEY)).toThrow("authenticate");
});

test("when the plugin has another key, new values use it and old ones are outdated", async () => {
  const plugin = await startPlugin();
  const clock = createFakeClock();
  const calls = createKmsPlugin({ socketPath: plugin.socketPath, timeoutMs: 3_000, clock: systemClock });
  const asked = Promise.withResolvers<void>();
  const observed: KmsPlugin = {
    ...calls,
    encrypt: async (...question) => {
      const wrapped = await calls.encrypt(...question);
      if (wrapped.keyId === "key-2") setImmediate(asked.resolve);
      return wrapped;
    },
  };
  const provider = createKmsProvider({ name: "vault", plugin: observed, clock, log: silentLog });
  closing.push(() => provider.close());
  await provider.start();
  const engine = engineOf(createMemoryEngine(), provider);
  await engine.commit({ key: KEY, expect: "any", value: PLAIN });
  await storedValue(engine);
  expect(engine.isOutdated?.(KEY)).toBe(false);

  plugin.keyId = "key-2";
  clock.advance(60_000);
  await asked.promise;

  expect(engine.isOutdated?.(KEY)).toBe(true);
  await engine.commit({ key: KEY, expect: "any", value: PLAIN });
  await storedValue(engine);
  expect(engine.isOutdated?.(KEY)).toBe(false);
});

test("writes go on while the plugin is away", async () => {
  const plugin = await startPlugin();
  const engine = engineOf(createMemoryEngine(), await startProvider(plugin));

  await plugin.stop();
  await engine.commit({ key: KEY, expect: "any", value: PLAIN });

  expect(await storedValue(engine)).toEqual(PLAIN);
});

describe("a start fails, with the reason", () => {
  const cases: Record<string, [change: (plugin: FakePlugin) => void | Promise<void>, problem: string]> = {
    "the plugin is not healthy": [(plugin) => void (plugin.healthz = "sealed"), 'it says "sealed"'],
    "the plugin has another version": [(plugin) => void (plugin.version = "v1beta1"), "not v2"],
    "the plugin names no key": [(plugin) => void (plugin.keyId = ""), "it names no key"],
    "nothing listens": [(plugin) => plugin.stop(), "cannot connect"],
    "the encrypted key is too large to store": [(plugin) => void (plugin.padding = 2_000), "1 to 1024 bytes"],
    "the answer is endless": [(plugin) => void (plugin.padding = 100_000), "sent a message of"],
  };
  test.each(Object.entries(cases))("%s", async (_, [change, problem]) => {
    const plugin = await startPlugin();
    await change(plugin);

    await expect(startProvider(plugin)).rejects.toThrow(problem);
  });
});
