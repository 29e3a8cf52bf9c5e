import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareText, deepFreeze, type Json, type JsonObject, defined } from "@flotilla/base";
import { applyConfiguration } from "./apply.ts";
import { recordUpdate, stripManagedFields } from "./managed-fields.ts";
import type { Schema } from "../schema.ts";

const text: Schema = { type: "string" };
const schema: Schema = {
  type: "object",
  properties: {
    data: { type: "object", additionalProperties: text },
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        tags: { type: "array", "x-kubernetes-list-type": "set", items: text },
        args: { type: "array", items: text },
        selector: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: text },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, name: text },
          },
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: { type: "object", properties: { phase: text } },
  },
};
const NOON = "2024-05-01T12:00:00Z";
const LATER = "2024-05-01T13:00:00Z";

interface Options {
  live?: JsonObject;
  manager?: string;
  force?: boolean;
  time?: string;
  subresource?: string;
}

const config = (fields: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "a" },
  ...fields,
});
function apply(
  fields: JsonObject,
  { live, manager = "alpha", force = false, time = NOON, subresource }: Options = {},
): JsonObject {
  return applyConfiguration({
    live: deepFreeze(live) as JsonObject | undefined,
    applied: deepFreeze(config(fields)) as JsonObject,
    schema,
    manager,
    apiVersion: "v1",
    force,
    time,
    subresource,
  });
}
function update(live: JsonObject, fields: JsonObject, manager = "edit"): JsonObject {
  return recordUpdate({ before: live, after: { ...live, ...fields }, schema, manager, apiVersion: "v1", time: NOON });
}
const entriesOf = (object: JsonObject): JsonObject[] =>
  ((object["metadata"] as JsonObject)["managedFields"] ?? []) as JsonObject[];
const fieldsOf = (object: JsonObject, manager: string): Json | undefined =>
  entriesOf(object).find((entry) => entry["manager"] === manager)?.["fieldsV1"];

describe("ownership", () => {
  test("covers exactly the applied fields", () => {
    const applied = apply({
      data: { a: "1" },
      spec: {
        tags: ["x"],
        ports: [{ port: 80 }],
        args: ["y"],
        selector: { s: "t" },
        free: { deep: { z: 1 }, list: [1] },
      },
    });

    expect(entriesOf(applied)).toEqual([
      {
        manager: "alpha",
        operation: "Apply",
        apiVersion: "v1",
        time: NOON,
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:data": { "f:a": {} },
          "f:spec": {
            "f:tags": { 'v:"x"': {} },
            "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
            "f:args": {},
            "f:selector": {},
            "f:free": { "f:deep": { ".": {}, "f:z": {} }, "f:list": {} },
          },
        },
      },
    ]);
  });

  test("ownership of an equal value is shared, and a field is removed when its last owner drops it", () => {
    const first = apply({ data: { a: "1", b: "1" } });
    const shared = apply({ data: { a: "1", c: "1" } }, { live: first, manager: "beta" });
    const kept = apply({ data: { b: "1" } }, { live: shared });
    const gone = apply({ data: { c: "1" } }, { live: kept, manager: "beta" });

    expect(fieldsOf(shared, "beta")).toEqual({ "f:data": { "f:a": {}, "f:c": {} } });
    expect(kept["data"]).toEqual({ a: "1", b: "1", c: "1" });
    expect(gone["data"]).toEqual({ b: "1", c: "1" });
  });

  test("does not include fields that no manager applied", () => {
    const live = { ...apply({ spec: { tags: ["x"] } }), data: { unowned: "1" } };

    expect(apply({ data: { a: "1" } }, { live })).toMatchObject({ data: { unowned: "1", a: "1" } });
  });

  test("ownership of a structure that becomes empty is removed with it", () => {
    const live = apply({ data: { a: "1" }, spec: { replicas: 1 } });

    expect(apply({ data: { a: "1" } }, { live })).not.toHaveProperty("spec");
  });

  test("ownership of the status is acquired only through the status subresource", () => {
    const applied = apply(
      { status: { phase: "Ready" }, spec: { replicas: 9 } },
      { live: apply({ spec: { replicas: 1 } }), manager: "ctl", subresource: "status" },
    );

    expect(fieldsOf(applied, "ctl")).toEqual({ "f:status": { "f:phase": {} } });
    expect(applied["spec"]).toEqual({ replicas: 1 });
  });

  test("ownership of an untracked object is assigned to before-first-apply", () => {
    const live = config({ data: { a: "1" } });

    const applied = apply({ data: { b: "1" } }, { live });

    expect(fieldsOf(applied, "before-first-apply")).toEqual({ "f:data": { ".": {}, "f:a": {} } });
  });
});

