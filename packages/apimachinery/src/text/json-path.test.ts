import { describe, expect, test } from "vitest";
import { compileJsonPath } from "./json-path.ts";

const object = {
  metadata: { labels: { "a.b/c": "x", plain: "y" } },
  spec: {
    replicas: 3,
    zero: 0,
    ports: [
      { name: "http", port: 80 },
      { name: "dns", port: 53 },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Synced", status: "False" },
    ],
    empty: [],
  },
};

const cases: [path: string, want: unknown[]][] = [
  [".spec.replicas", [3]],
  ["{.spec.replicas}", [3]],
  ["$.spec.zero", [0]],
  [".spec.nope", []],
  [".spec.replicas.deeper", []],
  [String.raw`.metadata.labels.a\.b/c`, ["x"]],
  [String.raw`.metadata.labels['a\.b/c']`, ["x"]],
  // A dot in a key is a path separator, unless escaped with a backslash.
  [".metadata.labels['a.b/c']", []],
  [".metadata['labels'].plain", ["y"]],
  [".spec.ports[0].name", ["http"]],
  [".spec.ports[-1].name", ["dns"]],
  [".spec.ports[5].name", []],
  [".spec.ports[*].port", [80, 53]],
  [".spec.ports[0:1].port", [80]],
  [".spec.ports[0:2:2].port", [80]],
  [".spec.ports[:].port", [80, 53]],
  [".spec.ports[1,0].name", ["dns", "http"]],
  [".spec['zero','replicas']", [0, 3]],
  [".spec.ports[0:9].port", []],
  [".spec.replicas[0]", []],
  ["..port", [80, 53]],
  [".status..type", ["Ready", "Synced"]],
  [".metadata.labels.*", ["x", "y"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type == 'Synced')].status", ["False"]],
  [".spec.ports[?(@.port>60)].name", ["http"]],
  [".spec.ports[?(@.name)].port", [80, 53]],
  ['.status.conditions[?(@.type!="Ready")].type', ["Synced"]],
  [".spec.ports[?(@.port==@.port)].name", ["http", "dns"]],
  // A string and a number have no order, so nothing is found at all.
  ['.spec.ports[?(@.port>"60")].name', []],
  [String.raw`.status.conditions[?(@.type=="Ready")].status`, ["True"]],
  [".constructor", []],
  [".status.empty[*]", []],
];
test.each(cases)("%s", (path, want) => {
  expect(compileJsonPath(path)(object)).toEqual(want);
});

test("a path finds nothing in a value that is not an object", () => {
  expect(compileJsonPath(".a.b")(null)).toEqual([]);
});

describe("an invalid path is a bad request", () => {
  test.each([
    "spec.replicas",
    ".a[",
    ".a[b]",
    '.a["b"]',
    ".a[?(@.b==1)",
    ".a[?(@.b)",
    ".a....b",
    ".a[-]",
    '.a[?(@.b=="x)]',
    String.raw`.a[?(@.b=="\q")]`,
    ".a\\",
    ".a}",
    ".a\n",
    "range .a",
    ".a".repeat(100),
    "x".repeat(5000),
  ])("%s", (path) => {
    expect(() => compileJsonPath(path)).toThrow(expect.objectContaining({ code: "BadRequest" }));
  });
});

test("a list of a million values takes no longer than one of ten thousand, including for nested wildcards", () => {
  const large = { list: Array.from({ length: 1_000_000 }, () => 1) };
  const wide = Array.from({ length: 6 }).reduce<unknown>((inner) => Array.from({ length: 10 }, () => inner), 1);

  expect(compileJsonPath(".list[*]")(large)[0]).toBe(1);
  expect(compileJsonPath(".*.*.*.*.*.*")(wide).length).toBeLessThanOrEqual(10_000);
});
