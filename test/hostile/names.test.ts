/** Names with a special meaning in JavaScript are ordinary names wherever a client may choose one. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { HOSTILE_NAMES } from "../../tools/fuzz/hostile.ts";
import type { Api } from "../programs/raw-client.ts";
import { openFrontDoor, TOKENS, type FrontDoor } from "./front-door.ts";

let door: FrontDoor;
let api: Api;
let keysBefore: PropertyKey[];
beforeAll(async () => {
  keysBefore = Reflect.ownKeys(Object.prototype);
  door = await openFrontDoor();
  api = door.api({ token: TOKENS.admin });
});
afterEach(() => {
  expect(door.failures).toEqual([]);
  expect(Reflect.ownKeys(Object.prototype)).toEqual(keysBefore);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
afterAll(() => door.close());

const names = HOSTILE_NAMES.filter((name) => name !== "");
/** An object literal would set the prototype; JSON does not. */
const keyed = (name: string, value: unknown): unknown =>
  JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);
const POLLUTION = { polluted: true };
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = "merge";

test.each([
  ["NUL", "\0", "may not contain NUL"],
  ["half of a surrogate pair", "\ud800a", undefined],
  ["100,000 characters", "a".repeat(100_000), "Too long"],
])("a ClusterRole may have any name that can be stored: %s", async (_what, name, says) => {
  const made = await api.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name } });

  expect(made.status).toBe(says === undefined ? 201 : 422);
  expect(made.text).toContain(says ?? "");
});

for (const name of names) {
  test(`${name} is an ordinary data key, label and annotation`, async () => {
    const label = name.replaceAll(/^_+|_+$/g, "");
    const object = {
      metadata: { name: `k-${names.indexOf(name)}`, labels: keyed(label, "x"), annotations: keyed(label, "x") },
      data: keyed(name, "x"),
    };

    const made = await api.create(CONFIG_MAPS, object);
    const patched = await api.patch(MERGE, `${CONFIG_MAPS}/${object.metadata.name}`, { data: keyed(name, "y") });
    const removed = await api.patch(MERGE, `${CONFIG_MAPS}/${object.metadata.name}`, { data: keyed(name, null) });
    const selected = await api.get(`${CONFIG_MAPS}?labelSelector=${encodeURIComponent(`${label}=x`)}`);

    expect(made.status).toBe(201);
    expect(JSON.stringify(made.body.data)).toBe(JSON.stringify(keyed(name, "x")));
    expect(JSON.stringify(patched.body.data)).toBe(JSON.stringify(keyed(name, "y")));
    expect(removed.body.data).toBeUndefined();
    expect(selected.body.items).toHaveLength(1);
  });

  test(`${name} is an unknown field at every level`, async () => {
    const hostile = keyed(name, POLLUTION) as object;
    const container = { name: "main", image: "web:1", ...hostile };
    const object = {
      ...hostile,
      metadata: { name: "web", ...hostile },
      spec: {
        ...hostile,
        selector: { matchLabels: { app: "web" }, ...hostile },
        template: {
          ...hostile,
          metadata: { labels: { app: "web" }, ...hostile },
          spec: { ...hostile, containers: [container] },
        },
      },
    };

    const body = JSON.stringify(object);
    const lenient = await api.create("/apis/apps/v1/namespaces/default/deployments?dryRun=All", body);
    const strict = await api.create(
      "/apis/apps/v1/namespaces/default/deployments?dryRun=All&fieldValidation=Strict",
      body,
    );

    expect(lenient.status).toBe(201);
    expect(lenient.text).not.toContain("polluted");
    expect(strict.status).toBe(400);
    for (const path of [name, `metadata.${name}`, `spec.${name}`, `spec.template.spec.containers[0].${name}`])
      expect(strict.body.message).toContain(`unknown field "${path}"`);
  });

  test(`${name} is not a kind, group, version, resource, subresource, cluster or verb`, async () => {
    const paths = [
      `/api/${name}`,
      `/api/v1/${name}`,
      `/apis/${name}`,
      `/apis/${name}/${name}/${name}`,
      `/apis/apps/${name}/deployments`,
      `/api/v1/namespaces/default/pods/a/${name}`,
      `/clusters/${name}/api/v1/pods`,
      `/openapi/v3/${name}`,
      `/${name}`,
    ];

    const answers = await Promise.all(paths.map((path) => api.get(path)));

    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 404));
  });

  test(`${name} is ignored or rejected as a selector, an option and a patch directive`, async () => {
    const listed = await api.get(
      `${CONFIG_MAPS}?${name}=1&labelSelector=${encodeURIComponent(`${name}!=x`)}&fieldSelector=metadata.name%3D${name}`,
    );
    const unknown = await api.get(`${CONFIG_MAPS}?fieldSelector=${name}%3Dx`);
    const patched = await api.patch("json", "/api/v1/namespaces/default", [
      { op: "add", path: `/${name}/polluted`, value: true },
    ]);
    const copied = await api.patch("json", "/api/v1/namespaces/default", [
      { op: "copy", from: `/${name}`, path: "/metadata/labels" },
    ]);
    const added = await api.patch("json", "/api/v1/namespaces/default?dryRun=All", [
      { op: "add", path: `/metadata/labels/${name}`, value: "x" },
    ]);

    expect([200, 400]).toContain(listed.status);
    expect(unknown.body).toMatchObject({ code: 400, kind: "Status" });
    expect(patched.status).toBe(422);
    expect([200, 422]).toContain(copied.status);
    expect([200, 422]).toContain(added.status);
  });
}