test("the object's identity stays when all owned metadata is removed", () => {
  const live = apply({ metadata: { name: "a", uid: "u", labels: { l: "1" } } });

  expect(stripManagedFields(apply({}, { live }))).toEqual({ ...config({}), metadata: { name: "a", uid: "u" } });
  expect(
    stripManagedFields(apply({ status: {} }, { live: apply({ status: { phase: "x" } }), subresource: "status" }))[
      "metadata"
    ],
  ).toEqual({ name: "a" });
});

describe("lists", () => {
  test("lists of keyed elements merge by key, and dropped elements are removed", () => {
    const live = apply(
      { spec: { ports: [{ port: 80 }] } },
      { live: apply({ spec: { ports: [{ port: 53, protocol: "UDP" }] } }), manager: "beta" },
    );

    const renamed = apply({ spec: { ports: [{ port: 80, protocol: "TCP", name: "web" }] } }, { live, manager: "beta" });
    const dropped = apply({ spec: { replicas: 1 } }, { live: renamed, manager: "beta" });

    expect(renamed["spec"]).toEqual({
      ports: [
        { port: 53, protocol: "UDP" },
        { port: 80, protocol: "TCP", name: "web" },
      ],
    });
    expect(dropped["spec"]).toEqual({ replicas: 1, ports: [{ port: 53, protocol: "UDP" }] });
  });

  test("keep the configuration's order and the position of server-only elements", () => {
    const live = apply({ spec: { tags: ["a", "b", "c"] } });

    expect(
      (apply({ spec: { tags: ["c", "x", "b"] } }, { live, manager: "beta" })["spec"] as JsonObject)["tags"],
    ).toEqual(["a", "c", "x", "b"]);
  });

  test("are reordered to the configuration's order even when nothing else changes", () => {
    const live = apply({ spec: { tags: ["a", "b"] } });

    expect((apply({ spec: { tags: ["b", "a"] } }, { live })["spec"] as JsonObject)["tags"]).toEqual(["b", "a"]);
  });

  test("lists that are atomic have one owner", () => {
    expect(() => apply({ spec: { args: ["z"] } }, { live: apply({ spec: { args: ["y"] } }), manager: "beta" })).toThrow(
      'Apply failed with 1 conflict: conflict with "alpha": .spec.args',
    );
  });
});

describe("a conflict", () => {
  const live = update(apply({ data: { a: "1", b: "1" } }), { spec: { replicas: 3, ports: [{ port: 80, name: "x" }] } });

  test("names the owner and the field", () => {
    expect(() => apply({ data: { a: "2" } }, { live, manager: "beta" })).toThrow(
      expect.objectContaining({
        message: 'Apply failed with 1 conflict: conflict with "alpha": .data.a',
        status: expect.objectContaining({
          code: 409,
          reason: "Conflict",
          details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "alpha"', field: ".data.a" }] },
        }) as unknown,
      }),
    );
  });

  test("a conflict with an updater names its version, and with several owners lists them all", () => {
    expect(() => apply({ spec: { replicas: 1 } }, { live, manager: "beta" })).toThrow(
      'Apply failed with 1 conflict: conflict with "edit" using v1: .spec.replicas',
    );
    expect(() =>
      apply({ data: { a: "2", b: "2" }, spec: { ports: [{ port: 80, name: "y" }] } }, { live, manager: "beta" }),
    ).toThrow(
      'Apply failed with 3 conflicts: conflicts with "alpha":\n' +
        "- .data.a\n" +
        "- .data.b\n" +
        'conflicts with "edit" using v1:\n' +
        '- .spec.ports[port=80,protocol="TCP"].name',
    );
  });

  test("a conflict that is forced takes the field from the other owners", () => {
    const forced = apply({ data: { a: "2" } }, { live, manager: "beta", force: true });

    expect(forced["data"]).toEqual({ a: "2", b: "1" });
    expect(fieldsOf(forced, "alpha")).toEqual({ "f:data": { "f:b": {} } });
    expect(fieldsOf(forced, "beta")).toEqual({ "f:data": { "f:a": {} } });
  });

  test("a conflict with the last-applied configuration of client-side apply does not stop kubectl", () => {
    const annotations = {
      "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(config({ data: { a: "1" } })),
    };
    const csa = recordUpdate({
      before: undefined,
      after: { ...config({ data: { a: "1" } }), metadata: { name: "a", annotations } },
      schema,
      manager: "kubectl-client-side-apply",
      apiVersion: "v1",
      time: NOON,
    });

    const applied = apply({ data: { a: "2" } }, { live: csa, manager: "kubectl" });

    expect(applied["data"]).toEqual({ a: "2" });
    expect(applied["metadata"]).toMatchObject({
      annotations: {
        "kubectl.kubernetes.io/last-applied-configuration":
          '{"apiVersion":"v1","data":{"a":"2"},"kind":"Thing","metadata":{"name":"a"}}\n',
      },
    });
    expect(() => apply({ data: { a: "2" } }, { live: csa, manager: "other" })).toThrow("Apply failed with 1 conflict");
  });
});

