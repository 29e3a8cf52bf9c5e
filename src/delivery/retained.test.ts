import { expect, test } from "vitest";
import { withoutRetained } from "./retained.ts";

test("fields whose value was retained from the member are left out of an apply", () => {
  const desired = { metadata: { name: "a" }, spec: { replicas: 3, paused: true } };

  const applied = withoutRetained(desired, { metadata: { name: "a" }, spec: { replicas: 7, paused: true } });

  expect(applied).toEqual({
    wanted: { metadata: { name: "a" }, spec: { paused: true } },
    left: [["spec", "replicas"]],
  });
});

test("a list that the member has a part in is stated with that part, so that ours stays", () => {
  const retained = { spec: { containers: [{ name: "web", volumeMounts: [{ name: "token" }] }] } };

  expect(withoutRetained({ spec: { containers: [{ name: "web" }] } }, retained)).toEqual({
    wanted: retained,
    left: [],
  });
});

test("a map that managers own as a whole is stated as it was retained, because leaving out a part would remove it", () => {
  const desired = { spec: { entrypoint: "main" } };
  const retained = { spec: { entrypoint: "main", suspend: true } };

  const whole = withoutRetained(desired, retained, [{ "f:metadata": {} }, { "f:spec": {} }]);
  const parts = withoutRetained(desired, retained, [
    { "f:spec": { "f:entrypoint": {} } },
    { "f:spec": { "f:suspend": {} } },
  ]);

  expect(whole).toEqual({ wanted: retained, left: [] });
  expect(parts).toEqual({ wanted: desired, left: [] });
});
