import { expect, test } from "vitest";
import { builtInKind } from "./define.ts";
import type { Kind } from "./kind.ts";
import { createProtobufCodec } from "./protobuf.ts";

/** Recorded from kubectl and client-go. */
const bodies = {
  namespace: "azhzAAoPCgJ2MRIJTmFtZXNwYWNlEiAKGAoIe3tOU319LWESABoAIgAqADIAOABCABIAGgIKABoAIgA=",
  zeroReplicas:
    "azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EpcBChcKAWQSABoGe3tOU319IgAqADIAOABCABJuCAASCAoGCgFhEgFiGlYKGAoAEgAaAC" +
    "IAKgAyADgAQgBaBgoBYRIBYhI6EhoKAWMSAWkqAEIAagByAIABAIgBAJABAKIBABoAIAAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACIC" +
    "CgAoADAAOAAaDAgAEAAYACAAKAA4ABoAIgA=",
  deleteOptions: "azhzAAoTCgJ2MRINRGVsZXRlT3B0aW9ucxIOCAAiCkZvcmVncm91bmQaACIA",
  pod:
    "azhzAAoJCgJ2MRIDUG9kEvQBChEKAWESABoAIgAqADIAOABCABLJARKqAQoBYxIBaSoAQo8BCg4KA2NwdRIHCgUxNTAwbQoWCg1odWdlcGFn" +
    "ZXMtMk1pEgUKAzJNaQoOCgZtZW1vcnkSBAoCMkcSDQoDY3B1EgYKBDUwMHUSGgoRZXBoZW1lcmFsLXN0b3JhZ2USBQoDMWUzEhYKDWh1Z2Vw" +
    "YWdlcy0yTWkSBQoDMk1pEhIKBm1lbW9yeRIICgYxNTM2TWlqAHIAgAEAiAEAkAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBABoT" +
    "CgAaACIAKgAyAEoAWgByAIgBABoAIgA=",
  service:
    "azhzAAoNCgJ2MRIHU2VydmljZRKTAQolCgNzdmMSABoGe3tOU319IgAqADIAOABCAFoKCgNhcHASA3N2YxJmChsKBzgwLTgwODASA1RDUB" +
    "hQIgcIABCQPxoAKAAKIgoJNDQzLWh0dHBzEgNUQ1AYuwMiCwgBEAAaBWh0dHBzKAASCgoDYXBwEgNzdmMaACIJQ2x1c3RlcklQOgBCAFIA" +
    "WgBgAGgAGgIKABoAIgA=",
  event:
    "azhzAAoLCgJ2MRIFRXZlbnQSjgEKEQoBYRIAGgAiACoAMgA4AEIAEkUKA1BvZBIGe3tOU319GgFwIiQxMTExMTExMS0yMjIyLTMzMzMtND" +
    "Q0NC01NTU1NTU1NTU1NTUqAnYxMgE1OgZzcGVjLngaAVIiAW0qBgoBYxIBaDIICICByKwGEAA6CAiApM2sBhAAQANKBk5vcm1hbFIAYgBy" +
    "AHoAGgAiAA==",
};

const makeKind = (group: string, kind: string, facts: string, subresources: Kind["subresources"] = {}): Kind =>
  builtInKind({
    group,
    version: "v1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    scope: "Namespaced",
    facts,
    columns: [],
    subresources,
  });

const { decode: decodeProtobuf } = createProtobufCodec([
  ...["Namespace", "ConfigMap", "Service", "Event"].map((kind) => makeKind("", kind, "core-v1")),
  makeKind("", "Pod", "core-v1", { actions: { eviction: { group: "policy", version: "v1", kind: "Eviction" } } }),
  makeKind("apps", "Deployment", "apps-v1"),
  makeKind("certificates.k8s.io", "CertificateSigningRequest", "certificates-v1"),
  makeKind("policy", "PodDisruptionBudget", "policy-v1"),
]);
const decode = (body: string): unknown => decodeProtobuf(Buffer.from(body, "base64"));

test("drops the zeros that Go writes for every field that is not a pointer", () => {
  expect(decode(bodies.namespace)).toEqual({ apiVersion: "v1", kind: "Namespace", metadata: { name: "{{NS}}-a" } });
});

test("decoding protobuf keeps the zero of a pointer", () => {
  expect(decode(bodies.zeroReplicas)).toMatchObject({
    kind: "Deployment",
    spec: { replicas: 0, revisionHistoryLimit: 0, template: { spec: { terminationGracePeriodSeconds: 0 } } },
  });
});

