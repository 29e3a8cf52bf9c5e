/** Values at rest: the formats of Kubernetes, rotation of keys, and what happens with a wrong key. */
import { afterEach, describe, expect, test } from "vitest";
import { createMemoryEngine } from "../store/memory-engine.ts";
import type { Engine } from "../store/engine.ts";
import { createTestServer } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";
import { encryptEngine } from "./encrypted-engine.ts";
import { readEncryptionConfiguration } from "./encryption-configuration.ts";
import { identityProvider } from "./value-providers.ts";

const KEY1 = Buffer.alloc(32, 1).toString("base64");
const KEY2 = Buffer.alloc(32, 2).toString("base64");
const SECRETS = "/api/v1/namespaces/default/secrets";
const secret = (name: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  data: { pass: Buffer.from("top-secret").toString("base64") },
});
const gcm = (name: string, key: string): string => `{name: ${name}, secret: "${key}"}`;
const rulesOf = (providers: string, resources = "[secrets]") =>
  readEncryptionConfiguration(
    `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{resources: ${resources}, providers: ${providers}}]`,
    "keys.yaml",
    () => identityProvider,
  );
const FIRST = `[{aesgcm: {keys: [${gcm("key1", KEY1)}]}}, {identity: {}}]`;
const ROTATED = `[{aesgcm: {keys: [${gcm("key2", KEY2)}, ${gcm("key1", KEY1)}]}}, {identity: {}}]`;

/** A store that outlives its servers. */
const lasting = (): Engine => ({ ...createMemoryEngine(), close: async () => {} });
let running: TestServer | undefined;
/** Stops the server before it, as a restart does. */
async function start(stored: Engine, providers?: string): Promise<TestServer> {
  await stop();
  running = await createTestServer({
    engine: encryptEngine(stored, providers === undefined ? [] : rulesOf(providers)),
  });
  return running;
}
async function stop(): Promise<void> {
  await running?.server.close();
  await running?.cache.close();
  running = undefined;
}
afterEach(stop);

async function storedText(stored: Engine, name: string): Promise<string> {
  for await (const batch of stored.scan("/core/secrets/"))
    for (const { key, value } of batch) if (key.endsWith(`/${name}`)) return Buffer.from(value).toString("latin1");
  return "";
}

test.each([
  ["aesgcm", FIRST],
  ["aescbc", `[{aescbc: {keys: [${gcm("key1", KEY1)}]}}]`],
  ["secretbox", `[{secretbox: {keys: [${gcm("key1", KEY1)}]}}]`],
])("%s: what is stored has Kubernetes' prefix and no plain text, and is read back", async (provider, providers) => {
  const stored = lasting();
  const { request } = await start(stored, providers);

  await request("POST", SECRETS, secret("db"));
  await request("POST", "/api/v1/namespaces/default/configmaps", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c" },
  });

  const text = await storedText(stored, "db");
  expect(text.startsWith(`k8s:enc:${provider}:v1:key1:`)).toBe(true);
  expect(text).not.toContain("dG9wLXNlY3JldA");
  expect((await request("GET", `${SECRETS}/db`)).body).toMatchObject({ data: { pass: "dG9wLXNlY3JldA==" } });
  const again = await start(stored, providers);
  expect((await again.request("GET", `${SECRETS}/db`)).body).toMatchObject({ data: { pass: "dG9wLXNlY3JldA==" } });
});

test("keys are rotated: old values are read, and writing an unchanged object stores it with the new key", async () => {
  const stored = lasting();
  await (await start(stored)).request("POST", SECRETS, secret("plain"));
  await (await start(stored, FIRST)).request("POST", SECRETS, secret("db"));
  const { request } = await start(stored, ROTATED);
  const objects = await Promise.all(
    ["plain", "db"].map(async (name) => (await request("GET", `${SECRETS}/${name}`)).body),
  );

  for (const object of objects)
    await request("PUT", `${SECRETS}/${(object.metadata as { name: string }).name}`, object);

  for (const name of ["plain", "db"]) expect(await storedText(stored, name)).toContain("k8s:enc:aesgcm:v1:key2:");
  const after = (await request("GET", `${SECRETS}/db`)).body;
  await request("PUT", `${SECRETS}/db`, after);
  expect((await request("GET", `${SECRETS}/db`)).body).toEqual(after);
  // Now the old key and identity are no longer needed.
  const last = await start(stored, `[{aesgcm: {keys: [${gcm("key2", KEY2)}]}}]`);
  expect((await last.request("GET", SECRETS)).body).toMatchObject({ items: [{}, {}] });
});

