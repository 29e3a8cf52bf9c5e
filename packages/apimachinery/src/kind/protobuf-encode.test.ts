import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { encodeDocument, encodeMessage, protobufEnvelope, protobufWatchFrame } from "./protobuf-encode.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Recorded from client-go, with the object that each one is. */
const recorded: Record<string, { body: string; table: string; object: JsonObject }> = {
  "every field that is not a pointer, zero or not": {
    body: "azhzAAoPCgJ2MRIJTmFtZXNwYWNlEiAKGAoIe3tOU319LWESABoAIgAqADIAOABCABIAGgIKABoAIgA=",
    table: "core-v1",
    object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "{{NS}}-a" } },
  },
  "pointers only when they are set": {
    body: "azhzAAoTCgJ2MRINRGVsZXRlT3B0aW9ucxIOCAAiCkZvcmVncm91bmQaACIA",
    table: "meta-v1",
    object: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, propagationPolicy: "Foreground" },
  },
  "numbers and names in one field": {
    body:
      "azhzAAoNCgJ2MRIHU2VydmljZRKTAQolCgNzdmMSABoGe3tOU319IgAqADIAOABCAFoKCgNhcHASA3N2YxJmChsKBzgwLTgwODASA1RDUB" +
      "hQIgcIABCQPxoAKAAKIgoJNDQzLWh0dHBzEgNUQ1AYuwMiCwgBEAAaBWh0dHBzKAASCgoDYXBwEgNzdmMaACIJQ2x1c3RlcklQOgBCAFIA" +
      "WgBgAGgAGgIKABoAIgA=",
    table: "core-v1",
    object: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "svc", namespace: "{{NS}}", labels: { app: "svc" } },
      spec: {
        ports: [
          { name: "80-8080", protocol: "TCP", port: 80, targetPort: 8080 },
          { name: "443-https", protocol: "TCP", port: 443, targetPort: "https" },
        ],
        selector: { app: "svc" },
        type: "ClusterIP",
      },
    },
  },
  "times in seconds, and embedded structs": {
    body:
      "azhzAAoLCgJ2MRIFRXZlbnQSjgEKEQoBYRIAGgAiACoAMgA4AEIAEkUKA1BvZBIGe3tOU319GgFwIiQxMTExMTExMS0yMjIyLTMzMzMtND" +
      "Q0NC01NTU1NTU1NTU1NTUqAnYxMgE1OgZzcGVjLngaAVIiAW0qBgoBYxIBaDIICICByKwGEAA6CAiApM2sBhAAQANKBk5vcm1hbFIAYgBy" +
      "AHoAGgAiAA==",
    table: "core-v1",
    object: {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "a" },
      involvedObject: {
        kind: "Pod",
        namespace: "{{NS}}",
        name: "p",
        uid: "11111111-2222-3333-4444-555555555555",
        apiVersion: "v1",
        resourceVersion: "5",
        fieldPath: "spec.x",
      },
      reason: "R",
      message: "m",
      source: { component: "c", host: "h" },
      firstTimestamp: "2024-01-01T00:00:00Z",
      lastTimestamp: "2024-01-02T00:00:00Z",
      count: 3,
      type: "Normal",
    },
  },
};

for (const [what, { body, table, object }] of Object.entries(recorded)) {
  test(`writes ${what}, as Go does`, () => {
    const { apiVersion, kind } = object as { apiVersion: string; kind: string };

    expect(Buffer.from(encodeDocument(table, kind, { apiVersion, kind }, object)).toString("base64")).toBe(body);
  });
}

test("writes maps in the order of their keys", () => {
  const of = (data: JsonObject): string => hex(encodeMessage("core-v1", "ConfigMap", { data }));

  expect(of({ b: "2", a: "1" })).toBe(of({ a: "1", b: "2" }));
});

test("writes text beyond ASCII, long text and huge objects", () => {
  for (const text of ["ä", "日本".repeat(3), "x".repeat(30), "é".repeat(40), "y".repeat(3_000_000)]) {
    const bytes = Buffer.from(encodeMessage("meta-v1", "StatusCause", { reason: text }));

    expect(bytes.includes(Buffer.from(text))).toBe(true);
  }
});

test("writes negative and large numbers", () => {
  const of = (deletionGracePeriodSeconds: Json): string =>
    hex(encodeMessage("meta-v1", "ObjectMeta", { deletionGracePeriodSeconds }));

  expect(of(-1)).toContain("50ffffffffffffffffff01");
  expect(of(300)).toContain("50ac02");
  expect(of(Number.MAX_SAFE_INTEGER)).toContain("50ffffffffffffff0f");
});

test("writes microseconds of a MicroTime", () => {
  expect(hex(encodeMessage("coordination-v1", "LeaseSpec", { renewTime: "2024-01-01T00:00:00.000250Z" }))).toBe(
    "220a088081c8ac061090a10f",
  );
});

test("a schema that allows anything, and one in its place", () => {
  const of = (additionalProperties: Json): string =>
    hex(encodeMessage("apiextensions-v1", "JSONSchemaProps", { additionalProperties }));

  expect(of(true)).toContain("f201020801");
  expect(of(false)).toContain("f201020800");
  // A schema implies that the field is allowed.
  expect(of({ type: "string" })).toMatch(/f201..0801/);
});

test("an envelope around messages is the same as one around a whole object", () => {
  const object = { metadata: { name: "a" } };
  const type = { apiVersion: "v1", kind: "ConfigMap" };
  const message = encodeMessage("core-v1", "ConfigMap", object);
  const { head, tail } = protobufEnvelope(type.apiVersion, type.kind, message.byteLength);

  expect(hex(Buffer.concat([head, message, tail]))).toBe(hex(encodeDocument("core-v1", "ConfigMap", type, object)));
});

test("a watch event has its length in front, and its object is a whole document", () => {
  expect(hex(protobufWatchFrame("ADDED", Uint8Array.of(1, 2)))).toBe("0000000d0a05414444454412040a020102");
});
