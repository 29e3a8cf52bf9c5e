import { describe, expect, test } from "vitest";
import { representationOf } from "./negotiate.ts";

describe("the representation of an answer", () => {
  const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const cases: Record<string, { accept: string | undefined; isList?: boolean; want: string }> = {
    "is JSON when nothing is asked for": { accept: undefined, want: "json object" },
    "is JSON for any type": { accept: "*/*", want: "json object" },
    "is the first that can be served": { accept: "application/vnd.kubernetes.protobuf,application/json", want: "json object" },
    "is what the client likes best": { accept: "application/json;q=0.1, application/yaml;q=0.9", want: "yaml object" },
    "is a table for kubectl": { accept: `${TABLE},application/json`, want: "json table" },
    "is metadata only": { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", want: "json metadata" },
    "falls back when the form is unknown": { accept: "application/json;as=Nope;v=v1;g=meta.k8s.io,application/json", want: "json object" },
  };
  for (const [behaviour, { accept, isList = false, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const { format, as } = representationOf(accept, isList);

      expect(`${format} ${as}`).toBe(want);
    });
  }

  for (const accept of ["text/html", "application/*", "application/cbor", "__proto__", "constructor", "application/vnd.kubernetes.protobuf"]) {
    test(`is refused for ${accept}`, () => {
      expect(() => representationOf(accept, false)).toThrow("406: Not Acceptable");
    });
  }

  test("is refused when a list of metadata is asked of one object", () => {
    const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

    expect(representationOf(accept, true).as).toBe("metadata");
    expect(() => representationOf(accept, false)).toThrow("only the following media types are accepted");
  });
});
