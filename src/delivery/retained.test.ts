import { expect, test } from "vitest";
import { withoutRetained } from "./retained.ts";

test("fields whose value was retained from the member are left out of an apply", () => {
  const desired = { metadata: { name: "a" }, spec: { replicas: 3, paused: true } };

  const applied = withoutRetained(desired, { metadata: { name: "a" }, spec: { replicas: 7, paused: true } });

  expect(applied).toEqual({ wanted: { metadata: { name: "a" }, spec: { paused: true } }, left: [["spec", "replicas"]] });
});

test("a list that the member has a part in is stated with that part, so that ours stays", () => {
  const retained = { spec: { containers: [{ name: "web", volumeMounts: [{ name: "token" }] }] } };

  expect(withoutRetained({ spec: { containers: [{ name: "web" }] } }, retained)).toEqual({ wanted: retained, left: [] });
});
