import { expect, test } from "vitest";
import { withoutRecords, withRecordsOf } from "./propagation-bookkeeping.ts";

const configMap = (annotations?: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", annotations },
});

test("an object without Flotilla's records is returned unchanged", () => {
  for (const object of [
    configMap(),
    configMap({
      team: "a",
      "flotilla.dev/drift": "report",
      "flotilla.dev/unmanaged": "true",
      "flotilla.dev/shared-with": "*",
    }),
  ])
    expect(withoutRecords(object)).toBe(object);
});

test("records written by a user are removed, and everything else stays", () => {
  const object = configMap({
    team: "a",
    "flotilla.dev/released-from": "karmada-es-paris/settings-1",
    "flotilla.dev/rollout-stage": "x",
    "flotilla.dev/kept-template": "{}",
    "resourcetemplate.karmada.io/managed-annotations": "team",
  });

  expect(withoutRecords(object).metadata.annotations).toEqual({ team: "a" });
});

test("an override cannot change the records of a copy", () => {
  const copy = configMap({ "flotilla.dev/rollout-stage": "ours" });
  const overridden = configMap({
    tier: "gold",
    "flotilla.dev/rollout-stage": "theirs",
    "flotilla.dev/released-from": "elsewhere",
  });

  expect(withRecordsOf(overridden, copy).metadata.annotations).toEqual({
    tier: "gold",
    "flotilla.dev/rollout-stage": "ours",
  });
  expect(withRecordsOf(configMap({ tier: "gold" }), copy).metadata.annotations).toEqual({
    tier: "gold",
    "flotilla.dev/rollout-stage": "ours",
  });
});