describe("a configuration that does not fit the schema is rejected as the real server does", () => {
  const refused: Record<string, [fields: JsonObject, message: string]> = {
    "an unknown field": [{ spec: { nope: 1 } }, ".spec.nope: field not declared in schema"],
    "a number for a string": [{ data: { a: 1 } }, ".data.a: expected string, got &value.valueUnstructured{Value:1}"],
    "a string for a number": [
      { spec: { replicas: "3" } },
      ".spec.replicas: expected numeric (int or float), got string",
    ],
    "a duplicate element": [{ spec: { tags: ["d", "d"] } }, '.spec.tags: duplicate entries for key [="d"]'],
    "a duplicate key, once by its default": [
      { spec: { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] } },
      '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
    ],
  };
  for (const [behaviour, [fields, why]] of Object.entries(refused)) {
    test(behaviour, () => {
      const message = `failed to create typed patch object (/a; /v1, Kind=Thing): ${why}`;

      expect(() => apply(fields)).toThrow(
        expect.objectContaining({ message, status: expect.objectContaining({ code: 500 }) as unknown }),
      );
    });
  }

  test("managed fields in the body", () => {
    expect(() => apply({ metadata: { name: "a", managedFields: [] } })).toThrow(
      expect.objectContaining({ message: "metadata.managedFields must be nil", code: "BadRequest" }),
    );
  });
});

const configurations = fc.record(
  {
    data: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.constantFrom("1", "2"), { noNullPrototype: true }),
    spec: fc.record(
      {
        replicas: fc.integer({ min: 0, max: 3 }),
        tags: fc.uniqueArray(fc.constantFrom("x", "y", "z")),
        ports: fc.uniqueArray(fc.record({ port: fc.integer({ min: 1, max: 3 }), name: fc.constantFrom("p", "q") }), {
          selector: ({ port }) => port,
        }),
        free: fc.dictionary(fc.constantFrom("k", "l"), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true }),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<JsonObject>;

test("applying the same configuration again changes nothing, including the time", () => {
  fc.assert(
    fc.property(configurations, configurations, (one, two) => {
      const live = apply(two, { live: apply(one), manager: "beta", force: true });

      expect(apply(two, { live, manager: "beta", time: LATER })).toBe(live);
    }),
  );
});

test("a single applier gets exactly its configuration", () => {
  fc.assert(
    fc.property(configurations, configurations, (one, two) => {
      const twice = apply(two, { live: apply(one) });

      expect(entriesOf(twice)).toEqual(entriesOf(apply(two)));
      for (const [key, value] of Object.entries((two["data"] ?? {}) as JsonObject))
        expect((twice["data"] as JsonObject)[key]).toBe(value);
      for (const key of Object.keys((stripManagedFields(twice)["data"] ?? {}) as JsonObject))
        expect(Object.keys((two["data"] ?? {}) as JsonObject)).toContain(key);
    }),
  );
});

/** Configurations without empty maps and lists, which are removed with their contents. */
const anyConfig = fc.record(
  {
    data: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"), { minKeys: 1 }),
    spec: fc
      .record(
        {
          replicas: fc.integer({ min: 0, max: 3 }),
          tags: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1 }),
          args: fc.array(fc.constantFrom("p", "q"), { minLength: 1, maxLength: 2 }),
        },
        { requiredKeys: [] },
      )
      .filter((spec) => Object.keys(spec).length > 0),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

const isWithin = (part: Json | undefined, whole: Json | undefined): boolean => {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return true;
  return (
    typeof whole === "object" &&
    whole !== null &&
    !Array.isArray(whole) &&
    Object.keys(part).every((key) => Object.hasOwn(whole, key) && isWithin(part[key], whole[key]))
  );
};

test("a forced apply owns its whole configuration, and other owners own only fields with their values", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("alpha", "beta", "gamma"), anyConfig), { minLength: 1, maxLength: 6 }),
      (steps) => {
        let live: JsonObject | undefined;
        for (const [manager, fields] of steps) {
          live = apply(fields, { live, manager, force: true });

          const states = fieldsOf(apply(fields), "alpha");
          expect(fieldsOf(live, manager)).toEqual(states);
          expect(isWithin(stripManagedFields(config(fields)), live)).toBe(true);
        }
      },
    ),
  );
});

