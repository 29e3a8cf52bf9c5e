import { describe, expect, test } from "vitest";
import { CloneSet } from "../api/index.ts";
import type { JsonObject } from "../base/index.ts";
import { compareVersions } from "./crd.ts";
import { MERGE, PROFILE, createTestServer, makeDefinition } from "./test-server.ts";
import { textOf } from "./text.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const widget = (spec: JsonObject): JsonObject => ({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec });

describe("a definition", () => {
  test("is established and served by the write that makes it", async () => {
    const { request, server } = await createTestServer();

    const { status, body } = await request("POST", CRDS, makeDefinition());
    const created = await request("POST", WIDGETS, widget({}));

    expect(status).toBe(201);
    expect(body).toMatchObject({
      spec: { names: { singular: "widget", listKind: "WidgetList" }, conversion: { strategy: "None" } },
      status: { conditions: [{ type: "NamesAccepted", status: "True" }, { type: "Established", status: "True" }], storedVersions: ["v1"] },
    });
    expect(created.body.spec).toEqual({ size: 3 });
    expect(server.writes.total()).toBe(2);
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

  test("that changes shows its new defaults on old objects", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, makeDefinition());
    await request("POST", WIDGETS, widget({}));
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color";

    await request("PATCH", `${CRDS}/widgets.example.com`, [{ op: "add", path, value: { type: "string", default: "red" } }], { "content-type": "application/json-patch+json" });
    const { body } = await request("GET", `${WIDGETS}/w`);

    expect(body.spec).toEqual({ size: 3, color: "red" });
  });

  test("takes its objects along", async () => {
    const server = await createTestServer();
    await server.request("POST", CRDS, makeDefinition());
    await server.request("POST", WIDGETS, { ...widget({}), metadata: { name: "w", finalizers: ["example.com/hold"] } });

    await server.request("DELETE", `${CRDS}/widgets.example.com`);
    await server.settle();
    const waiting = await server.request("GET", `${CRDS}/widgets.example.com`);
    const refused = await server.request("POST", WIDGETS, { ...widget({}), metadata: { name: "late" } });
    await server.request("PATCH", `${WIDGETS}/w`, { metadata: { finalizers: null } }, MERGE);
    await server.settle();

    expect(waiting.body).toMatchObject({ status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "Terminating", status: "True" })]) } });
    expect(refused.body.message).toContain("create not allowed while custom resource definition is terminating");
    expect((await server.request("GET", `${CRDS}/widgets.example.com`)).status).toBe(404);
    expect((await server.request("GET", WIDGETS)).text).toBe("404 page not found\n");
  });

  test("whose names are taken is not served", async () => {
    const { request } = await createTestServer();
    await request("POST", CRDS, makeDefinition());

    const { body } = await request("POST", CRDS, { ...makeDefinition({ names: { plural: "gadgets", kind: "Gadget", shortNames: ["wd"] } }), metadata: { name: "gadgets.example.com" } });

    expect(body).toMatchObject({ status: { conditions: [{ type: "NamesAccepted", status: "False", reason: "ShortNamesConflict", message: '"wd" is already in use' }, { type: "Established", status: "False" }] } });
    expect((await request("GET", "/apis/example.com/v1/gadgets")).status).toBe(404);
  });

  test("serves every version and stores one", async () => {
    const { request } = await createTestServer();
    const open = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await request("POST", CRDS, makeDefinition({ versions: [{ name: "v1", served: true, storage: true, schema: open }, { name: "v1alpha1", served: true, storage: false, schema: open, deprecated: true }] }));

    await request("POST", WIDGETS, widget({ a: 1 }));
    const old = await request("GET", WIDGETS.replace("/v1/", "/v1alpha1/"));

    expect(old.body).toMatchObject({ apiVersion: "example.com/v1alpha1", items: [{ apiVersion: "example.com/v1alpha1", spec: { a: 1 } }] });
    expect(old.headers.warning).toEqual(['299 - "example.com/v1alpha1 Widget is deprecated"']);
  });

  const warnings: Record<string, { schema: JsonObject; want: RegExp }> = {
    "says that CEL rules are not enforced": { schema: { type: "string", "x-kubernetes-validations": [{ rule: "self != ''" }] }, want: /does not evaluate x-kubernetes-validations/ },
    "says that a format is unknown": { schema: { type: "string", format: "weird" }, want: /unrecognized format/ },
  };
  for (const [behaviour, { schema, want }] of Object.entries(warnings)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();
      const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { a: schema } } } } } }];

      const { status, headers } = await request("POST", CRDS, makeDefinition({ versions }));

      expect(status).toBe(201);
      expect(headers.warning).toEqual([expect.stringMatching(want)]);
    });
  }

  const failures: Record<string, { definition: JsonObject; want: string }> = {
    "must be named after its plural and group": { definition: { ...makeDefinition(), metadata: { name: "wrong" } }, want: 'metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group' },
    "must have one storage version": { definition: makeDefinition({ versions: [] }), want: "must have exactly one version marked as storage version" },
    "must not take a group of Kubernetes": { definition: { ...makeDefinition({ group: "x.k8s.io" }), metadata: { name: "widgets.x.k8s.io" } }, want: "protected groups must have approval annotation" },
    "must not need a conversion webhook": {
      definition: makeDefinition({
        conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } },
        versions: ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v1", schema: { openAPIV3Schema: { type: "object" } } })),
      }),
      want: "Flotilla does not call conversion webhooks yet",
    },
    "must have patterns that can be run": {
      definition: makeDefinition({ versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "string", pattern: "(" } } } } }] }),
      want: "must be a valid regular expression",
    },
    "must have defaults that fit": {
      definition: makeDefinition({ versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "string", default: 5 } } } } }] }),
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

  test("of a kind that is code is shown, and its versions are converted by that code", async () => {
    const { request } = await createTestServer({ profiles: { hub: { ...PROFILE, customs: [CloneSet] } } });
    const { body } = await request("GET", `${CRDS}/clonesets.apps.kruise.io`);
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const cloneSet = (version: string): JsonObject => ({ apiVersion: `apps.kruise.io/${version}`, kind: "CloneSet", metadata: { name: version }, spec: { replicas: 2, selector: { matchLabels: { a: "b" } }, template } });

    const versions = ((body.spec as JsonObject).versions as JsonObject[]).map(({ name }) => textOf(name));
    for (const version of versions) await request("POST", `/apis/apps.kruise.io/${version}/namespaces/default/clonesets`, cloneSet(version));
    const lists = await Promise.all(versions.map((version) => request("GET", `/apis/apps.kruise.io/${version}/clonesets`)));

    expect(body).toMatchObject({ status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "Established", status: "True" })]) } });
    for (const [index, list] of lists.entries()) expect((list.body.items as JsonObject[]).map(({ apiVersion }) => apiVersion)).toEqual(versions.map(() => `apps.kruise.io/${versions[index]}`));
  });
});

test("versions are preferred by stability, then by number", () => {
  const versions = ["v1alpha1", "foo", "v2", "v1beta2", "v1", "v1beta1", "v10"];

  expect(versions.toSorted(compareVersions)).toEqual(["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]);
});
