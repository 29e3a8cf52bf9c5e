import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { encodeObject } from "./render.ts";
import { storedMetadataField } from "./stored-metadata.ts";

const metadata = {
  name: "web",
  uid: "42",
  generation: 7,
  labels: { uid: "not this", 'a"b\\': '}],"ownerReferences":[{' },
  annotations: {},
  ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "größe \\", uid: "u", controller: true }],
  finalizers: ["a", "b"],
};
const stored = (given: object): Uint8Array =>
  encodeObject({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: given,
    spec: { metadata: { ownerReferences: [{ name: "inner" }], uid: "inner" } },
  } as unknown as JsonObject);

for (const [field, value] of Object.entries(metadata)) {
  test(`reads ${field} like a full parse of the object`, () => {
    expect(storedMetadataField(stored(metadata), field)).toEqual(value);
  });
}

test("finds nothing outside the metadata, nor in an object without metadata", () => {
  const { ownerReferences: _, uid: __, ...rest } = metadata;

  expect(storedMetadataField(stored(rest), "ownerReferences")).toBeUndefined();
  expect(storedMetadataField(stored(rest), "uid")).toBeUndefined();
  expect(storedMetadataField(stored({}), "uid")).toBeUndefined();
  expect(storedMetadataField(new TextEncoder().encode("null"), "uid")).toBeUndefined();
});
