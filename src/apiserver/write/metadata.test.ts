import { describe, expect, test } from "vitest";
import { ConfigMap, Event, Lease, Namespace, PodDisruptionBudget, Role, type Kind } from "../../api/index.ts";
import type { JsonObject } from "../../base/index.ts";
import { repeatMetadataErrors, validateMetadata } from "./metadata.ts";
import { createResource } from "../clusters/resources.ts";

const problems = (kind: Kind, metadata: JsonObject, settled?: JsonObject): string[] =>
  validateMetadata(metadata, createResource(kind), settled).map(({ field, message }) => `${field}: ${message}`);

describe("WR-4 names, labels, owners and finalizers", () => {
  const starting = (text: string): string =>
    expect.stringMatching(new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`)) as string;
  const cases: Record<string, [kind: Kind, metadata: JsonObject, want: string[]]> = {
    "a name is there": [ConfigMap, {}, ["metadata.name: Required value: name or generateName is required"]],
    "a prefix is looked at as the beginning of a name": [ConfigMap, { generateName: "a-", name: "a-xxxxx" }, []],
    "both are reported when both are wrong": [
      ConfigMap,
      { generateName: "B", name: "Bx" },
      [starting('metadata.generateName: Invalid value: "B"'), starting('metadata.name: Invalid value: "Bx"')],
    ],
    "a namespace is one label": [
      Namespace,
      { name: "a.b" },
      ['metadata.name: Invalid value: "a.b": must not contain dots'],
    ],
    "roles may have any name that fits in a path": [
      Role,
      { name: "system:a%b/c" },
      [
        "metadata.name: Invalid value: \"system:a%b/c\": may not contain '/'",
        "metadata.name: Invalid value: \"system:a%b/c\": may not contain '%'",
      ],
    ],
    "a generation counts from zero": [
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
    "annotations are bounded together": [
      ConfigMap,
      { name: "a", annotations: { a: "x".repeat(262_144) } },
      ["metadata.annotations: Too long: may not be more than 262144 bytes"],
    ],
    "an owner is complete": [
      ConfigMap,
      { name: "a", ownerReferences: [{ apiVersion: "a/b/c", kind: "Pod", name: "x" }] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    "events own nothing": [
      ConfigMap,
      { name: "a", ownerReferences: [{ uid: "u", name: "x", kind: "Event", apiVersion: "v1" }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"x","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    "dependents are deleted or orphaned": [
      ConfigMap,
      { name: "a", finalizers: ["foregroundDeletion", "orphan"] },
      [
        'metadata.finalizers: Invalid value: ["foregroundDeletion","orphan"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    "a finalizer has a domain": [
      ConfigMap,
      { name: "a", finalizers: ["x"] },
      [
        'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    "a few kinds do not care": [Lease, { name: "a", finalizers: ["x"] }, []],
  };
  for (const [behaviour, [kind, metadata, want]] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problems(kind, metadata)).toEqual(want);
    });
  }
});

test("what was found right is not looked at again", () => {
  const labels = { "a b": "c" };

  expect(problems(ConfigMap, { name: "a", labels }, { name: "a", labels })).toEqual([]);
});

test("an update reports what is wrong as often as the real server looks", () => {
  const times = (kind: Kind): number => {
    const resource = createResource(kind);
    return repeatMetadataErrors(validateMetadata({ name: "a", labels: { "a b": "c" } }, resource), [], resource).length;
  };

  expect([ConfigMap, Role, Lease, PodDisruptionBudget, Event].map(times)).toEqual([4, 4, 3, 2, 2]);
});
