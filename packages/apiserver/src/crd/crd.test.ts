import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { compareVersions } from "../resources/definition.ts";
import { MERGE, createTestServer, makeDefinition } from "../test-server.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const widget = (spec: JsonObject): JsonObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "w" },
  spec,
});

describe("a CRD", () => {
  test("has objects that are not sent as protobuf, and the rejection says which forms are accepted", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, makeDefinition());

    const { status, body } = await request("POST", WIDGETS, widget({}), {
      "content-type": "application/vnd.kubernetes.protobuf",
    });

    expect([status, body.message]).toEqual([
      415,
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml",
    ]);
  });

  test("is established and served when its creation is answered", async () => {
    const { request, server } = await createTestServer();

    const { status, body } = await request("POST", CRDS, makeDefinition());
    const created = await request("POST", WIDGETS, widget({}));
    const established = await request("GET", `${CRDS}/widgets.example.com`);

    expect(status).toBe(201);
    expect(body).toMatchObject({
      spec: { names: { singular: "widget", listKind: "WidgetList" }, conversion: { strategy: "None" } },
      status: { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] },
    });
    expect(established.body).toMatchObject({
      metadata: {
        managedFields: expect.arrayContaining([
          expect.objectContaining({ manager: "kube-apiserver", subresource: "status" }),
        ]),
      },
      status: {
        conditions: [
          { type: "NamesAccepted", status: "True" },
          { type: "Established", status: "True" },
        ],
        acceptedNames: { plural: "widgets", shortNames: ["wd"] },
        storedVersions: ["v1"],
      },
    });
    expect(created.body.spec).toEqual({ size: 3 });
    expect(server.writes.total()).toBe(3);
  });

  test("prunes, defaults and validates its objects", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, makeDefinition());

    const pruned = await request("POST", WIDGETS, widget({ size: 1, junk: 1 }));
    const invalid = await request("PATCH", `${WIDGETS}/w`, { spec: { size: "x" } }, MERGE);

    expect(pruned.body.spec).toEqual({ size: 1 });
    expect(pruned.headers.warning).toEqual(['299 - "unknown field \\"spec.junk\\""']);
    expect(invalid.body.message).toContain("spec.size in body must be of type integer");
  });

  test("applies changed defaults to existing objects", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, makeDefinition());
    await request("POST", WIDGETS, widget({}));
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color";

    await request(
      "PATCH",
      `${CRDS}/widgets.example.com`,
      [{ op: "add", path, value: { type: "string", default: "red" } }],
      { "content-type": "application/json-patch+json" },
    );
    const { body } = await request("GET", `${WIDGETS}/w`);

    expect(body.spec).toEqual({ size: 3, color: "red" });
  });

  test("is deleted with its objects", async () => {
    const server = await createTestServer();
    await server.request("POST", CRDS, makeDefinition());
    await server.request("POST", WIDGETS, { ...widget({}), metadata: { name: "w", finalizers: ["example.com/hold"] } });

    await server.request("DELETE", `${CRDS}/widgets.example.com`);
    await server.settle();
    const waiting = await server.request("GET", `${CRDS}/widgets.example.com`);
    const refused = await server.request("POST", WIDGETS, { ...widget({}), metadata: { name: "late" } });
    await server.request("PATCH", `${WIDGETS}/w`, { metadata: { finalizers: null } }, MERGE);
    await server.settle();

    expect(waiting.body).toMatchObject({
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Terminating", status: "True" })]),
      },
    });
    expect(refused.body.message).toContain("create not allowed while custom resource definition is terminating");
    expect((await server.request("GET", `${CRDS}/widgets.example.com`)).status).toBe(404);
    expect((await server.request("GET", WIDGETS)).text).toBe("404 page not found\n");
  });

  test("a CRD with conflicting names is not served until they are free", async () => {
    const server = await createTestServer();
    const gadgets = `${CRDS}/gadgets.example.com`;
    await server.request("POST", CRDS, makeDefinition());
    await server.request("POST", CRDS, {
      ...makeDefinition({ names: { plural: "gadgets", kind: "Gadget", shortNames: ["wd"] } }),
      metadata: { name: "gadgets.example.com" },
    });

    const waiting = await server.request("GET", gadgets);
    const unserved = await server.request("GET", "/apis/example.com/v1/gadgets");
    await server.request("DELETE", `${CRDS}/widgets.example.com`);
    await server.settle();
    const established = await server.request("GET", gadgets);

    expect(waiting.body).toMatchObject({
      status: {
        conditions: [
          { type: "NamesAccepted", status: "False", reason: "ShortNamesConflict", message: '"wd" is already in use' },
          { type: "Established", status: "False" },
        ],
      },
    });
    expect(unserved.status).toBe(404);
    expect(established.body).toMatchObject({
      status: {
        conditions: [
          { type: "NamesAccepted", status: "True" },
          { type: "Established", status: "True" },
        ],
        acceptedNames: { shortNames: ["wd"] },
      },
    });
    expect((await server.request("GET", "/apis/example.com/v1/gadgets")).status).toBe(200);
  });

  test("gets a status that a crash prevented when the server restarts", async () => {
    const first = await createTestServer();
    await first.request("POST", CRDS, makeDefinition());
    const key = "/apiextensions.k8s.io/customresourcedefinitions/hub/widgets.example.com";
    const stored = JSON.parse(new TextDecoder().decode(first.cache.get(key)?.value)) as JsonObject;
    await first.cache.write({
      key,
      expect: "any",
      value: new TextEncoder().encode(JSON.stringify({ ...stored, status: { storedVersions: ["v1"] } })),
    });
    await first.server.close();

    const second = await createTestServer({ engine: first.engine, clusters: {} });

    expect((await second.request("GET", `${CRDS}/widgets.example.com`)).body).toMatchObject({
      status: {
        conditions: [
          { type: "NamesAccepted", status: "True" },
          { type: "Established", status: "True" },
        ],
      },
    });
    expect((await second.request("GET", WIDGETS)).status).toBe(200);
  });

  test("keeps its accepted names when its new ones conflict", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, makeDefinition());
    await request("POST", CRDS, {
      ...makeDefinition({ names: { plural: "gadgets", kind: "Gadget", shortNames: ["gd"] } }),
      metadata: { name: "gadgets.example.com" },
    });

    await request("PATCH", `${CRDS}/gadgets.example.com`, { spec: { names: { shortNames: ["wd"] } } }, MERGE);
    const discovery = await request("GET", "/apis/example.com/v1");

    expect(discovery.body.resources).toContainEqual(expect.objectContaining({ name: "gadgets", shortNames: ["gd"] }));
  });

  test("serves every version and stores one", async () => {
    const { request } = await createTestServer();
    const open = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await request(
      "POST",
      CRDS,
      makeDefinition({
        versions: [
          { name: "v1", served: true, storage: true, schema: open },
          { name: "v1alpha1", served: true, storage: false, schema: open, deprecated: true },
        ],
      }),
    );

    await request("POST", WIDGETS, widget({ a: 1 }));
    const old = await request("GET", WIDGETS.replace("/v1/", "/v1alpha1/"));

    expect(old.body).toMatchObject({
      apiVersion: "example.com/v1alpha1",
      items: [{ apiVersion: "example.com/v1alpha1", spec: { a: 1 } }],
    });
    expect(old.headers.warning).toEqual(['299 - "example.com/v1alpha1 Widget is deprecated"']);
  });

  test("gives each version its own subresources", async () => {
    const { request } = await createTestServer();
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await request(
      "POST",
      CRDS,
      makeDefinition({
        versions: [
          { name: "v1", served: true, storage: true, schema },
          { name: "v2", served: true, storage: false, schema, subresources: { status: {} } },
        ],
      }),
    );
    await request("POST", WIDGETS, { ...widget({}), status: { phase: "a" } });

    const plain = await request("PATCH", `${WIDGETS}/w`, { status: { phase: "b" } }, MERGE);
    const reserved = await request("PATCH", `${WIDGETS.replace("/v1/", "/v2/")}/w`, { status: { phase: "c" } }, MERGE);
    const missing = await request("GET", `${WIDGETS}/w/status`);
    const through = await request(
      "PATCH",
      `${WIDGETS.replace("/v1/", "/v2/")}/w/status`,
      { status: { phase: "d" } },
      MERGE,
    );

    expect([plain, reserved, through].map(({ body }) => body.status)).toEqual([
      { phase: "b" },
      { phase: "b" },
      { phase: "d" },
    ]);
    expect(missing.body.message).toBe('widgets.example.com "w" not found');
  });

  const warnings: Record<string, { schema: JsonObject; want: RegExp }> = {
    "warns about an unknown format": { schema: { type: "string", format: "weird" }, want: /unrecognized format/ },
  };
  for (const [behaviour, { schema, want }] of Object.entries(warnings)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();
      const versions = [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { a: schema } } } },
          },
        },
      ];

      const { status, headers } = await request("POST", CRDS, makeDefinition({ versions }));

      expect(status).toBe(201);
      expect(headers.warning).toEqual([expect.stringMatching(want)]);
    });
  }

  const failures: Record<string, { definition: JsonObject; want: string }> = {
    "must be named after its plural and group": {
      definition: { ...makeDefinition(), metadata: { name: "wrong" } },
      want: 'metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group',
    },
    "must have one storage version": {
      definition: makeDefinition({ versions: [] }),
      want: "must have exactly one version marked as storage version",
    },
    "must not use a protected Kubernetes group": {
      definition: { ...makeDefinition({ group: "x.k8s.io" }), metadata: { name: "widgets.x.k8s.io" } },
      want: "protected groups must have approval annotation",
    },
    "must have valid patterns": {
      definition: makeDefinition({
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "string", pattern: "(" } } } },
          },
        ],
      }),
      want: "must be a valid regular expression",
    },
    "must have valid defaults": {
      definition: makeDefinition({
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "string", default: 5 } } } },
          },
        ],
      }),
      want: "properties[spec].default",
    },
  };
  for (const [behaviour, { definition, want }] of Object.entries(failures)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();

      const { status, body } = await request("POST", CRDS, definition);

      expect(status).toBe(422);
      expect(body.message).toContain(want);
    });
  }
});

