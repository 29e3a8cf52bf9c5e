import { describe, expect, test } from "vitest";
import { ConfigMap, Event, Lease, Namespace, PodDisruptionBudget, Role } from "@flotilla/kubernetes";
import { type Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { repeatMetadataErrors, validateMetadata } from "./metadata.ts";
import { createResource } from "../resources/resources.ts";

const problems = (kind: Kind, metadata: JsonObject, settled?: JsonObject): string[] =>
  validateMetadata(metadata, createResource(kind), settled).map(({ field, message }) => `${field}: ${message}`);

describe("validation of names, labels, owners and finalizers", () => {
  const starting = (text: string): string =>
    expect.stringMatching(new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`)) as string;
  const cases: Record<string, [kind: Kind, metadata: JsonObject, want: string[]]> = {
    "a name is required": [ConfigMap, {}, ["metadata.name: Required value: name or generateName is required"]],
    "generateName is validated as the beginning of a name": [ConfigMap, { generateName: "a-", name: "a-xxxxx" }, []],
    "name and generateName are both reported": [
      ConfigMap,
      { generateName: "B", name: "Bx" },
      [starting('metadata.generateName: Invalid value: "B"'), starting('metadata.name: Invalid value: "Bx"')],
    ],
    "a namespace is a DNS label": [
      Namespace,
      { name: "a.b" },
      ['metadata.name: Invalid value: "a.b": must not contain dots'],
    ],
    "roles may have any name that is a path segment": [
      Role,
      { name: "system:a%b/c" },
      [
        "metadata.name: Invalid value: \"system:a%b/c\": may not contain '/'",
        "metadata.name: Invalid value: \"system:a%b/c\": may not contain '%'",
      ],
    ],
    "generation must not be negative": [
      ConfigMap,
      { name: "a", generation: -1 },
      ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"],
    ],
    "every problem of a label is reported": [
      ConfigMap,
      { name: "a", labels: { "": "b" } },
      [
        'metadata.labels: Invalid value: "": name part must be non-empty',
        starting('metadata.labels: Invalid value: "": name part must consist'),
      ],
    ],
    "annotations have a total size limit": [
      ConfigMap,
      { name: "a", annotations: { a: "x".repeat(262_144) } },
      ["metadata.annotations: Too long: may not be more than 262144 bytes"],
    ],
    "an owner reference must be complete": [
      ConfigMap,
      { name: "a", ownerReferences: [{ apiVersion: "a/b/c", kind: "Pod", name: "x" }] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    "an Event cannot be an owner": [
      ConfigMap,
      { name: "a", ownerReferences: [{ uid: "u", name: "x", kind: "Event", apiVersion: "v1" }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"x","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    "foregroundDeletion and orphan exclude each other": [
      ConfigMap,
      { name: "a", finalizers: ["foregroundDeletion", "orphan"] },
      [
        'metadata.finalizers: Invalid value: ["foregroundDeletion","orphan"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    "a finalizer must have a domain": [
      ConfigMap,
      { name: "a", finalizers: ["x"] },
      [
        'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    "a few kinds accept finalizers without a domain": [Lease, { name: "a", finalizers: ["x"] }, []],
  };
  for (const [behaviour, [kind, metadata, want]] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problems(kind, metadata)).toEqual(want);
    });
  }
});

test("metadata that was validated before is not checked again", () => {
  const labels = { "a b": "c" };

  expect(problems(ConfigMap, { name: "a", labels }, { name: "a", labels })).toEqual([]);
});

test("an update reports metadata errors as often as kube-apiserver", () => {
  const times = (kind: Kind): number => {
    const resource = createResource(kind);
    return repeatMetadataErrors(
      validateMetadata({ name: "a", labels: { "a b": "c" } }, resource),
      [],
      resource,
      undefined,
    ).length;
  };

  expect([ConfigMap, Role, Lease, PodDisruptionBudget, Event].map(times)).toEqual([4, 4, 3, 2, 2]);
});
