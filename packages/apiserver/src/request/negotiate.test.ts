import { describe, expect, test } from "vitest";
import { failureFormat, representationOf } from "./negotiate.ts";

const NO_QUERY = new URLSearchParams();
const ALL = { table: true, protobuf: true, protobufMetadata: true };

describe("the representation of a response", () => {
  const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const cases: Record<string, { accept: string | undefined; want: string }> = {
    "is JSON by default": { accept: undefined, want: "json object" },
    "is JSON for any type": { accept: "*/*", want: "json object" },
    "is the first supported type": {
      accept: "application/vnd.kubernetes.protobuf,application/json",
      want: "protobuf object",
    },
    "is metadata only in protobuf": {
      accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
      want: "protobuf metadata",
    },
    "is never a table in protobuf": {
      accept: "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json",
      want: "json object",
    },
    "follows the quality values of the client": {
      accept: "application/json;q=0.1, application/yaml;q=0.9",
      want: "yaml object",
    },
    "is a table for kubectl": { accept: `${TABLE},application/json`, want: "json table" },
    "is metadata only": {
      accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
      want: "json metadata",
    },
    "falls back when the as parameter is unknown": {
      accept: "application/json;as=Nope;v=v1;g=meta.k8s.io,application/json",
      want: "json object",
    },
  };
  for (const [behaviour, { accept, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const { format, as } = representationOf({ accept }, NO_QUERY, ALL);

      expect(`${format} ${as}`).toBe(want);
    });
  }

  for (const accept of ["text/html", "application/*", "application/cbor", "__proto__", "constructor"]) {
    test(`is rejected for ${accept}`, () => {
      expect(() => representationOf({ accept }, NO_QUERY, ALL)).toThrow("406: Not Acceptable");
    });
  }

  test("is rejected as a table for kinds without columns", () => {
    expect(() => representationOf({ accept: TABLE }, NO_QUERY, { ...ALL, table: false })).toThrow(
      "only the following media types are accepted",
    );
  });

  test("is rejected as whole objects in protobuf for custom kinds, which have metadata in it", () => {
    const custom = { ...ALL, protobuf: false };
    const protobuf = "application/vnd.kubernetes.protobuf";

    expect(() => representationOf({ accept: protobuf }, NO_QUERY, custom)).toThrow(
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
    expect(representationOf({ accept: `${protobuf},application/json` }, NO_QUERY, custom).format).toBe("json");
    expect(
      representationOf({ accept: `${protobuf};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io` }, NO_QUERY, custom),
    ).toMatchObject({ format: "protobuf", as: "metadata-list" });
  });

  test("is in the requested version of meta.k8s.io", () => {
    const { as, version } = representationOf(
      { accept: "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io" },
      NO_QUERY,
      ALL,
    );

    expect([as, version]).toEqual(["metadata-list", "v1beta1"]);
  });

  const pretty: Record<string, { agent?: string; query?: string; accept?: string; want: boolean }> = {
    "is compact for programs": { agent: "kubectl/v1.36.0", want: false },
    "is indented for curl": { agent: "curl/8.0", want: true },
    "is indented for browsers": { agent: "Mozilla/5.0 (X11)", want: true },
    "is compact for curl with pretty=false": { agent: "curl/8.0", query: "pretty=false", want: false },
    "is indented with pretty in the query": { query: "pretty=1", want: true },
    "is indented with pretty in the media type": { accept: "application/json;pretty=1", want: true },
  };
  for (const [behaviour, { agent, query, accept, want }] of Object.entries(pretty)) {
    test(`pretty printing: ${behaviour}`, () => {
      expect(representationOf({ accept, "user-agent": agent }, new URLSearchParams(query), ALL).pretty).toBe(want);
    });
  }
});

test("a failure is YAML for clients that accept no other format before it", () => {
  expect(
    ["application/yaml", "application/yaml, */*", "application/json, application/yaml", "text/html", undefined].map(
      failureFormat,
    ),
  ).toEqual(["yaml", "yaml", "json", "json", "json"]);
});

test("a failure is protobuf for clients that accept no other format before it, and never metadata", () => {
  const protobuf = "application/vnd.kubernetes.protobuf";

  expect(
    [protobuf, `${protobuf},application/json`, `application/json,${protobuf}`, `${protobuf};as=Table;v=v1`].map(
      failureFormat,
    ),
  ).toEqual(["protobuf", "protobuf", "json", "json"]);
});
