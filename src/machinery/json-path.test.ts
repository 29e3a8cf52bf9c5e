import { describe, expect, test } from "vitest";
import { compileJsonPath } from "./json-path.ts";

const object = {
  metadata: { labels: { "a.b/c": "x", plain: "y" } },
  spec: { replicas: 3, zero: 0, ports: [{ name: "http", port: 80 }, { name: "dns", port: 53 }] },
  status: { conditions: [{ type: "Ready", status: "True" }, { type: "Synced", status: "False" }], empty: [] },
};

const cases: [path: string, want: unknown[]][] = [
  [".spec.replicas", [3]],
  ["{.spec.replicas}", [3]],
  ["$.spec.zero", [0]],
  ["spec.replicas", [3]],
  [".spec.nope", []],
  [".spec.replicas.deeper", []],
  [String.raw`.metadata.labels.a\.b/c`, ["x"]],
  [String.raw`.metadata.labels['a\.b/c']`, ["x"]],
  [".metadata.labels['a.b/c']", ["x"]],
  ['.metadata["labels"].plain', ["y"]],
  [".spec.ports[0].name", ["http"]],
  [".spec.ports[-1].name", ["dns"]],
  [".spec.ports[5].name", []],
  [".spec.ports[*].port", [80, 53]],
  [".spec.ports[0:1].port", [80]],
  [".metadata.labels.*", ["x", "y"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type == 'Synced')].status", ["False"]],
  [".spec.ports[?(@.port>60)].name", ["http"]],
  [".spec.ports[?(@.name)].port", [80, 53]],
  ['.status.conditions[?(@.type!="Ready")].type', ["Synced"]],
  [".constructor", []],
  [".status.empty[*]", []],
];
test.each(cases)("%s", (path, want) => {
  expect(compileJsonPath(path)(object)).toEqual(want);
});

test("a path finds nothing in what is no object", () => {
  expect(compileJsonPath(".a.b")(null)).toEqual([]);
});

describe("a path that cannot be understood is a bad request", () => {
  test.each(["..name", ".a[", ".a[b]", ".a[?(@.b==)]", ".a..b", ".a.", ".a[?(1==1)]", "x".repeat(5000)])("%s", (path) => {
    expect(() => compileJsonPath(path)).toThrow(expect.objectContaining({ code: "BadRequest" }));
  });
});
