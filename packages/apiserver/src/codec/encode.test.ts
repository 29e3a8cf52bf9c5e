import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { encodeSharing } from "./encode.ts";

const json = fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }) as fc.Arbitrary<Json>;
const text = (value: Uint8Array): string => new TextDecoder().decode(value);
/** Long enough to be remembered. */
const padding = "é".repeat(200);

const manager = (name: string): JsonObject => ({ manager: name, fieldsV1: { "f:x": {}, padding } });
const objects = fc
  .record({ spec: json, status: json, extra: json, note: fc.string({ unit: "binary" }) })
  .map(({ spec, status, extra, note }): JsonObject => ({
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "a", annotations: { note }, managedFields: [manager("one"), manager("two")] },
    spec: { spec, padding },
    status: { status, padding },
    extra,
  }));

test("writes the same as JSON.stringify, with and without a former version to copy parts from", () => {
  fc.assert(
    fc.property(
      objects,
      objects,
      fc.subarray(["spec", "status", "extra"]),
      fc.boolean(),
      (before, after, shared, sharesManagers) => {
        const former = { object: before, ...encodeSharing(before) };
        const metadata = after.metadata as JsonObject;
        const next: JsonObject = {
          ...after,
          metadata: sharesManagers
            ? {
                ...metadata,
                managedFields: [manager("zero"), ...((before.metadata as JsonObject).managedFields as Json[])],
              }
            : metadata,
        };
        for (const key of shared) next[key] = before[key] as Json;

        const first = { object: next, ...encodeSharing(next, former) };
        const again = encodeSharing({ ...next, status: { late: padding } }, first);

        expect(text(former.value)).toBe(JSON.stringify(before));
        expect(text(first.value)).toBe(JSON.stringify(next));
        expect(text(again.value)).toBe(JSON.stringify({ ...next, status: { late: padding } }));
      },
    ),
  );
});

test("copies the bytes of a shared part instead of writing it again", () => {
  const spec = { padding };
  const object = { metadata: {}, spec };
  const former = encodeSharing(object);
  const marked = {
    ...former,
    object,
    value: former.value.map((byte) => (byte === "p".charCodeAt(0) ? "P".charCodeAt(0) : byte)),
  };

  expect(text(encodeSharing({ ...object }, marked).value)).toContain('"Padding"');
});

test("grows with the object", () => {
  const object = { metadata: {}, spec: { data: "x".repeat(300_000) }, status: { data: "€".repeat(300_000) } };

  expect(text(encodeSharing(object).value)).toBe(JSON.stringify(object));
});

test("omits values that JSON cannot represent", () => {
  const object = { metadata: { name: undefined }, spec: undefined, status: { a: undefined } } as unknown as JsonObject;

  expect(text(encodeSharing(object).value)).toBe('{"metadata":{},"status":{}}');
});

test("a value begins with apiVersion, kind and metadata even when a field name looks like a number", () => {
  const object = { apiVersion: "v1", kind: "Widget", metadata: { name: "a" }, "1": { metadata: { x: 1 } } };

  expect(Buffer.from(encodeSharing(object).value).toString()).toBe(
    '{"apiVersion":"v1","kind":"Widget","metadata":{"name":"a"},"1":{"metadata":{"x":1}}}',
  );
});
