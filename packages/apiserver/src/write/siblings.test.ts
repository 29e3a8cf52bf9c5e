import * as fc from "fast-check";
import { expect, test } from "vitest";
import { copy, isObject, setOwn } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { createTestServer } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const OWNER = "11111111-1111-4111-8111-111111111111";
const OUTSIDER = "22222222-2222-4222-8222-222222222222";

function makePod(name: string, controller = OWNER): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: { app: "web" },
      annotations: { note: "x" },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: controller, controller: true }],
    },
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
      volumes: [{ name: "data", emptyDir: {} }],
    },
  };
}

const create = (server: TestServer, pod: JsonObject): Promise<JsonObject> =>
  server.transport.send({
    verb: "create",
    path: { cluster: "hub", group: "", version: "v1", resource: "pods", namespace: "default" },
    body: pod,
  });
const part = (object: JsonObject, name: string): JsonObject => object[name] as JsonObject;

test("pods of one controller share equal parts in memory", async () => {
  const server = await createTestServer();

  const first = await create(server, makePod("web-1"));
  const second = await create(server, makePod("web-2"));

  expect(second.spec).toBe(first.spec);
  expect(part(second, "metadata").labels).toBe(part(first, "metadata").labels);
  expect(part(second, "metadata").name).toBe("web-2");
});

test("a pod that differs keeps its own parts and shares the rest", async () => {
  const server = await createTestServer();
  const pod = makePod("web-2");
  part(pod, "spec").hostname = "two";

  const first = await create(server, makePod("web-1"));
  const second = await create(server, pod);

  expect(part(second, "spec").hostname).toBe("two");
  expect(part(first, "spec").hostname).toBeUndefined();
  expect(part(second, "spec").containers).toBe(part(first, "spec").containers);
});

test("names derived from the pod's name are validated for each pod", async () => {
  const { request } = await createTestServer();
  const withClaim = (name: string): JsonObject => {
    const pod = makePod(name);
    part(pod, "spec").volumes = [
      {
        name: "data",
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        },
      },
    ];
    return pod;
  };

  const first = await request("POST", PODS, withClaim("web-1"));
  const second = await request("POST", PODS, withClaim(`web-${"2".repeat(246)}`));

  expect(first.status).toBe(201);
  expect(second.status).toBe(422);
});

/** The paths at which an object can be changed: its fields, its items, and absent keys. */
function placesIn(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item, index) => placesIn(item, [...path, String(index)]))];
  if (!isObject(value)) return [path];
  return [
    path,
    [...path, "extra"],
    [...path, "__proto__"],
    ...Object.entries(value).flatMap(([key, item]) => placesIn(item, [...path, key])),
  ];
}

function changed(object: JsonObject, path: readonly string[], value: Json): JsonObject {
  const result = copy(object);
  let at: Json = result;
  for (const step of path.slice(0, -1)) at = (at as JsonObject)[step] as Json;
  const last = path.at(-1);
  if (last !== undefined && isObject(at)) setOwn(at, last, value);
  else if (last !== undefined && Array.isArray(at)) at[Number(last)] = value;
  return result;
}

const VALUES: readonly Json[] = [
  null,
  "",
  "a",
  "not a label!",
  0,
  -1,
  2.5,
  true,
  [],
  {},
  [null],
  { a: "b" },
  "1000m",
  ["x", "x"],
  [{ name: "main", image: "web:2" }],
];

test(
  "a pod has the same response whether or not another pod of its controller is known",
  { timeout: 60_000 },
  async () => {
    const run = fc.array(fc.record({ place: fc.nat(), value: fc.constantFrom(...VALUES) }), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(run, async (changes) => {
        for (const { place, value } of changes) {
          const [known, fresh] = await Promise.all([createTestServer(), createTestServer()]);
          await known.request("POST", PODS, makePod("web-1"));
          await fresh.request("POST", PODS, makePod("web-1", OUTSIDER));
          const pod = makePod("web-2");
          const places = placesIn(pod);
          const next = changed(pod, places[place % places.length] as readonly string[], value);

          const [one, other] = [await known.request("POST", PODS, next), await fresh.request("POST", PODS, next)];

          expect({ status: one.status, text: one.text }).toEqual({ status: other.status, text: other.text });
        }
      }),
      { seed: 7, numRuns: 40 },
    );
  },
);