test("a field that an applier drops is removed unless another manager owns it", () => {
  fc.assert(
    fc.property(anyConfig, anyConfig, (first, second) => {
      const both = apply(second, { live: apply(first, { manager: "alpha" }), manager: "beta", force: true });

      const left = apply({}, { live: both, manager: "alpha", force: true });

      expect(fieldsOf(left, "alpha")).toBeUndefined();
      expect(fieldsOf(left, "beta")).toEqual(fieldsOf(apply(second), "alpha"));
      expect(isWithin(stripManagedFields(config(second)), left)).toBe(true);
    }),
  );
});

describe("owners in other versions", () => {
  // In v2, replicas is named count.
  const other: Schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { count: { type: "integer" } } } },
  };
  const rename = (object: JsonObject, from: string, to: string): JsonObject => {
    const { spec, ...rest } = object;
    const { [from]: value, ...fields } = (spec ?? {}) as JsonObject;
    return { ...rest, spec: value === undefined ? fields : { ...fields, [to]: value } };
  };
  const versions = (apiVersion: string) =>
    apiVersion === "v2"
      ? {
          schema: other,
          fromRequest: (object: JsonObject) => rename(object, "replicas", "count"),
          toRequest: (object: JsonObject) => rename(object, "count", "replicas"),
        }
      : undefined;
  const byOther = (): JsonObject => ({
    ...config({ spec: { replicas: 1 } }),
    metadata: {
      name: "a",
      uid: "u",
      managedFields: [
        {
          manager: "beta",
          operation: "Apply",
          apiVersion: "v2",
          time: NOON,
          fieldsType: "FieldsV1",
          fieldsV1: { "f:spec": { "f:count": {} } },
        },
      ],
    },
  });
  const request = (fields: JsonObject, manager: string, force = false) => ({
    live: byOther(),
    applied: config(fields),
    schema,
    manager,
    apiVersion: "v1",
    force,
    time: LATER,
    versions,
  });

  test("conflict with field names of their own version", () => {
    expect(() => applyConfiguration(request({ spec: { replicas: 2 } }, "alpha"))).toThrow(
      'Apply failed with 1 conflict: conflict with "beta": .spec.count',
    );
  });

  test("lose the fields that a forced apply changes", () => {
    const applied = applyConfiguration(request({ spec: { replicas: 2 } }, "alpha", true));

    expect(entriesOf(applied).map(({ manager }) => manager)).toEqual(["alpha"]);
  });

  test("owners in other versions that apply in this version drop the fields they applied in the other", () => {
    const applied = applyConfiguration(request({ data: { a: "1" } }, "beta"));

    expect(applied["spec"]).not.toHaveProperty("replicas");
    expect(entriesOf(applied)).toMatchObject([
      { manager: "beta", apiVersion: "v1", fieldsV1: { "f:data": { "f:a": {} } } },
    ]);
  });

  test("are dropped when their version is unknown", () => {
    const applied = applyConfiguration({ ...request({ spec: { replicas: 2 } }, "alpha"), versions: () => undefined });

    expect(entriesOf(applied).map(({ manager }) => manager)).toEqual(["alpha"]);
  });
});

test("an applier that changes nothing is recorded without a time", () => {
  const live = apply({ data: { a: "1" } }, { manager: "alpha" });

  const applied = apply({ data: { a: "1" } }, { live, manager: "beta", time: LATER });

  expect(entriesOf(applied).map(({ manager, time }) => [manager, time])).toEqual([
    ["beta", undefined],
    ["alpha", NOON],
  ]);
});

