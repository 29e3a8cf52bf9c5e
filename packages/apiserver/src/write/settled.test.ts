/**
 * A write skips the checks of parts that it shares with an object known to be valid. That must not be observable: a
 * server that knows nothing about its stored objects (as after a restart) responds the same to the same requests.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { copy, isObject, setOwn } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { MERGE, createTestServer, makeDefinition, makeDeployment } from "../test-server.ts";
import type { Answered, TestServer } from "../test-server.ts";

type Step = readonly string[];

/** The paths at which an object can be changed: its fields, its items, and absent keys. */
function placesIn(value: Json, path: Step = []): Step[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item, index) => placesIn(item, [...path, String(index)]))];
  if (!isObject(value)) return [path];
  return [
    path,
    [...path, "extra"],
    [...path, "__proto__"],
    ...Object.entries(value).flatMap(([key, item]) => placesIn(item, [...path, key])),
  ];
}

const VALUES: readonly Json[] = [
  null,
  "",
  "a",
  "not a label!",
  0,
  1,
  -1,
  2.5,
  true,
  [],
  {},
  [null],
  { a: "b" },
  "1000m",
  "50%",
  "2024-05-01T12:00:00Z",
  ["x", "x"],
  [{ name: "main", image: "web:2" }],
];

function changed(object: JsonObject, path: Step, value: Json | undefined): JsonObject {
  const result = copy(object);
  let at: Json = result;
  for (const step of path.slice(0, -1)) at = (at as JsonObject)[step] as Json;
  const last = path.at(-1);
  if (last === undefined || typeof at !== "object" || at === null) return result;
  if (value === undefined && Array.isArray(at)) at.splice(Number(last), 1);
  else if (value === undefined) Reflect.deleteProperty(at, last);
  else setOwn(at, last, value);
  return result;
}

/** The server forgets everything but the bytes. */
function forget({ cache }: TestServer): void {
  for (const entry of cache.list("/")) entry.memo = undefined;
}

const widget: JsonObject = {
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "web", labels: { app: "web" }, annotations: { note: "x" }, finalizers: ["example.com/hold"] },
  spec: {
    size: 1,
    color: "red",
    parts: [{ id: "a", weight: 1 }, { id: "b" }],
    tags: ["x", "y"],
    free: { any: { thing: 1 } },
  },
};

const spec = {
  type: "object",
  required: ["color"],
  properties: {
    size: { type: "integer", default: 3, minimum: 0, format: "int32" },
    color: { type: "string", pattern: "^[a-z]+$", enum: ["red", "blue", "a"] },
    parts: {
      type: "array",
      maxItems: 3,
      items: {
        type: "object",
        required: ["id"],
        properties: { id: { type: "string" }, weight: { type: "integer", default: 5 } },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["id"],
    },
    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    maybe: { type: "string", nullable: true },
    amount: { "x-kubernetes-int-or-string": true },
  },
  anyOf: [{ required: ["color"] }, { required: ["size"] }],
};

const definition = makeDefinition({
  versions: [
    {
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { spec, status: { type: "object", properties: { phase: { type: "string" } } } },
        },
      },
    },
  ],
});

const deployment: JsonObject = {
  ...makeDeployment("web"),
  metadata: { name: "web", labels: { app: "web" }, annotations: { note: "x" } },
};
const pod: JsonObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", labels: { app: "web" } },
  spec: {
    containers: [
      {
        name: "main",
        image: "web:1",
        ports: [{ containerPort: 80 }],
        resources: { requests: { cpu: "1", memory: "1Gi" } },
        env: [{ name: "A", value: "b" }],
      },
    ],
    tolerations: [{ key: "a", operator: "Exists" }],
  },
};
const secret: JsonObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "web" },
  type: "Opaque",
  data: { a: "eA==" },
};

const KINDS: Record<string, { collection: string; object: JsonObject }> = {
  "a custom kind": { collection: "/apis/example.com/v1/namespaces/default/widgets", object: widget },
  "a Deployment": { collection: "/apis/apps/v1/namespaces/default/deployments", object: deployment },
  "a Pod": { collection: "/api/v1/namespaces/default/pods", object: pod },
  "a Secret": { collection: "/api/v1/namespaces/default/secrets", object: secret },
};

const steps = fc.array(
  fc.record({
    place: fc.nat(),
    value: fc.option(fc.constantFrom(...VALUES), { nil: undefined }),
    how: fc.constantFrom("put", "put status", "merge", "merge status", "direct", "direct status"),
  }),
  { minLength: 1, maxLength: 8 },
);

for (const [what, { collection, object }] of Object.entries(KINDS)) {
  test(
    `writes of ${what} have the same responses whether or not the stored object is known to be valid`,
    { timeout: 60_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (run) => {
          const [known, forgetful] = await Promise.all([createTestServer(), createTestServer()]);
          for (const { request } of [known, forgetful]) {
            await request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
            expect((await request("POST", collection, object)).status).toBe(201);
          }

          for (const { place, value, how } of run) {
            const { body: current } = await known.request("GET", `${collection}/web`);
            const places = placesIn(current);
            const path = places[place % places.length] as Step;
            const next = changed(current, path, value);
            forget(forgetful);
            const [one, other] = await Promise.all([
              write(known, collection, how, next, path),
              write(forgetful, collection, how, next, path),
            ]);

            expect(one).toEqual(other);
          }
        }),
        { seed: 42, numRuns: 60 },
      );
    },
  );
}

async function write(
  server: TestServer,
  collection: string,
  how: string,
  object: JsonObject,
  path: Step,
): Promise<unknown> {
  const url = `${collection}/web${how.endsWith("status") ? "/status" : ""}`;
  const shown = ({ status, text }: Answered): unknown => ({ status, text });
  if (how.startsWith("put")) return shown(await server.request("PUT", url, object));
  if (how.startsWith("merge"))
    return shown(
      await server.request(
        "PATCH",
        url,
        path.length === 0 ? {} : { [path[0] as string]: object[path[0] as string] ?? null },
        MERGE,
      ),
    );
  const [group, version] = collection.startsWith("/api/")
    ? ["", "v1"]
    : (collection.split("/").slice(2, 4) as [string, string]);
  const resource = collection.split("/").at(-1) ?? "";
  try {
    return await server.transport.send({
      verb: "update",
      path: {
        cluster: "hub",
        group,
        version,
        resource,
        namespace: "default",
        name: "web",
        subresource: how.endsWith("status") ? "status" : undefined,
      },
      body: object,
    });
  } catch (error) {
    return (error as { status?: unknown }).status ?? error;
  }
}
