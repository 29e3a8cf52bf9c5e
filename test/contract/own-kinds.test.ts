/**
 * A kind that is declared with `ownKind` is served by its declaration alone: the schema prunes, defaults, validates and
 * merges, and the columns print. The same kind must be a valid CustomResourceDefinition for a foreign API server.
 */
import { expect, test } from "vitest";
import { ownKind, s } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { LogicalCluster } from "@flotilla/apiserver";
import { customResourceDefinitionOf } from "@flotilla/kubernetes";
import { createTestServer, PROFILE, type TestServer } from "@flotilla/testing/api-server.ts";

const MaintenanceWindow = ownKind({
  group: "flotilla.dev",
  version: "v1alpha1",
  kind: "MaintenanceWindow",
  plural: "maintenancewindows",
  shortNames: ["mw"],
  categories: ["flotilla"],
  scope: "Namespaced",
  description: "MaintenanceWindow is a time in which members may be drained.",
  spec: s.object(
    {
      mode: s.string("What happens to the members.", { enum: ["Cordon", "Drain"], default: "Cordon" }),
      clusters: s.optional(s.labelSelector("Selects the members by the labels of their Cluster.")),
      length: s.duration("How long the window is.", { default: "1h" }),
      least: s.integer("How many members are drained at least.", { minimum: 0, default: 0 }),
      most: s.optional(s.integer("How many members are drained at most.")),
      steps: s.array(
        "The steps, in order.",
        s.object({
          name: s.string("The name of the step.", { minLength: 1 }),
          maxUnavailable: s.intOrString("How many members may be unavailable at once.", { default: "25%" }),
        }),
        { key: "name", maxItems: 10 },
      ),
      parameters: s.optional(s.json("Values for external tools.")),
    },
    {
      rules: [{ rule: "!has(self.most) || self.least <= self.most", message: "least must not exceed most" }],
    },
  ),
  status: s.object({
    drained: s.optional(s.integer("The number of drained members.")),
    conditions: s.optional(s.conditions("Open: whether the window is open.")),
  }),
  selectableFields: [".spec.mode"],
  columns: { Mode: ".spec.mode", Open: '.status.conditions[?(@.type=="Open")].status' },
});
type MaintenanceWindow = s.Infer<typeof MaintenanceWindow>;

const WINDOWS = "/apis/flotilla.dev/v1alpha1/namespaces/default/maintenancewindows";
const APPLY = { "content-type": "application/apply-patch+yaml" };

const serve = (): Promise<TestServer> =>
  createTestServer({ profiles: { hub: { ...PROFILE, customs: [MaintenanceWindow] } } });
const makeWindow = (spec: JsonObject): JsonObject => ({
  apiVersion: "flotilla.dev/v1alpha1",
  kind: "MaintenanceWindow",
  metadata: { name: "night" },
  spec,
});

test("defaults of the schema are stored, in lists too", async () => {
  const { request } = await serve();

  const { status, body } = await request("POST", WINDOWS, makeWindow({ steps: [{ name: "first" }] }));

  const { spec } = body as unknown as MaintenanceWindow;
  expect(status).toBe(201);
  expect(spec).toEqual({
    mode: "Cordon",
    length: "1h",
    least: 0,
    steps: [{ name: "first", maxUnavailable: "25%" }],
  });
});