describe("several appliers", () => {
  const managers = ["alpha", "beta", "gamma"];
  const messageOf = (attempt: () => unknown): string | undefined => {
    try {
      attempt();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const shared = (one: JsonObject, two: JsonObject): boolean => {
    for (const [field, value] of Object.entries(one)) {
      const other = two[field];
      if (other === undefined) continue;
      if (typeof value === "object" && value !== null && !Array.isArray(value) && !shared(value, other as JsonObject))
        return false;
      if ((typeof value !== "object" || Array.isArray(value)) && JSON.stringify(value) !== JSON.stringify(other))
        return false;
    }
    return true;
  };
  /** The object without managed fields, and with sets and maps in one order. */
  const contents = (object: JsonObject): JsonObject => {
    const { tags, ...spec } = (object["spec"] ?? {}) as JsonObject;
    return {
      data: object["data"] ?? {},
      spec: {
        ...spec,
        ...defined({ tags: Array.isArray(tags) ? (tags as string[]).toSorted(compareText) : undefined }),
      },
    };
  };

  test("several appliers that agree do not conflict, share ownership of common fields, and may apply in any order", () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, (first, second) => {
        fc.pre(
          shared(
            { data: first["data"] ?? {}, spec: { ...(first["spec"] as JsonObject), tags: [] } },
            { data: second["data"] ?? {}, spec: { ...(second["spec"] as JsonObject), tags: [] } },
          ),
        );
        const oneTwo = apply(second, { live: apply(first, { manager: "alpha" }), manager: "beta" });
        const twoOne = apply(first, { live: apply(second, { manager: "beta" }), manager: "alpha" });

        expect(contents(oneTwo)).toEqual(contents(twoOne));
        for (const manager of ["alpha", "beta"]) expect(fieldsOf(oneTwo, manager)).toEqual(fieldsOf(twoOne, manager));
        expect(fieldsOf(oneTwo, "alpha")).toEqual(fieldsOf(apply(first), "alpha"));
      }),
    );
  });

  test("leave nothing behind when all of them have dropped their fields, in any order", () => {
    fc.assert(
      fc.property(
        fc.array(anyConfig, { minLength: 3, maxLength: 3 }),
        fc.shuffledSubarray(managers, { minLength: 3 }),
        (configs, order) => {
          let live: JsonObject | undefined;
          for (const [index, manager] of managers.entries())
            live = apply(configs[index] ?? {}, { live, manager, force: true });
          for (const manager of order) live = apply({}, { live, manager });

          expect(contents(live ?? {})).toEqual({ data: {}, spec: {} });
          expect(entriesOf(live ?? {})).toEqual([]);
        },
      ),
    );
  });

  test("conflict exactly when one of them would change a field of another, and forcing takes it over", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("1", "2"),
        fc.constantFrom("1", "2"),
        fc.constantFrom("a", "b"),
        fc.constantFrom("a", "b"),
        (one, two, keyOne, keyTwo) => {
          const live = apply({ data: { [keyOne]: one } }, { manager: "alpha" });
          const attempt = (force: boolean): JsonObject =>
            apply({ data: { [keyTwo]: two } }, { live, manager: "beta", force });

          const conflicts = keyOne === keyTwo && one !== two;

          expect(messageOf(() => attempt(false))).toBe(
            conflicts ? `Apply failed with 1 conflict: conflict with "alpha": .data.${keyOne}` : undefined,
          );
          expect(fieldsOf(attempt(true), "alpha") === undefined).toBe(conflicts);
          expect((attempt(true)["data"] as JsonObject)[keyTwo]).toBe(two);
        },
      ),
    );
  });

  test("keep their fields when an update changes others, and lose those that are changed", () => {
    fc.assert(
      fc.property(fc.constantFrom("1", "2"), fc.constantFrom("1", "2"), (one, two) => {
        const live = apply({ data: { a: one, b: "0" } }, { manager: "alpha" });

        const updated = update(live, { data: { a: two, b: "0" } });

        expect(fieldsOf(updated, "alpha")).toEqual(one === two ? fieldsOf(live, "alpha") : { "f:data": { "f:b": {} } });
        expect(fieldsOf(updated, "edit")).toEqual(one === two ? undefined : { "f:data": { "f:a": {} } });
      }),
    );
  });
});