describe("a custom object", () => {
  const rules = {
    type: "object",
    properties: {
      size: { type: "integer", "x-kubernetes-validations": [{ rule: "self < 10", message: "too large" }] },
      replicas: { type: "integer" },
    },
  };
  const withRules = (spec: JsonObject): JsonObject =>
    makeDefinition({
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
          subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
        },
      ],
    });
  const refused: Record<string, { spec: JsonObject; want: string }> = {
    "must satisfy the validation rules of its schema": {
      spec: { size: 12 },
      want: 'Widget.example.com "w" is invalid: spec.size: Invalid value: 12: too large',
    },
    "is validated by CEL rules only when the rest is valid": {
      spec: { size: "x" },
      want:
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; " +
        "correct the existing errors to complete validation",
    },
    "cannot be scaled below zero": {
      spec: { replicas: -1 },
      want: ".spec.replicas: Invalid value: -1: should be a non-negative integer",
    },
  };
  for (const [behaviour, { spec, want }] of Object.entries(refused)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();
      await request("POST", CRDS, withRules(rules));

      const { status, body } = await request("POST", WIDGETS, widget(spec));

      expect(status).toBe(422);
      expect(body.message).toContain(want);
    });
  }

  test("a custom object that violates a later rule is warned about while it is unchanged", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, withRules({ type: "object", properties: { size: { type: "integer" } } }));
    await request("POST", WIDGETS, widget({ size: 12 }));
    await request(
      "PATCH",
      `${CRDS}/widgets.example.com`,
      [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec", value: rules }],
      { "content-type": "application/json-patch+json" },
    );

    const kept = await request("PATCH", `${WIDGETS}/w`, { metadata: { labels: { a: "b" } } }, MERGE);
    const changed = await request("PATCH", `${WIDGETS}/w`, { spec: { size: 13 } }, MERGE);

    expect([kept.status, changed.status]).toEqual([200, 422]);
    expect(kept.headers.warning).toEqual([expect.stringContaining("too large")]);
  });

  test("gets warnings about unknown fields even when it is rejected for another reason", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, makeDefinition());
    await request("POST", WIDGETS, widget({}));

    const { status, headers } = await request("PUT", `${WIDGETS}/w`, {
      ...widget({ junk: 1 }),
      metadata: { name: "w", resourceVersion: "1" },
    });

    expect(status).toBe(409);
    expect(headers.warning).toEqual(['299 - "unknown field \\"spec.junk\\""']);
  });

  test("gets a warning about finalizers without a domain", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, makeDefinition());

    const { headers } = await request("POST", WIDGETS, {
      ...widget({}),
      metadata: { name: "w", finalizers: ["mine", "example.com/mine"] },
    });

    expect(headers.warning).toEqual([
      expect.stringContaining('metadata.finalizers: \\"mine\\": prefer a domain-qualified finalizer name'),
    ]);
  });
});

test("versions are preferred by stability, then by number", () => {
  const versions = ["v1alpha1", "foo", "v2", "v1beta2", "v1", "v1beta1", "v10"];

  expect(versions.toSorted(compareVersions)).toEqual(["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]);
});