const definitionOf = (plural: string, properties: unknown, { version = "v1", kind = "Name" } = {}): object => ({
  metadata: { name: `${plural}.names.example` },
  spec: {
    group: "names.example",
    scope: "Namespaced",
    names: { plural, kind, listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } },
        additionalPrinterColumns: [{ name: "constructor", type: "string", jsonPath: ".spec.constructor" }],
      },
    ],
  },
});
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

test("a CRD may have properties with such names, and its objects store them, prune others and are applied", async () => {
  const properties: unknown = JSON.parse(
    `{${names.map((name) => `${JSON.stringify(name)}:{"type":"object","properties":{"a":{"type":"string","default":"d"}}}`).join(",")}}`,
  );
  const spec: unknown = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:{"polluted":true}`).join(",")}}`);
  const OBJECTS = "/apis/names.example/v1/namespaces/default/names";

  const defined = await api.create(DEFINITIONS, JSON.stringify(definitionOf("names", properties)));
  await expect.poll(async () => (await api.get("/apis/names.example/v1")).status).toBe(200);
  const made = await api.create(
    OBJECTS,
    JSON.stringify({ apiVersion: "names.example/v1", kind: "Name", metadata: { name: "one" }, spec }),
  );
  const applied = await api.patch(
    "apply",
    `${OBJECTS}/two?fieldManager=x`,
    JSON.stringify({
      apiVersion: "names.example/v1",
      kind: "Name",
      metadata: { name: "two" },
      spec: JSON.parse(JSON.stringify(spec).replaceAll('"polluted":true', '"a":"x"')) as object,
    }),
  );
  const table = await api.get(OBJECTS, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" });

  expect(defined.status).toBe(201);
  expect(made.status).toBe(201);
  expect(JSON.stringify(made.body.spec)).toBe(
    `{${names.map((name) => `${JSON.stringify(name)}:{"a":"d"}`).join(",")}}`,
  );
  expect(applied.status).toBe(201);
  for (const name of names) expect(JSON.stringify(applied.body.metadata.managedFields)).toContain(`"f:${name}"`);
  expect(table.status).toBe(200);
});

test("plurals and versions with such names are rejected if they are not DNS labels, and served if they are", async () => {
  const bad = await api.create(DEFINITIONS, definitionOf("__proto__", {}));
  const badVersion = await api.create(
    DEFINITIONS,
    definitionOf("versioned", {}, { version: "__proto__", kind: "Versioned" }),
  );
  const good = await api.create(
    DEFINITIONS,
    definitionOf("constructor", {}, { version: "valueof", kind: "Constructor" }),
  );
  await expect.poll(async () => (await api.get("/apis/names.example/valueof")).status).toBe(200);
  const made = await api.create("/apis/names.example/valueof/namespaces/default/constructor", {
    apiVersion: "names.example/valueof",
    kind: "Constructor",
    metadata: { name: "constructor" },
  });

  expect(bad.body).toMatchObject({ code: 422, kind: "Status" });
  expect(badVersion.body).toMatchObject({ code: 422, kind: "Status" });
  expect(good.status).toBe(201);
  expect(made.status).toBe(201);
});

test("objects, namespaces and accounts may have such names as far as naming rules allow", async () => {
  const made = await api.create("/api/v1/namespaces", { metadata: { name: "constructor" } });
  const object = await api.create("/api/v1/namespaces/constructor/configmaps", { metadata: { name: "valueof" } });
  const role = await api.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    metadata: { name: "__proto__" },
    rules: [{ apiGroups: ["__proto__"], resources: ["constructor"], verbs: ["toString"] }],
  });
  const bound = await api.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "__proto__" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "__proto__" },
    subjects: [
      { kind: "User", name: "__proto__" },
      { kind: "Group", name: "constructor" },
    ],
  });
  const review = await api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    spec: {
      user: "constructor",
      groups: ["toString"],
      extra: keyed("__proto__", ["x"]),
      resourceAttributes: { verb: "get", resource: "pods" },
    },
  });

  expect([made.status, object.status, role.status, bound.status, review.status]).toEqual([201, 201, 201, 201, 201]);
  expect(review.body.status).toMatchObject({ allowed: false });
});
