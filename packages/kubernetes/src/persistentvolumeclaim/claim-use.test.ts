import { expect, test } from "vitest";
import { claimUses, isUseOf } from "./claim-use.ts";

const named = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "web-data" } }] };
const ephemeral = { volumes: [{ name: "data", ephemeral: { volumeClaimTemplate: { spec: {} } } }] };
const SHUT_DOWN = { deletionTimestamp: "2024-05-01T12:00:00Z", deletionGracePeriodSeconds: 0 };
const ENDING = { ...SHUT_DOWN, deletionGracePeriodSeconds: 30 };

const cases: Record<
  string,
  { spec: object; metadata?: object; phase?: "Succeeded" | "Failed"; owner?: string; want: boolean }
> = {
  "a pod on a node uses its claim": { spec: { ...named, nodeName: "n" }, want: true },
  "a pod without a node uses none": { spec: named, want: false },
  "a finished pod uses its claim": { spec: { ...named, nodeName: "n" }, phase: "Succeeded", want: true },
  "a pod that was shut down uses its claim": { spec: { ...named, nodeName: "n" }, metadata: SHUT_DOWN, want: true },
  "a pod uses the claim of its ephemeral volume": { spec: { ...ephemeral, nodeName: "n" }, owner: "1", want: true },
  "a claim of another owner is not that of an ephemeral volume": {
    spec: { ...ephemeral, nodeName: "n" },
    owner: "2",
    want: false,
  },
  "a finished pod uses the claim of its ephemeral volume": {
    spec: { ...ephemeral, nodeName: "n" },
    owner: "1",
    phase: "Failed",
    want: true,
  },
  "a pod that ends uses the claim of its ephemeral volume": {
    spec: { ...ephemeral, nodeName: "n" },
    metadata: ENDING,
    owner: "1",
    want: true,
  },
  "a pod that was shut down does not use the claim of its ephemeral volume": {
    spec: { ...ephemeral, nodeName: "n" },
    metadata: SHUT_DOWN,
    owner: "1",
    want: false,
  },
};

for (const [title, { spec, metadata, phase, owner, want }] of Object.entries(cases))
  test(title, () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", uid: "1", ...metadata },
      spec: { containers: [], ...spec },
      status: phase === undefined ? undefined : { phase },
    };
    const ownerReferences =
      owner === undefined ? [] : [{ apiVersion: "v1", kind: "Pod", name: "web", uid: owner, controller: true }];
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "web-data", ownerReferences } };

    expect(claimUses(pod).some((use) => isUseOf(use, claim))).toBe(want);
  });