describe("a value that cannot be decrypted stops the start, with the object and what to do", () => {
  const cases: Record<string, [providers: string | undefined, error: string]> = {
    "no keys": [
      undefined,
      "secrets default/db of hub is encrypted with the key aesgcm/key1, and no keys are configured for it",
    ],
    "another key": [
      `[{aesgcm: {keys: [${gcm("key2", KEY2)}]}}]`,
      "secrets default/db of hub is encrypted with the key aesgcm/key1, which is not configured",
    ],
    "another secret of that key": [
      `[{aesgcm: {keys: [${gcm("key1", KEY2)}]}}]`,
      "secrets default/db of hub cannot be decrypted with the key aesgcm/key1",
    ],
  };
  test.each(Object.entries(cases))("%s", async (_, [providers, error]) => {
    const stored = lasting();
    await (await start(stored, FIRST)).request("POST", SECRETS, secret("db"));

    await expect(start(stored, providers)).rejects.toThrow(error);
  });

  test("a plain value without identity", async () => {
    const stored = lasting();
    await (await start(stored)).request("POST", SECRETS, secret("db"));

    await expect(start(stored, `[{aesgcm: {keys: [${gcm("key1", KEY1)}]}}]`)).rejects.toThrow(
      "add identity as the last one",
    );
  });

  test("a value that was moved to another object", async () => {
    const stored = lasting();
    await (await start(stored, FIRST)).request("POST", SECRETS, secret("db"));
    await stop();
    const value = Buffer.from(await storedText(stored, "db"), "latin1");
    await stored.commit({ key: "/core/secrets/hub/default/stolen", expect: "any", value });

    await expect(start(stored, FIRST)).rejects.toThrow("secrets default/stolen of hub cannot be decrypted");
  });
});

test("without keys, an encrypted value of another server or of the past is an error and not served", async () => {
  const stored = lasting();
  const encrypting = encryptEngine(stored, rulesOf(FIRST));
  const without = encryptEngine(stored, []);
  const write = (value: string) =>
    encrypting.commit({ key: "/core/secrets/hub/default/db", expect: "any", value: Buffer.from(value) });
  await write("a");
  await write("b");
  const error = "is encrypted with the key aesgcm/key1, and no keys are configured for it";

  const next = without.changes(0, new AbortController().signal)[Symbol.asyncIterator]().next();
  await expect(next).rejects.toThrow(error);
  await expect(Array.fromAsync(without.past(2))).rejects.toThrow(error);
});

test("watches that continue after a restart see plain values of the past", async () => {
  const stored = lasting();
  const first = await start(stored, FIRST);
  const created = await first.request("POST", SECRETS, secret("db"));
  await first.request("PUT", `${SECRETS}/db`, { ...created.body, data: { pass: "bmV3" } });
  const { cache } = await start(stored, ROTATED);

  await cache.recall(Number((created.body.metadata as { resourceVersion: string }).resourceVersion) - 1);
  const events = cache.eventsAfter(
    "/core/secrets/",
    Number((created.body.metadata as { resourceVersion: string }).resourceVersion) - 1,
  );

  expect(
    events.map(({ entry }) =>
      Buffer.from(entry?.value ?? [])
        .toString()
        .includes('"pass":"bmV3"'),
    ),
  ).toEqual([false, true]);
});

describe("configurations", () => {
  test("resources by name, group and wildcard; the first rule that matches counts", () => {
    const [rule] = rulesOf(FIRST, '[secrets, deployments.apps, "*.example.com"]');
    const matches = (group: string, resource: string): boolean => rule?.matches(group, resource) ?? false;

    expect([matches("", "secrets"), matches("apps", "deployments"), matches("example.com", "any")]).toEqual([
      true,
      true,
      true,
    ]);
    expect([matches("", "configmaps"), matches("apps", "secrets"), matches("other.example.com", "any")]).toEqual([
      false,
      false,
      false,
    ]);
    expect(rulesOf(FIRST, '["*."]')[0]?.matches("", "pods")).toBe(true);
    expect(rulesOf(FIRST, '["*.*"]')[0]?.matches("apps", "pods")).toBe(true);
  });

  test.each([
    ["[{secretbox: {keys: []}}]", "at least one key is required"],
    ['[{secretbox: {keys: [{name: a, secret: "c2hvcnQ="}]}}]', "must be 32 random bytes"],
    ["[{kms: {apiVersion: v1, name: k, endpoint: unix:///run/kms.sock}}]", 'supported values: "v2"'],
    ["[{kms: {apiVersion: v2, name: k, endpoint: http://kms}}]", "must be a socket such as unix:///run/kms.sock"],
    ["[{kms: {apiVersion: v2, name: k, endpoint: unix:///run/kms.sock, timeout: 2m}}]", "at most 60s"],
    ["[{}]", "exactly one of aesgcm, aescbc, secretbox, kms and identity"],
    ["[{aesgcm: {keys: []}}]", "at least one key is required"],
    ['[{aesgcm: {keys: [{name: a, secret: "c2hvcnQ="}]}}]', "must be 16, 24 or 32 random bytes"],
    [`[{aesgcm: {keys: [{name: "a:b", secret: "${KEY1}"}]}}]`, "a name without ':'"],
    [`[{aesgcm: {keys: [${gcm("a", KEY1)}, ${gcm("a", KEY2)}]}}]`, "Duplicate value"],
    ["[]", "name at least one provider"],
  ])("%s is rejected", (providers, error) => {
    expect(() => rulesOf(providers)).toThrow(error);
  });

  test("a wildcard inside a name is rejected, and a secret is in no error", () => {
    expect(() => rulesOf(FIRST, '["sec*"]')).toThrow("use RESOURCE");
    expect(() => rulesOf('[{aesgcm: {keys: [{name: a, secret: "hunter2"}]}}]')).toThrow(/^(?!.*hunter2)/);
  });
});
