import { describe, expect, test } from "vitest";
import type { DeepReadonly } from "@flotilla/base";
import type { Work } from "@flotilla/karmada";
import { dataReason } from "./data-reason.ts";

const configMap = (color: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name: "settings" },
  data: { color },
});
const work = (color: string, annotations: Record<string, string> = {}): DeepReadonly<Work> => ({
  apiVersion: "work.karmada.io/v1alpha1",
  kind: "Work",
  metadata: { name: "settings-1", annotations },
  spec: { workload: { manifests: [configMap(color)] } },
});
const overridden = { "policy.karmada.io/applied-overrides": "[]" };

describe("a copy of an object without a generation", () => {
  const cases: Record<string, { sent: DeepReadonly<Work> | undefined; has: string; want: string | undefined }> = {
    "counts when it has the data that was sent": { sent: work("blue"), has: "blue", want: undefined },
    "does not count before the hub has sent the change": {
      sent: work("red"),
      has: "red",
      want: "the hub has not sent its change yet",
    },
    "does not count while the member rejects the change": {
      sent: work("blue"),
      has: "red",
      want: "its data is not what the hub sent",
    },
    "counts with the data of an override": { sent: work("green", overridden), has: "green", want: undefined },
    "does not count without a Work": { sent: undefined, has: "red", want: "the hub has not sent it yet" },
  };
  for (const [behaviour, { sent, has, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(dataReason(configMap("blue"), sent, configMap(has))).toBe(want);
    });
});
