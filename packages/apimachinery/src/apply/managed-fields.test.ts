import { describe, expect, test } from "vitest";
import { deepFreeze, type Json, type JsonObject, defined } from "@flotilla/base";
import { recordUpdate, stripManagedFields } from "./managed-fields.ts";
import type { Schema } from "../schema.ts";

const text: Schema = { type: "string" };
const schema: Schema = {
  type: "object",
  properties: {
    data: { type: "object", additionalProperties: text },
    spec: {
      type: "object",
      "x-flotilla-always": true,
      properties: {
        replicas: { type: "integer" },
        selector: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: text },
        args: { type: "array", items: text },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, name: text },
          },
        },
      },
    },
  },
};
const NOON = "2024-05-01T12:00:00Z";
const LATER = "2024-05-01T13:00:00Z";

interface Step {
  before?: JsonObject;
  after: JsonObject;
  manager?: string;
  time?: string;
  subresource?: string;
  builtIn?: boolean;
}

function record({ before, after, manager = "alpha", time = NOON, subresource, builtIn = false }: Step): JsonObject {
  return recordUpdate({
    before: deepFreeze(before) as JsonObject | undefined,
    after: deepFreeze(after) as JsonObject,
    schema,
    manager,
    apiVersion: "v1",
    time,
    subresource,
    builtIn,
  });
}

const make = (fields: JsonObject, managedFields?: Json): JsonObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "a", uid: "u", ...defined({ managedFields }) },
  ...fields,
});
const entriesOf = (object: JsonObject): JsonObject[] =>
  ((object["metadata"] as JsonObject)["managedFields"] ?? []) as JsonObject[];
const fieldsOf = (object: JsonObject, manager: string): Json | undefined =>
  entriesOf(object).find((entry) => entry["manager"] === manager)?.["fieldsV1"];
/** A change as a client sends it: with the entries it read. */
const change = (object: JsonObject, fields: JsonObject): JsonObject => ({ ...object, ...fields });

