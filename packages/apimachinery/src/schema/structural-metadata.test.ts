import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { coerceMetadata, metadataProblem } from "./structural-metadata.ts";

describe("metadata is coerced", () => {
  test("metadata is coerced without unknown or empty fields", () => {
    const unknown: string[] = [];
    const owners = [{ apiVersion: "v1", kind: "K", name: "n", uid: "u", junk: 1 }];

    const read = coerceMetadata(
      { name: "a", labels: {}, annotations: { a: null }, creationTimestamp: null, junk: 1, ownerReferences: owners },
      "spec.a.metadata",
      unknown,
      true,
    );

    expect(read).toEqual({
      name: "a",
      annotations: { a: "" },
      ownerReferences: [{ apiVersion: "v1", kind: "K", name: "n", uid: "u" }],
    });
    expect(unknown).toEqual(["spec.a.metadata.junk", "spec.a.metadata.ownerReferences[0].junk"]);
  });

  test("unchanged when it is valid", () => {
    const metadata = { name: "a", labels: { a: "b" } };

    expect(coerceMetadata(metadata, "metadata", undefined, true)).toBe(metadata);
  });

  test("leniently from storage, without fields of the wrong type", () => {
    expect(coerceMetadata({ name: 1, labels: { a: "b" } }, "metadata", undefined, false)).toEqual({
      labels: { a: "b" },
    });
  });
});

const problems: [metadata: Json, want: string][] = [
  ["x", "json: cannot unmarshal string into Go value of type v1.ObjectMeta"],
  [{ name: 1 }, "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"],
  [{ labels: { a: 1 } }, "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"],
  [{ generation: "5" }, "json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64"],
  [{ creationTimestamp: "x" }, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
];
test.each(problems)("%j is invalid metadata", (metadata, want) => {
  expect(metadataProblem(metadata)).toBe(want);
});

test("settled metadata is not coerced again", () => {
  const labels = { a: 1 } as unknown as JsonObject;

  expect(metadataProblem({ labels }, { labels })).toBeUndefined();
});
