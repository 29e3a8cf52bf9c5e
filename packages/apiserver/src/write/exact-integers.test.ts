/**
 * Integers beyond ±(2^53-1) are rejected on every path that stores an object of a kind that controllers calculate with,
 * because they would be rounded.
 */
import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createMemoryEngine } from "../store/memory-engine.ts";
import { createTestServer, makeDefinition, MERGE, PROFILE } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const PODS = "/api/v1/namespaces/default/pods";
const YAML = { "content-type": "application/yaml" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const JSON_PATCH = { "content-type": "application/json-patch+json" };
const RANGE = "must be between -9007199254740991 and 9007199254740991: larger integers cannot be kept exactly";

async function createServer(engine = createMemoryEngine()): Promise<TestServer> {
  const server = await createTestServer({ engine, profiles: { hub: { ...PROFILE, podsAreTemplates: true } } });
  const definition = makeDefinition();
  const [version] = (definition.spec as { versions: JsonObject[] }).versions;
  Object.assign(version as JsonObject, {
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  });
  await server.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await server.request("POST", WIDGETS, widget("old", '"spec":{"n":1}'));
  return server;
}
const widget = (name: string, rest: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},${rest}}`;
const pod = (memory: string): string =>
  `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"a","resources":{"limits":{"memory":${memory}}}}]}}`;

interface Case {
  method: string;
  path: string;
  body: string;
  headers?: Record<string, string>;
  want: [number, string];
}
const rejected: Record<string, Case> = {
  "a created object": {
    method: "POST",
    path: WIDGETS,
    body: widget("w", '"spec":{"n":9007199254740993}'),
    want: [422, `Widget.example.com "w" is invalid: spec.n: Invalid value: "integer": ${RANGE}`],
  },
  "a created object in a dry run": {
    method: "POST",
    path: `${WIDGETS}?dryRun=All`,
    body: widget("w", '"spec":{"n":-9223372036854775808}'),
    want: [422, "spec.n: Invalid value"],
  },
  "an object in YAML": {
    method: "POST",
    path: WIDGETS,
    body: "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n  list: [1, 9223372036854775807]\n",
    headers: YAML,
    want: [422, "spec.list[1]: Invalid value"],
  },
  "an updated object": {
    method: "PUT",
    path: `${WIDGETS}/old`,
    body: widget("old", '"spec":{"n":9007199254740993}').replace('"old"', '"old","resourceVersion":"CURRENT"'),
    want: [422, "spec.n: Invalid value"],
  },
  "a merge patch": {
    method: "PATCH",
    path: `${WIDGETS}/old`,
    body: '{"spec":{"n":9007199254740993}}',
    headers: MERGE,
    want: [422, "spec.n: Invalid value"],
  },
  "a JSON patch": {
    method: "PATCH",
    path: `${WIDGETS}/old`,
    body: '[{"op":"replace","path":"/spec/n","value":9007199254740993}]',
    headers: JSON_PATCH,
    want: [422, "spec.n: Invalid value"],
  },
  "an applied object": {
    method: "PATCH",
    path: `${WIDGETS}/old?fieldManager=test&force=true`,
    body: widget("old", '"spec":{"n":9007199254740993}'),
    headers: APPLY,
    want: [422, "spec.n: Invalid value"],
  },
  "a status": {
    method: "PATCH",
    path: `${WIDGETS}/old/status`,
    body: '{"status":{"n":9007199254740993}}',
    headers: MERGE,
    want: [422, "status.n: Invalid value"],
  },
  "a quantity, which is stored as a string": {
    method: "POST",
    path: PODS,
    body: pod("9007199254740993"),
    want: [422, "spec.containers[0].resources.limits.memory: Invalid value"],
  },
};
test.each(Object.entries(rejected))(
  "rejects an inexact integer in %s",
  async (_where, { method, path, body, headers, want }) => {
    const { request } = await createServer();

    const { resourceVersion } = (await request("GET", `${WIDGETS}/old`)).body.metadata as { resourceVersion: string };

    const answer = await request(method, path, body.replace("CURRENT", resourceVersion), headers);
    const stored = await request("GET", `${WIDGETS}/old`);

    expect(answer.status).toBe(want[0]);
    expect(answer.body.message).toContain(want[1]);
    expect(stored.body.spec).toEqual({ n: 1 });
  },
);

test("rejects a patch with an inexact quantity", async () => {
  const { request } = await createServer();
  await request("POST", PODS, pod('"1Gi"'));

  const answer = await request("PATCH", `${PODS}/p`, '{"spec":{"overhead":{"memory":9007199254740993}}}', MERGE);

  expect([answer.status, answer.body.message]).toEqual([
    400,
    `error decoding patch: spec.overhead.memory: Invalid value: "integer": ${RANGE}`,
  ]);
});

test("accepts the largest exact integers, fractions, large floats and digits in strings", async () => {
  const { request } = await createServer();
  const spec = '{"a":9007199254740991,"b":-9007199254740991,"c":0.1234567890123456,"d":1e+300,"e":"9007199254740993"}';

  const { status, text } = await request("POST", WIDGETS, widget("w", `"spec":${spec}`));

  expect(status).toBe(201);
  expect(text).toContain(`"spec":${spec}`);
});

test("an object that an earlier version stored with a rounded integer can still be changed elsewhere", async () => {
  const engine = createMemoryEngine();
  await engine.commit({
    key: "/example.com/widgets/hub/default/rounded",
    expect: "absent",
    value: new TextEncoder().encode(
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"rounded","namespace":"default","uid":' +
        '"u","creationTimestamp":"2024-01-01T00:00:00Z"},"spec":{"n":9007199254740992}}',
    ),
  });
  const { request } = await createServer(engine);

  const labelled = await request("PATCH", `${WIDGETS}/rounded`, '{"metadata":{"labels":{"a":"b"}}}', MERGE);

  const changed = await request("PATCH", `${WIDGETS}/rounded`, '{"spec":{"n":9223372036854775807}}', MERGE);

  expect(labelled.text).toContain('"spec":{"n":9007199254740992}');
  expect([labelled.status, changed.status]).toEqual([200, 422]);
});
