/** Kinds of CRDs that no code of ours calculates with keep integers of 64 bits exactly, on every path. */
import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createMemoryEngine } from "../store/memory-engine.ts";
import { createTestServer, makeDefinition, MERGE } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const JSON_PATCH = { "content-type": "application/json-patch+json" };
const LARGEST = "9223372036854775807";
const SMALLEST = "-9223372036854775808";

async function createServer(schema: JsonObject = {}, engine = createMemoryEngine()): Promise<TestServer> {
  const server = await createTestServer({ engine });
  const definition = makeDefinition();
  const [version] = (definition.spec as { versions: JsonObject[] }).versions;
  Object.assign(version as JsonObject, {
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true, ...schema } },
  });
  await server.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  return server;
}
const widget = (name: string, spec: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;
const limited = (n: JsonObject, spec: JsonObject = {}): JsonObject => ({
  properties: { spec: { type: "object", properties: { n: { type: "integer", ...n } }, ...spec } },
});

test("creates, reads, lists, patches and restores them exactly", async () => {
  const engine = { ...createMemoryEngine(), close: async () => {} };
  const { request, server, cache } = await createServer({}, engine);
  const spec = `{"n":${LARGEST},"list":[1,${SMALLEST}],"text":"9007199254740993"}`;

  const created = await request("POST", WIDGETS, widget("w", spec));
  const merged = await request("PATCH", `${WIDGETS}/w`, `{"spec":{"m":9007199254740993}}`, MERGE);
  const patch = `[{"op":"test","path":"/spec/n","value":${LARGEST}},{"op":"copy","from":"/spec/n","path":"/spec/o"}]`;
  const patched = await request("PATCH", `${WIDGETS}/w`, patch, JSON_PATCH);
  const read = await request("GET", `${WIDGETS}/w`);
  const listed = await request("GET", WIDGETS);

  expect([created.status, merged.status, patched.status]).toEqual([201, 200, 200]);
  expect(created.text).toContain(`"spec":${spec}`);
  expect(merged.text).toContain(`"m":9007199254740993`);
  for (const { text } of [patched, read, listed]) {
    expect(text).toContain(`"n":${LARGEST}`);
    expect(text).toContain(`"o":${LARGEST}`);
    expect(text).toContain(SMALLEST);
  }
  await server.close();
  await cache.close();
  const again = await createTestServer({ engine });
  const updated = await again.request("PATCH", `${WIDGETS}/w`, '{"metadata":{"labels":{"a":"b"}}}', MERGE);
  expect(updated.text).toContain(`"n":${LARGEST}`);
});

test("an update that changes only the last digit is a change", async () => {
  const { request } = await createServer();
  await request("POST", WIDGETS, widget("w", `{"n":${LARGEST}}`));

  const updated = await request("PATCH", `${WIDGETS}/w`, '{"spec":{"n":9223372036854775806}}', MERGE);

  expect(updated.text).toContain('"n":9223372036854775806');
});

test("limits of the schema hold", async () => {
  const { request } = await createServer(limited({ maximum: 9007199254740991 }));

  const { status, body } = await request("POST", WIDGETS, widget("w", '{"n":9007199254740993}'));

  expect([status, body.message]).toEqual([
    422,
    expect.stringContaining("spec.n: Invalid value: 9007199254740993: spec.n in body should be less than or equal to"),
  ]);
});

test("rules in CEL calculate with 64 bits, and report an overflow", async () => {
  const rule = {
    "x-kubernetes-validations": [{ rule: "self.n - 1 == 9223372036854775806", message: "not the largest" }],
  };
  const { request } = await createServer(limited({}, rule));
  const overflowing = await createServer(limited({}, { "x-kubernetes-validations": [{ rule: "self.n + 1 > 0" }] }));

  expect((await request("POST", WIDGETS, widget("w", `{"n":${LARGEST}}`))).status).toBe(201);
  expect((await request("POST", WIDGETS, widget("v", '{"n":9223372036854775806}'))).body.message).toContain(
    "not the largest",
  );
  expect((await overflowing.request("POST", WIDGETS, widget("w", `{"n":${LARGEST}}`))).body.message).toContain(
    "overflow",
  );
});

test("integers beyond 64 bits are rejected", async () => {
  const { request } = await createServer();

  const { status, body } = await request("POST", WIDGETS, widget("w", '{"n":9223372036854775808}'));

  expect([status, body.message]).toEqual([422, expect.stringContaining("spec.n: Invalid value")]);
});