test("reads delete options of any group", () => {
  expect(decode(bodies.deleteOptions)).toEqual({
    apiVersion: "v1",
    kind: "DeleteOptions",
    gracePeriodSeconds: 0,
    propagationPolicy: "Foreground",
  });
});

test("reads the kind that a subresource receives", () => {
  expect(decode(envelope("policy/v1", "Eviction"))).toEqual({ apiVersion: "policy/v1", kind: "Eviction" });
});

test("reads a Scale, which every kind with a scale receives", () => {
  expect(decode(envelope("autoscaling/v1", "Scale"))).toEqual({ apiVersion: "autoscaling/v1", kind: "Scale" });
});

test("reads quantities and maps", () => {
  expect(decode(bodies.pod)).toMatchObject({
    spec: { containers: [{ resources: { limits: { cpu: "1500m", "hugepages-2Mi": "2Mi", memory: "2G" } } }] },
  });
});

test("reads lists inside maps, which are nested messages", () => {
  const bytes = (field: number, content: readonly number[]): number[] => [field * 8 + 2, content.length, ...content];
  const text = (field: number, value: string): number[] => bytes(field, [...Buffer.from(value)]);
  const extra = bytes(6, [...text(1, "team"), ...bytes(2, [...text(1, "a"), ...text(1, "b")])]);
  const empty = bytes(6, text(1, "none"));

  expect(
    decode(envelope("certificates.k8s.io/v1", "CertificateSigningRequest", bytes(2, [...extra, ...empty]))),
  ).toMatchObject({ spec: { extra: { team: ["a", "b"], none: [] } } });
});

test("reads numbers and strings in int-or-string fields", () => {
  expect(decode(bodies.service)).toMatchObject({ spec: { ports: [{ targetPort: 8080 }, { targetPort: "https" }] } });
});

test("decoding protobuf reads times", () => {
  expect(decode(bodies.event)).toMatchObject({
    firstTimestamp: "2024-01-01T00:00:00Z",
    count: 3,
    source: { component: "c", host: "h" },
  });
});

const envelope = (apiVersion: string, kind: string, raw: number[] = []): string => {
  const text = (value: string): number[] => [value.length, ...Buffer.from(value)];
  const typeMeta = [0x0a, ...text(apiVersion), 0x12, ...text(kind)];
  return Buffer.from([0x6b, 0x38, 0x73, 0x00, 0x0a, typeMeta.length, ...typeMeta, 0x12, raw.length, ...raw]).toString(
    "base64",
  );
};

const broken: Record<string, [body: string, code: number, message: string]> = {
  "rejects a body without the prefix": [
    Buffer.from("{}").toString("base64"),
    400,
    "does not begin with the protobuf prefix",
  ],
  "rejects a body that is only the prefix": [Buffer.from("k8s\0").toString("base64"), 400, "is empty"],
  "rejects a length beyond the end": [envelope("v1", "ConfigMap", [0x0a, 0x7f, 0x00]), 400, "ends too early"],
  "rejects a number where a message belongs": [
    envelope("v1", "ConfigMap", [0x08, 0x01]),
    400,
    "where a string or message belongs",
  ],
  "rejects a string that is not UTF-8": [envelope("v1", "ConfigMap", [0x0a, 0x03, 0x0a, 0x01, 0xff]), 400, "not UTF-8"],
  "rejects an unterminated varint": [
    envelope("v1", "ConfigMap", [0x0a, ...Array<number>(12).fill(0xff)]),
    400,
    "too long",
  ],
  "rejects a kind without a fact table": [
    envelope("example.com/v1", "Teapot"),
    415,
    "Flotilla does not support Teapot.example.com in protobuf",
  ],
  "rejects a kind named like an Object.prototype property": [envelope("__proto__", "toString"), 415, "in protobuf"],
};
for (const [behaviour, [body, code, message]] of Object.entries(broken)) {
  test(behaviour, () => {
    expect(() => decode(body)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(message) as string,
        status: expect.objectContaining({ code }) as object,
      }) as Error,
    );
  });
}

test("treats a __proto__ key as an ordinary key", () => {
  const key = [...Buffer.from("__proto__")];
  const entry = [0x0a, key.length, ...key, 0x12, 0x01, 0x78];

  const { data } = decode(envelope("v1", "ConfigMap", [0x12, entry.length, ...entry])) as { data: object };

  expect(Object.entries(data)).toEqual([["__proto__", "x"]]);
});

test("decoding protobuf skips unknown fields", () => {
  expect(decode(envelope("v1", "ConfigMap", [0xf8, 0x07, 0x01, 0xf2, 0x07, 0x01, 0x00, 0x20, 0x01]))).toEqual({
    apiVersion: "v1",
    kind: "ConfigMap",
    immutable: true,
  });
});
