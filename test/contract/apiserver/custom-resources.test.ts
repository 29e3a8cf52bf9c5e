/** Custom resources. */
import { expect, test } from "vitest";
import { defineResource, isEstablished, makeCrd } from "./custom-resource.ts";
import { NAMESPACE, contract, eventually } from "../../programs/api-servers.ts";
import type { Answer } from "../../programs/raw-client.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const object = (properties: object, rest: object = {}): object => ({ type: "object", properties, ...rest });
const spec = (properties: object, rest: object = {}): object =>
  object({
    spec: object(properties, rest),
    status: object({ replicas: { type: "integer" }, phase: { type: "string" } }),
  });

contract("custom resources", (subject) => {
  const make = (kind: string, name: string, rest: object = {}, version = "v1"): object => ({
    apiVersion: `${kind.toLowerCase()}.example.com/${version}`,
    kind,
    metadata: { name },
    ...rest,
  });
  const conditions = ({ body }: Answer): Record<string, { status: string; reason: string }> =>
    Object.fromEntries(
      (
        (body.status as { conditions?: { type: string; status: string; reason: string }[] | null } | undefined)
          ?.conditions ?? []
      ).map(({ type, status, reason }) => [type, { status, reason }]),
    );

  const refusedDefinitions: Record<string, [crd: object, field: string]> = {
    "a name that is not plural.group": [
      { ...makeCrd("Refused"), metadata: { name: "other.refused.example.com" } },
      "metadata.name",
    ],
    "no storage version": [
      makeCrd("Refused", {
        versions: [{ name: "v1", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } }],
      }),
      "spec.versions",
    ],
    "two storage versions": [
      makeCrd("Refused", {
        versions: ["v1", "v2"].map((name) => ({
          name,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object" } },
        })),
      }),
      "spec.versions",
    ],
    "no schema": [
      makeCrd("Refused", { versions: [{ name: "v1", served: true, storage: true }] }),
      "spec.versions[0].schema.openAPIV3Schema",
    ],
    "a level without a type": [
      makeCrd("Refused", { schema: object({ spec: { properties: { a: { type: "string" } } } }) }),
      "spec.validation.openAPIV3Schema.properties[spec].type",
    ],
    "a $ref": [
      makeCrd("Refused", { schema: object({ spec: { $ref: "#/definitions/x" } }) }),
      "spec.validation.openAPIV3Schema.properties[spec].$ref",
    ],
    uniqueItems: [
      makeCrd("Refused", { schema: object({ spec: { type: "array", uniqueItems: true, items: { type: "string" } } }) }),
      "spec.validation.openAPIV3Schema.properties[spec].uniqueItems",
    ],
    "a default that does not match the schema": [
      makeCrd("Refused", { schema: object({ spec: { type: "string", default: 7 } }) }),
      "spec.validation.openAPIV3Schema.properties[spec].default",
    ],
    "unknown fields preserved with preserveUnknownFields": [
      { ...makeCrd("Refused"), spec: { ...makeCrd("Refused").spec, preserveUnknownFields: true } },
      "spec.preserveUnknownFields",
    ],
    "a rule that does not compile": [
      makeCrd("Refused", {
        schema: object({
          spec: object({ a: { type: "integer" } }, { "x-kubernetes-validations": [{ rule: "self.b > 0" }] }),
        }),
      }),
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
    ],
    "a rule that could cost too much": [
      makeCrd("Refused", {
        schema: object({
          spec: object(
            { list: { type: "array", items: { type: "string" } } },
            {
              "x-kubernetes-validations": [
                { rule: "self.list.all(x, self.list.all(y, self.list.all(z, x == y || y == z)))" },
              ],
            },
          ),
        }),
      }),
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
    ],
  };
  for (const [what, [crd, field]] of Object.entries(refusedDefinitions)) {
    test(`a CRD with ${what} is rejected`, async () => {
      const { status, body } = await subject.api.create(CRDS, crd);

      expect(status).toBe(422);
      expect(body.details?.causes?.map((cause) => cause.field)).toContain(field);
    });
  }

  test("a CRD is defaulted, and reports when its kind is served", async () => {
    const crd = makeCrd("Complete");
    delete (crd.spec["names"] as { singular?: string }).singular;
    const created = await subject.api.create(CRDS, crd);
    const established = await eventually(
      "Established",
      () => subject.api.get(`${CRDS}/${crd.metadata.name}`),
      isEstablished,
    );

    expect(created.body.spec).toMatchObject({
      names: { singular: "complete", listKind: "CompleteList" },
      conversion: { strategy: "None" },
    });
    expect(conditions(established)).toMatchObject({
      NamesAccepted: { status: "True", reason: "NoConflicts" },
      Established: { status: "True", reason: "InitialNamesAccepted" },
    });
    expect(established.body.status).toMatchObject({
      acceptedNames: { plural: "completes", kind: "Complete", listKind: "CompleteList" },
      storedVersions: ["v1"],
    });
  });

  test("names that are taken in the group are not accepted", async () => {
    await defineResource(subject.api, "Taken", { namespace: NAMESPACE });
    const competitor = makeCrd("Competitor");
    await subject.api.create(CRDS, {
      metadata: { name: "competitors.taken.example.com" },
      spec: {
        ...competitor.spec,
        group: "taken.example.com",
        names: { plural: "competitors", singular: "competitor", kind: "Taken" },
      },
    });

    const answer = await eventually(
      "NamesAccepted",
      () => subject.api.get(`${CRDS}/competitors.taken.example.com`),
      (read) => conditions(read)["NamesAccepted"] !== undefined,
    );

    expect(conditions(answer)["NamesAccepted"]).toEqual({ status: "False", reason: "ListKindConflict" });
    expect((await subject.api.get("/apis/taken.example.com/v1/competitors")).status).toBe(404);
  });

  test("deleting a CRD deletes its objects first", async () => {
    const path = await defineResource(subject.api, "Doomed", { namespace: NAMESPACE });
    await subject.api.create(
      path,
      make("Doomed", "held", { metadata: { name: "held", finalizers: ["example.com/hold"] } }),
    );
    const crd = `${CRDS}/doomeds.doomed.example.com`;

    const deleted = await subject.api.delete(crd);
    await eventually(
      "the object is being deleted",
      () => subject.api.get(`${path}/held`),
      ({ body }) => body.metadata.deletionTimestamp !== undefined,
    );
    const late = await subject.api.create(path, make("Doomed", "late"));
    await subject.api.patch("merge", `${path}/held`, { metadata: { finalizers: null } });

    expect(deleted.body.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
    expect([late.status, late.body.message]).toEqual([
      403,
      expect.stringContaining("create not allowed while custom resource definition is terminating"),
    ]);
    await eventually(
      "the definition is gone",
      () => subject.api.get(crd),
      ({ status }) => status === 404,
    );
    const unserved = await eventually(
      "the kind is gone",
      () => subject.api.get(path),
      ({ status }) => status === 404,
    );
    expect(unserved.text).toBe("404 page not found\n");
  });

  test("fields unknown to the schema are pruned, except where it preserves them", async () => {
    const path = await defineResource(subject.api, "Pruned", {
      namespace: NAMESPACE,
      schema: spec({
        known: { type: "string" },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        inner: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          properties: { spec: object({ a: { type: "string" } }) },
        },
      }),
    });

    const { status, body, warnings } = await subject.api.create(
      path,
      make("Pruned", "a", {
        extra: 1,
        spec: {
          known: "k",
          unknown: "u",
          free: { any: { thing: 1 } },
          inner: { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { a: "1", b: "2" } },
        },
      }),
    );

    expect(status).toBe(201);
    expect(body.spec).toEqual({
      known: "k",
      free: { any: { thing: 1 } },
      inner: { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { a: "1" } },
    });
    expect(body).not.toHaveProperty("extra");
    expect(warnings.toSorted()).toEqual([
      'unknown field "extra"',
      'unknown field "spec.inner.spec.b"',
      'unknown field "spec.unknown"',
    ]);
  });

  test("defaults are applied on write, and new defaults when old objects are read", async () => {
    const path = await defineResource(subject.api, "Defaulted", {
      namespace: NAMESPACE,
      schema: spec(
        { colour: { type: "string", default: "blue" }, count: { type: "integer", default: 3 } },
        { default: {} },
      ),
    });
    const created = await subject.api.create(path, make("Defaulted", "a", { spec: { colour: null } }));
    const bare = await subject.api.create(path, make("Defaulted", "bare"));

    await subject.api.patch("json", `${CRDS}/defaulteds.defaulted.example.com`, [
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/shape",
        value: { type: "string", default: "round" },
      },
    ]);

    expect(created.body.spec).toEqual({ colour: "blue", count: 3 });
    expect(bare.body.spec).toEqual({ colour: "blue", count: 3 });
    await eventually(
      "the new default",
      () => subject.api.get(`${path}/a`),
      ({ body }) => (body.spec as { shape?: string }).shape === "round",
    );
  });

  const constraints: Record<string, [schema: object, value: unknown, message: string]> = {
    type: [
      { type: "integer" },
      "x",
      'spec.field: Invalid value: "string": spec.field in body must be of type integer: "string"',
    ],
    enum: [{ type: "string", enum: ["a", "b"] }, "c", 'spec.field: Unsupported value: "c": supported values: "a", "b"'],
    pattern: [
      { type: "string", pattern: "^a+$" },
      "b",
      "spec.field: Invalid value: \"b\": spec.field in body should match '^a+$'",
    ],
    minimum: [
      { type: "integer", minimum: 3 },
      2,
      "spec.field: Invalid value: 2: spec.field in body should be greater than or equal to 3",
    ],
    maxLength: [{ type: "string", maxLength: 2 }, "äöü", "spec.field: Too long: may not be more than 2 bytes"],
    minItems: [
      { type: "array", minItems: 1, items: { type: "string" } },
      [],
      "spec.field: Invalid value: 0: spec.field in body should have at least 1 items",
    ],
    maxItems: [
      { type: "array", maxItems: 1, items: { type: "string" } },
      ["a", "b"],
      "spec.field: Too many: 2: must have at most 1 item",
    ],
    required: [object({ a: { type: "string" } }, { required: ["a"] }), {}, "spec.field.a: Required value"],
    format: [
      { type: "string", format: "date-time" },
      "soon",
      'spec.field: Invalid value: "soon": spec.field in body must be of type date-time: "soon"',
    ],
    multipleOf: [
      { type: "integer", multipleOf: 5 },
      7,
      "spec.field: Invalid value: 7: spec.field in body should be a multiple of 5",
    ],
    oneOf: [
      {
        type: "object",
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
        properties: { a: { type: "string" }, b: { type: "string" } },
      },
      {},
      '[<nil>: Invalid value: "": "spec.field" must validate one and only one schema (oneOf). Found none valid, spec.field.a: Required value]',
    ],
    set: [
      { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      ["a", "a"],
      'spec.field[1]: Duplicate value: "a"',
    ],
    map: [
      {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["id"],
        items: object({ id: { type: "string" } }, { required: ["id"] }),
      },
      [{ id: "1" }, { id: "1" }],
      'spec.field[1]: Duplicate value: {"id":"1"}',
    ],
    rule: [
      { type: "integer", "x-kubernetes-validations": [{ rule: "self % 2 == 0", message: "must be even" }] },
      3,
      "spec.field: Invalid value: 3: must be even",
    ],
  };
  for (const [keyword, [schema, value, message]] of Object.entries(constraints)) {
    test(`${keyword} is enforced, with the error message of Kubernetes`, async () => {
      const kind = `Bound${keyword.toLowerCase()}`;
      const path = await defineResource(subject.api, kind, { namespace: NAMESPACE, schema: spec({ field: schema }) });

      const { status, body } = await subject.api.create(path, make(kind, "a", { spec: { field: value } }));

      expect([status, body.message]).toEqual([
        422,
        `${kind}.${kind.toLowerCase()}.example.com "a" is invalid: ${message}`,
      ]);
    });
  }

  test("validation rules see the old object, and their message, reason and fieldPath are used", async () => {
    const rules = [
      {
        rule: "self.limit >= self.request",
        messageExpression: "self.limit > 5 ? 'limit is high' : 'limit is below request'",
        reason: "FieldValueForbidden",
        fieldPath: ".limit",
      },
      { rule: "!has(oldSelf.name) || self.name == oldSelf.name", message: "name may not change" },
    ];
    const path = await defineResource(subject.api, "Ruled", {
      namespace: NAMESPACE,
      schema: spec(
        { limit: { type: "integer" }, request: { type: "integer" }, name: { type: "string", maxLength: 10 } },
        { "x-kubernetes-validations": rules },
      ),
    });
    const invalid = await subject.api.create(path, make("Ruled", "a", { spec: { limit: 1, request: 2 } }));
    await subject.api.create(path, make("Ruled", "a", { spec: { limit: 2, request: 2, name: "first" } }));
    const renamed = await subject.api.patch("merge", `${path}/a`, { spec: { name: "second" } });

    expect(invalid.body.details?.causes).toEqual([
      { reason: "FieldValueForbidden", message: "Forbidden: limit is below request", field: "spec.limit" },
    ]);
    expect([renamed.status, renamed.body.message]).toEqual([
      422,
      'Ruled.ruled.example.com "a" is invalid: spec: Invalid value: name may not change',
    ]);
  });

  test("the CEL libraries of Kubernetes are available", async () => {
    const rules = [
      "quantity(self.text).isGreaterThan(quantity('1Gi'))",
      "url('https://example.com:8080/a').getPort() == '8080'",
      "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.0.0.1')",
      "'a-b'.replace('-', '+') == 'a+b' && 'x1'.find('[0-9]') == '1'",
      "[1, 2, 3].sum() == 6 && [3, 1].min() == 1 && sets.contains([1, 2], [1])",
      "semver('1.2.3').isLessThan(semver('1.3.0'))",
      "optional.of(1).orValue(2) == 1",
      "'%d items'.format([3]) == '3 items'",
      "!format.dns1123Label().validate('ok').hasValue()",
    ];
    const path = await defineResource(subject.api, "Library", {
      namespace: NAMESPACE,
      schema: spec(
        { text: { type: "string", maxLength: 10 } },
        { "x-kubernetes-validations": rules.map((rule) => ({ rule, message: rule })) },
      ),
    });

    const good = await subject.api.create(path, make("Library", "good", { spec: { text: "2Gi" } }));
    const bad = await subject.api.create(path, make("Library", "bad", { spec: { text: "1Mi" } }));

    expect([good.status, good.body.message]).toEqual([201, undefined]);
    expect(bad.body.details?.causes?.map(({ message }) => message)).toEqual([`Invalid value: ${rules[0]}`]);
  });

  test("ratcheting: an unchanged invalid field does not block an update", async () => {
    const path = await defineResource(subject.api, "Ratcheted", {
      namespace: NAMESPACE,
      schema: spec({ a: { type: "string" }, b: { type: "string" } }),
    });
    await subject.api.create(path, make("Ratcheted", "a", { spec: { a: "long", b: "x" } }));
    await subject.api.patch("json", `${CRDS}/ratcheteds.ratcheted.example.com`, [
      { op: "add", path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/maxLength", value: 2 },
    ]);
    await eventually(
      "the new limit",
      () => subject.api.create(`${path}?dryRun=All`, make("Ratcheted", "b", { spec: { a: "long" } })),
      ({ status }) => status === 422,
    );

    expect((await subject.api.patch("merge", `${path}/a`, { spec: { b: "y" } })).status).toBe(200);
    expect((await subject.api.patch("merge", `${path}/a`, { spec: { a: "longer" } })).status).toBe(422);
  });

  test("every served version reads and writes every object; a version that is not served returns 404", async () => {
    const version = (name: string, rest: object): object => ({
      name,
      served: true,
      storage: false,
      schema: { openAPIV3Schema: spec({ a: { type: "string" } }) },
      ...rest,
    });
    const path = await defineResource(subject.api, "Multi", {
      namespace: NAMESPACE,
      versions: [
        version("v1", { storage: true }),
        version("v1beta1", { deprecated: true, deprecationWarning: "use v1" }),
        version("v1alpha1", { served: false }),
      ],
    });
    const beta = path.replace("/v1/", "/v1beta1/");
    const created = await subject.api.create(beta, make("Multi", "a", { spec: { a: "1" } }, "v1beta1"));

    const read = await subject.api.get(`${path}/a`);

    expect(created.body.apiVersion).toBe("multi.example.com/v1beta1");
    expect(created.warnings).toEqual(["use v1"]);
    expect(read.body).toMatchObject({ apiVersion: "multi.example.com/v1", spec: { a: "1" } });
    expect((await subject.api.get(path.replace("/v1/", "/v1alpha1/"))).status).toBe(404);
  });

  test("status and scale are subresources, and the generation ignores the status", async () => {
    const path = await defineResource(subject.api, "Scaled", {
      namespace: NAMESPACE,
      schema: object({
        spec: object({ replicas: { type: "integer" } }),
        status: object({ replicas: { type: "integer" }, selector: { type: "string" } }),
      }),
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.replicas",
          statusReplicasPath: ".status.replicas",
          labelSelectorPath: ".status.selector",
        },
      },
    });
    const created = await subject.api.create(
      path,
      make("Scaled", "a", { spec: { replicas: 2 }, status: { replicas: 9 } }),
    );
    const status = await subject.api.patch("merge", `${path}/a/status`, {
      spec: { replicas: 7 },
      status: { replicas: 1, selector: "a=b" },
    });
    const scale = await subject.api.get(`${path}/a/scale`);
    await subject.api.replace(`${path}/a/scale`, { ...scale.body, spec: { replicas: 5 } });
    const after = await subject.api.get(`${path}/a`);

    expect(created.body).not.toHaveProperty("status");
    expect(status.body).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 2 }, status: { replicas: 1 } });
    expect(scale.body).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 2 },
      status: { replicas: 1, selector: "a=b" },
    });
    expect(after.body).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 5 } });
  });

  test("printer columns are the columns of the table", async () => {
    const columns = [
      { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How large." },
      { name: "Made", type: "date", jsonPath: ".metadata.creationTimestamp", priority: 1 },
      { name: "Absent", type: "string", jsonPath: ".spec.absent" },
    ];
    const path = await defineResource(subject.api, "Printed", {
      namespace: NAMESPACE,
      schema: spec({ size: { type: "integer" }, absent: { type: "string" } }),
      columns,
    });
    await subject.api.create(path, make("Printed", "a", { spec: { size: 7 } }));

    const { body } = await subject.api.get(path, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });

    expect(
      (body["columnDefinitions"] as { name: string; priority: number }[]).map(
        ({ name, priority }) => `${name} ${priority}`,
      ),
    ).toEqual(["Name 0", "Size 0", "Made 1", "Absent 0"]);
    expect((body["rows"] as { cells: unknown[] }[])[0]?.cells).toEqual(["a", 7, expect.stringMatching(/^\d+s$/), null]);
  });

  test("without printer columns the table has the age", async () => {
    const path = await defineResource(subject.api, "Aged", { namespace: NAMESPACE });

    const { body } = await subject.api.get(path, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });

    expect((body["columnDefinitions"] as { name: string }[]).map(({ name }) => name)).toEqual(["Name", "Age"]);
  });

  test("strict field validation covers custom resources", async () => {
    const path = await defineResource(subject.api, "Strict", {
      namespace: NAMESPACE,
      schema: spec({ a: { type: "string" } }),
    });

    const { status, body } = await subject.api.create(
      `${path}?fieldValidation=Strict`,
      '{"apiVersion":"strict.example.com/v1","kind":"Strict","metadata":{"name":"a","label":{}},"spec":{"a":"1","a":"2","b":"3"}}',
    );

    expect(status).toBe(400);
    for (const complaint of ['duplicate field "spec.a"', 'unknown field "metadata.label"', 'unknown field "spec.b"'])
      expect(body.message).toContain(complaint);
  });
});
