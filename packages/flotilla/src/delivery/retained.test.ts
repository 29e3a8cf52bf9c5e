import { expect, test } from "vitest";
import { withoutRetained } from "./retained.ts";

test("an apply omits fields whose values were retained from the member", () => {
  const desired = { metadata: { name: "a" }, spec: { replicas: 3, paused: true } };

  const applied = withoutRetained(desired, { metadata: { name: "a" }, spec: { replicas: 7, paused: true } });

  expect(applied).toEqual({
    wanted: { metadata: { name: "a" }, spec: { paused: true } },
    left: [["spec", "replicas"]],
  });
});

test("a field that is no longer desired and that retain keeps is left to the member, so that the apply does not remove it", () => {
  const desired = { metadata: { name: "a" }, data: { other: "1" } };

  expect(withoutRetained(desired, { metadata: { name: "a" }, data: { other: "1", kept: "2" } })).toEqual({
    wanted: desired,
    left: [["data", "kept"]],
  });
});

test("an empty map that the member fills is not applied, however it is owned", () => {
  const desired = { spec: { labels: {}, paused: true } };
  const retained = { spec: { labels: { uid: "1" }, paused: true } };
  const want = {
    wanted: { spec: { paused: true } },
    left: [
      ["spec", "labels"],
      ["spec", "labels", "uid"],
    ],
  };

  expect(withoutRetained(desired, retained)).toEqual(want);
  expect(withoutRetained(desired, retained, [{ "f:spec": { "f:labels": {} } }])).toEqual(want);
  expect(withoutRetained(desired, retained, [{ "f:spec": { "f:labels": { "f:uid": {} } } }])).toEqual(want);
});

test("a map of which nothing is ours is not applied, because an empty one would replace an atomic map", () => {
  const desired = { spec: { selector: { matchLabels: {} }, paused: true } };
  const retained = { spec: { selector: { matchLabels: { uid: "1" } }, paused: true } };

  expect(withoutRetained(desired, retained, [{ "f:spec": { "f:paused": {} } }])).toEqual({
    wanted: { spec: { paused: true } },
    left: [
      ["spec", "selector", "matchLabels"],
      ["spec", "selector", "matchLabels", "uid"],
      ["spec", "selector"],
    ],
  });
});

test("a list that the member partly owns is applied including that part, so that our part stays", () => {
  const retained = { spec: { containers: [{ name: "web", volumeMounts: [{ name: "token" }] }] } };

  expect(withoutRetained({ spec: { containers: [{ name: "web" }] } }, retained)).toEqual({
    wanted: retained,
    left: [],
  });
});

test("an atomic map is applied as retained, because omitting a part would remove it", () => {
  const desired = { spec: { entrypoint: "main" } };
  const retained = { spec: { entrypoint: "main", suspend: true } };

  const whole = withoutRetained(desired, retained, [{ "f:metadata": {} }, { "f:spec": {} }]);
  const parts = withoutRetained(desired, retained, [
    { "f:spec": { "f:entrypoint": {} } },
    { "f:spec": { "f:suspend": {} } },
  ]);

  expect(whole).toEqual({ wanted: retained, left: [] });
  expect(parts).toEqual({ wanted: desired, left: [["spec", "suspend"]] });
});

test("a value that the rule itself sets, and the member does not have, is applied", () => {
  const desired = { metadata: { name: "a" }, data: { ours: "1", mode: "ours" } };
  const retained = { metadata: { name: "a" }, data: { ours: "1", mode: "set", added: "set", kept: "2" } };
  const observed = { metadata: { name: "a" }, data: { ours: "0", mode: "theirs", kept: "2" } };

  expect(withoutRetained(desired, retained, [], observed)).toEqual({
    wanted: { metadata: { name: "a" }, data: { ours: "1", mode: "set", added: "set" } },
    left: [["data", "kept"]],
  });
});

test("a map that we no longer desire has only what the rule sets in it", () => {
  const retained = { data: { kept: "2", added: "set" } };

  expect(withoutRetained({}, retained, [], { data: { kept: "2" } })).toEqual({
    wanted: { data: { added: "set" } },
    left: [["data", "kept"]],
  });
  expect(withoutRetained({ data: {} }, retained, [], { data: { kept: "2" } })).toEqual({
    wanted: { data: { added: "set" } },
    left: [["data", "kept"]],
  });
});