describe("a create", () => {
  test("owns everything except the object's identity", () => {
    const created = record({ after: make({ data: { a: "1" } }) });

    expect(entriesOf(created)).toEqual([
      {
        manager: "alpha",
        operation: "Update",
        apiVersion: "v1",
        time: NOON,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": { ".": {}, "f:a": {} } },
      },
    ]);
  });

  test("owns list elements by their keys, with defaults, and atomic values as a whole", () => {
    const created = record({
      after: make({ spec: { replicas: 1, selector: { a: "b" }, args: ["x"], ports: [{ port: 80 }] } }),
    });

    expect(fieldsOf(created, "alpha")).toEqual({
      "f:spec": {
        ".": {},
        "f:replicas": {},
        "f:selector": {},
        "f:args": {},
        "f:ports": { ".": {}, 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
      },
    });
  });

  test("a create of a built-in kind does not own always-present structures", () => {
    expect(fieldsOf(record({ after: make({ spec: { replicas: 1 } }), builtIn: true }), "alpha")).toEqual({
      "f:spec": { "f:replicas": {} },
    });
  });

  test("records its subresource", () => {
    const created = record({ after: make({ data: { a: "1" } }) });

    const updated = record({
      before: created,
      after: change(created, { data: { a: "2" } }),
      manager: "ctl",
      subresource: "status",
    });

    expect(entriesOf(updated).map(({ manager, subresource }) => [manager, subresource])).toEqual([
      ["alpha", undefined],
      ["ctl", "status"],
    ]);
  });
});

describe("an update", () => {
  const created = record({ after: make({ data: { a: "1", b: "1" } }) });

  test("takes changed and added fields over from all other managers", () => {
    const updated = record({
      before: created,
      after: change(created, { data: { a: "2", b: "1", c: "1" } }),
      manager: "beta",
      time: LATER,
    });

    expect(fieldsOf(updated, "alpha")).toEqual({ "f:data": { ".": {}, "f:b": {} } });
    expect(fieldsOf(updated, "beta")).toEqual({ "f:data": { "f:a": {}, "f:c": {} } });
    expect(entriesOf(updated).map(({ time }) => time)).toEqual([NOON, LATER]);
  });

  test("an update by the same manager extends its entry and updates its time", () => {
    const updated = record({
      before: created,
      after: change(created, { data: { a: "1", b: "1", c: "1" } }),
      time: LATER,
    });

    expect(entriesOf(updated)).toHaveLength(1);
    expect(entriesOf(updated)[0]).toMatchObject({
      time: LATER,
      fieldsV1: { "f:data": { ".": {}, "f:a": {}, "f:b": {}, "f:c": {} } },
    });
  });

  test("an update that removes a field takes it from its owner, whose time is unchanged", () => {
    const updated = record({
      before: created,
      after: change(created, { data: { a: "1" } }),
      manager: "beta",
      time: LATER,
    });

    expect(entriesOf(updated)).toEqual([{ ...entriesOf(created)[0], fieldsV1: { "f:data": { ".": {}, "f:a": {} } } }]);
  });

  test("an update that changes nothing keeps the entries unchanged", () => {
    const unchanged = record({
      before: created,
      after: JSON.parse(JSON.stringify(stripManagedFields(created))) as JsonObject,
      manager: "beta",
      time: LATER,
    });

    expect((unchanged["metadata"] as JsonObject)["managedFields"]).toBe(
      (created["metadata"] as JsonObject)["managedFields"],
    );
  });

  test("drops the entry of an owner without fields", () => {
    const updated = record({ before: created, after: make({}), manager: "beta" });

    expect(entriesOf(updated)).toEqual([]);
  });

  test("an update of an untracked object does not start tracking", () => {
    expect(entriesOf(record({ before: make({}), after: make({ data: { a: "1" } }) }))).toEqual([]);
  });

  test.each([[[]], [[{}]]])("an update with managedFields %j resets all owners", (entries) => {
    const cleared = record({ before: created, after: make({ data: { a: "2" } }, entries), builtIn: true });

    expect(cleared["metadata"]).not.toHaveProperty("managedFields");
  });

  test("an update with an empty list keeps the stored owners of a custom resource", () => {
    expect(entriesOf(record({ before: created, after: make({ data: { a: "1" } }, []) }))).not.toEqual([]);
  });

  test("keeps the stored owners when those in the request are invalid", () => {
    const nonsense = [{ manager: "x", operation: "Nope", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }];

    expect(entriesOf(record({ before: created, after: make({ data: { a: "1", b: "1" } }, nonsense) }))).toEqual(
      entriesOf(created),
    );
  });

  test("may rewrite the owners", () => {
    const rewritten = [{ ...entriesOf(created)[0], manager: "gamma" }];

    expect(
      entriesOf(record({ before: created, after: make({ data: { a: "1", b: "1" } }, rewritten as Json) })),
    ).toEqual(rewritten);
  });

  test("stores only known fields of the owners in a request", () => {
    const before = record({ after: make({ data: { a: "1" } }) });
    const sent = {
      manager: "beta",
      operation: "Update",
      apiVersion: "v1",
      time: NOON,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": {} },
    };

    const after = record({ before, after: make({ data: { a: "1" } }, [{ ...sent, extra: null }]) });

    expect(entriesOf(after)).toEqual([sent]);
  });

  test("drops owners of versions that are no longer served", () => {
    const foreign = [
      { manager: "x", operation: "Update", apiVersion: "nope/v9", fieldsType: "FieldsV1", fieldsV1: { "f:data": {} } },
    ];

    const updated = recordUpdate({
      before: created,
      after: make({ data: { a: "1", b: "1" } }, foreign),
      schema,
      manager: "alpha",
      apiVersion: "v1",
      time: NOON,
      versions: () => undefined,
    });

    expect(entriesOf(updated)).toEqual([]);
  });
});

test("beyond ten updaters the oldest share one entry", () => {
  let object = record({ after: make({ data: { "0": "x" } }), manager: "m0", time: "2024-05-01T12:00:00Z" });
  for (let index = 1; index <= 11; index++) {
    const data = { ...(object["data"] as JsonObject), [index]: "x" };
    object = record({
      before: object,
      after: change(object, { data }),
      manager: `m${index}`,
      time: `2024-05-01T12:${String(index).padStart(2, "0")}:00Z`,
    });
  }

  expect(entriesOf(object)).toHaveLength(10);
  expect(entriesOf(object)[0]).toMatchObject({
    manager: "ancient-changes",
    fieldsV1: { "f:data": { ".": {}, "f:0": {}, "f:1": {}, "f:2": {} } },
  });
});

test("__proto__ as a key is owned like any other", () => {
  const created = record({ after: make(JSON.parse('{"data":{"__proto__":"x"}}') as JsonObject) });

  expect(JSON.stringify(fieldsOf(created, "alpha"))).toBe('{"f:data":{".":{},"f:__proto__":{}}}');
});