const rejected: Record<string, { spec: JsonObject; message: string }> = {
  "a value outside an enum": {
    spec: { mode: "Nuke", steps: [] },
    message: 'spec.mode: Unsupported value: "Nuke": supported values: "Cordon", "Drain"',
  },
  "a missing field": { spec: {}, message: "spec.steps: Required value" },
  "a value of the wrong type": {
    spec: { least: "one", steps: [] },
    message: 'spec.least: Invalid value: "string": spec.least in body must be of type integer: "string"',
  },
  "a number below the minimum": {
    spec: { least: -1, steps: [] },
    message: "spec.least: Invalid value: -1: spec.least in body should be greater than or equal to 0",
  },
  "a duration that not every client can read": {
    spec: { length: "3 days", steps: [] },
    message: "spec.length in body should match",
  },
  "a percentage that is none": {
    spec: { steps: [{ name: "first", maxUnavailable: "half" }] },
    message: "spec.steps[0].maxUnavailable in body should match '^[0-9]+%$'",
  },
  "a duplicate key in a list": {
    spec: { steps: [{ name: "first" }, { name: "first" }] },
    message: 'spec.steps[1]: Duplicate value: {"name":"first"}',
  },
  "a violated rule": {
    spec: { least: 2, most: 1, steps: [] },
    message: "spec: Invalid value: least must not exceed most",
  },
};
for (const [what, { spec, message }] of Object.entries(rejected)) {
  test(`rejects ${what}`, async () => {
    const { request } = await serve();

    const { status, body } = await request("POST", WINDOWS, makeWindow(spec));

    expect([status, body["message"]]).toEqual([422, expect.stringContaining(message)]);
  });
}

test("unknown fields are pruned with a warning, except in JSON fields", async () => {
  const { request } = await serve();

  const { headers, body } = await request(
    "POST",
    WINDOWS,
    makeWindow({ steps: [], speed: 1, parameters: { any: ["thing"] } }),
  );

  const { spec } = body as unknown as MaintenanceWindow;
  expect(headers["warning"]).toEqual([expect.stringContaining('unknown field \\"spec.speed\\"')]);
  expect(spec).toEqual({ mode: "Cordon", length: "1h", least: 0, steps: [], parameters: { any: ["thing"] } });
});

test("server-side apply merges a list by its key", async () => {
  const { request } = await serve();
  const apply = (manager: string, steps: JsonObject[]): ReturnType<TestServer["request"]> =>
    request("PATCH", `${WINDOWS}/night?fieldManager=${manager}`, makeWindow({ steps }), APPLY);

  await apply("a", [{ name: "first", maxUnavailable: 1 }]);
  const { body } = await apply("b", [{ name: "second", maxUnavailable: 2 }]);

  const { spec } = body as unknown as MaintenanceWindow;
  expect(spec.steps).toEqual([
    { name: "first", maxUnavailable: 1 },
    { name: "second", maxUnavailable: 2 },
  ]);
});

test("an own kind is listed by the fields that it declares as selectable, and by no others", async () => {
  const { request } = await serve();
  await request("POST", WINDOWS, makeWindow({ steps: [] }));
  const drain = { ...makeWindow({ mode: "Drain", steps: [] }), metadata: { name: "day" } };
  await request("POST", WINDOWS, drain);

  const { body } = await request("GET", `${WINDOWS}?fieldSelector=spec.mode%21%3DCordon`);
  const refused = await request("GET", `${WINDOWS}?fieldSelector=spec.least%3D0`);

  expect((body["items"] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual(["day"]);
  expect([refused.status, refused.body["message"]]).toEqual([400, "field label not supported: spec.least"]);
});

test("an own kind prints its columns", async () => {
  const { request } = await serve();
  await request("POST", WINDOWS, makeWindow({ steps: [] }));
  await request(
    "PATCH",
    `${WINDOWS}/night/status`,
    {
      status: {
        conditions: [
          { type: "Open", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", reason: "Due", message: "" },
        ],
      },
    },
    { "content-type": "application/merge-patch+json" },
  );

  const { body } = await request("GET", WINDOWS, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });

  const columns = (body["columnDefinitions"] as JsonObject[]).map(({ name }) => name);
  expect([columns, (body["rows"] as JsonObject[])[0]?.["cells"]]).toEqual([
    ["Name", "Mode", "Open", "Age"],
    ["night", "Cordon", "True", "0s"],
  ]);
});

test("an own kind is accepted as a CustomResourceDefinition, whose rules are within the cost limits", async () => {
  const { request } = await createTestServer();

  const { status, body } = await request(
    "POST",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    customResourceDefinitionOf(MaintenanceWindow),
  );

  expect([status, body["message"]]).toEqual([201, undefined]);
});

test("a kind that is served as built in keeps its restricted verbs", () => {
  expect([LogicalCluster.builtIn, LogicalCluster.verbs]).toEqual([true, ["create", "delete", "get", "list", "watch"]]);
});
