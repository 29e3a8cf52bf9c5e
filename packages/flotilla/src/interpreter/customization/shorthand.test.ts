import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { compileKubeScript } from "../scripts/index.ts";
import { formatFieldPath, parseFieldPath } from "./field-path.ts";
import { convertShorthand } from "./shorthand.ts";

const scriptIn = (rules: unknown, field: string): string =>
  (rules as Record<string, { luaScript: string }>)[field]?.luaScript ?? "";
const problems = (rules: JsonObject, stored?: JsonObject): string[] =>
  convertShorthand(rules, stored).errors.map(({ field, message }) => `${field}: ${message}`);

describe("field path", () => {
  const paths: Record<string, (string | number)[]> = {
    ".spec.replicas": ["spec", "replicas"],
    "$.spec.replicas": ["spec", "replicas"],
    ".spec.containers[0].image": ["spec", "containers", 0, "image"],
    ".metadata.annotations['example.com/size']": ["metadata", "annotations", "example.com/size"],
    '.metadata.labels["it\'s"]': ["metadata", "labels", "it's"],
    [String.raw`.a['\'\\']`]: ["a", "'\\"],
    ".__proto__.constructor": ["__proto__", "constructor"],
  };
  for (const [text, want] of Object.entries(paths)) {
    test(`parses ${text} and formats it back to the same path`, () => {
      const path = parseFieldPath(text);

      expect(path).toEqual(want);
      expect(parseFieldPath(formatFieldPath(path ?? []))).toEqual(want);
    });
  }

  const TOO_DEEP = ".a".repeat(33);
  const TOO_LONG = `.${"a".repeat(1024)}`;
  for (const text of [
    "",
    ".",
    "$",
    "spec",
    ".spec.",
    ".spec..a",
    ".a[*]",
    ".a[]",
    ".a[-1]",
    ".a[0:2]",
    ".a[99999]",
    ".a[?(@.b)]",
    "..a",
    ".a['b",
    ".a['b\n']",
    ".a\n",
    " .a",
    "{.a}",
    '.a"] os.exit() --',
    ".a['b']x",
    TOO_DEEP,
    TOO_LONG,
  ]) {
    test(`rejects ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(parseFieldPath(text)).toBeUndefined();
    });
  }
});

describe("canonical rules", () => {
  test("are returned as the identical object, whatever they contain", () => {
    for (const rules of [
      {},
      { retention: { luaScript: "x" } },
      { healthInterpretation: { jsonPath: ".status" }, unknown: { jsonPath: ".a" }, retention: 5 },
    ] as JsonObject[]) {
      expect(convertShorthand(rules)).toEqual({ rules, warnings: [], errors: [] });
      expect(convertShorthand(rules).rules).toBe(rules);
    }
  });
});

describe("a shorthand name", () => {
  test("is replaced by the canonical name, with everything below it", () => {
    const { rules, warnings } = convertShorthand({
      replicas: { luaScript: "a" },
      reviseReplica: { luaScript: "b", odd: 1 },
      retention: { luaScript: "c" },
    });

    expect(rules).toEqual({
      replicaResource: { luaScript: "a" },
      replicaRevision: { luaScript: "b", odd: 1 },
      retention: { luaScript: "c" },
    });
    expect(warnings).toEqual([
      "spec.customizations.replicas is shorthand; it is stored in the canonical form, spec.customizations.replicaResource",
      "spec.customizations.reviseReplica is shorthand; it is stored in the canonical form, spec.customizations.replicaRevision",
    ]);
  });

  test("conflicts with a canonical rule beside it", () => {
    expect(problems({ replicas: { luaScript: "a" }, replicaResource: { luaScript: "a" } })).toEqual([
      "spec.customizations.replicas: Forbidden: shorthand for replicaResource, which is also set; keep one of them",
    ]);
  });

  test("conflicts with another alias of the same rule", () => {
    expect(problems({ scale: { jsonPath: ".spec.replicas" }, reviseReplica: { luaScript: "b" } })).toEqual([
      "spec.customizations.reviseReplica: Forbidden: duplicates scale; keep one of them",
    ]);
  });

  test("replaces the stored result of an earlier shorthand", () => {
    const stored = convertShorthand({ scale: { jsonPath: ".spec.replicas" }, retention: { jsonPaths: [".spec.a"] } })
      .rules as JsonObject;
    const merged = {
      ...stored,
      scale: { jsonPath: ".spec.size" },
      retention: { ...(stored["retention"] as JsonObject), jsonPaths: [".spec.b"] },
    };

    const { rules, errors } = convertShorthand(merged, stored);

    expect(errors).toEqual([]);
    expect(Object.keys(rules).sort()).toEqual(["replicaRevision", "retention"]);
    expect(scriptIn(rules, "replicaRevision")).toContain('local path = {"spec", "size"}');
    expect(scriptIn(rules, "retention")).toContain('{"spec", "b"}');
  });

  test("yields the same result when it is applied again", () => {
    const written = { replicas: { jsonPath: ".spec.replicas" }, retention: { jsonPaths: [".spec.a"] } };
    const stored = convertShorthand(written).rules as JsonObject;

    const { rules } = convertShorthand(
      {
        ...stored,
        replicas: written.replicas,
        retention: { ...(stored["retention"] as JsonObject), ...written.retention },
      },
      stored,
    );

    expect(rules).toEqual(stored);
  });
});

describe("a rule with paths", () => {
  const PATH =
    "must be a path of names and list indexes, such as .spec.replicas or .metadata.annotations['example.com/size']";
  const AT = "spec.customizations";
  const cases: Record<string, { rules: JsonObject; want: string[] }> = {
    "rejects an invalid path": {
      rules: { replicas: { jsonPath: ".spec[*]" } },
      want: [`${AT}.replicas.jsonPath: Invalid value: ".spec[*]": ${PATH}`],
    },
    "rejects paths that are not strings": {
      rules: { retention: { jsonPaths: [".a", 5] } },
      want: [`${AT}.retention.jsonPaths[1]: Invalid value: 5: ${PATH}`],
    },
    "rejects several paths where one is allowed": {
      rules: { scale: { jsonPaths: [".a", ".b"] } },
      want: [`${AT}.scale.jsonPaths: Invalid value: [".a",".b"]: must be a single path`],
    },
    "rejects an empty list of paths": {
      rules: { retention: { jsonPaths: [] } },
      want: [`${AT}.retention.jsonPaths: Invalid value: []: must be a list of 1 to 32 paths`],
    },
    "rejects a single value where a list is required": {
      rules: { retention: { jsonPaths: ".a" } },
      want: [`${AT}.retention.jsonPaths: Invalid value: ".a": must be a list of 1 to 32 paths`],
    },
    "rejects jsonPath together with jsonPaths": {
      rules: { retention: { jsonPath: ".a", jsonPaths: [".b"] } },
      want: [`${AT}.retention.jsonPath: Forbidden: jsonPaths is also set; keep one of them`],
    },
    "rejects luaScript together with a path": {
      rules: { retention: { jsonPath: ".a", luaScript: "x" } },
      want: [`${AT}.retention.luaScript: Forbidden: a rule has either a script or a path`],
    },
    "reflects only paths below .status": {
      rules: { statusReflection: { jsonPath: ".spec" } },
      want: [`${AT}.statusReflection.jsonPath: Invalid value: ".spec": must be .status or a path below it`],
    },
    "reflects only whole lists": {
      rules: { statusReflection: { jsonPath: ".status.a[0]" } },
      want: [
        `${AT}.statusReflection.jsonPath: Invalid value: ".status.a[0]": must not contain list indexes: lists are reflected as a whole`,
      ],
    },
    "rejects paths of the object's identity": {
      rules: { retention: { jsonPaths: [".metadata.name", ".kind", ".metadata.labels.a"] } },
      want: [
        `${AT}.retention.jsonPaths[0]: Invalid value: ".metadata.name": must not be part of the object's identity`,
        `${AT}.retention.jsonPaths[1]: Invalid value: ".kind": must not be part of the object's identity`,
      ],
    },
  };
  for (const [behaviour, { rules, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problems(rules)).toEqual(want);
    });
  }

  test("names its source in a comment of the generated script", () => {
    const { rules } = convertShorthand({ replicas: { jsonPath: ".spec.replicas" } });

    expect(scriptIn(rules, "replicaResource").split("\n")[0]).toBe(
      "-- Generated by Flotilla from replicas.jsonPath: .spec.replicas",
    );
  });

  test("escapes names that look like Lua", () => {
    const hostile = String.raw`.spec["a\"] = nil os.exit() --"].b['\\']`;
    const { rules } = convertShorthand({ scale: { jsonPath: hostile } });

    const [revised] = compileKubeScript(scriptIn(rules, "replicaRevision")).call("ReviseReplica", [{ spec: {} }, 3]);

    expect(revised?.json()).toEqual({ spec: { 'a"] = nil os.exit() --': { b: { "\\": 3 } } } });
  });

  test("writes exactly to its path, whatever the names are", () => {
    // Characters that YAML cannot show are rejected; a name may contain everything else.
    const name = fc.string({ unit: "grapheme", minLength: 0, maxLength: 12 }).filter((text) => !/\p{C}/u.test(text));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (names) => {
        const path = ["spec", ...names];
        const { rules, errors } = convertShorthand({ scale: { jsonPath: formatFieldPath(path) } });

        const [revised] = compileKubeScript(scriptIn(rules, "replicaRevision")).call("ReviseReplica", [
          { kind: "Web" },
          3,
        ]);

        expect(errors).toEqual([]);
        expect(revised?.json()).toEqual({
          kind: "Web",
          ...(path.reduceRight<unknown>((value, key) => Object.fromEntries([[key, value]]), 3) as object),
        });
      }),
      { seed: 20_261_116, numRuns: 300 },
    );
  });

  test("reflects parts of a status at their paths", () => {
    const { rules } = convertShorthand({
      statusReflection: { jsonPaths: [".status.replicas", ".status.rollout.phase", ".status.none"] },
    });

    const [status] = compileKubeScript(scriptIn(rules, "statusReflection")).call("ReflectStatus", [
      { status: { replicas: 2, rollout: { phase: "Done", step: 3 }, other: true } },
    ]);

    expect(status?.json()).toEqual({ replicas: 2, rollout: { phase: "Done" } });
  });

  test("retains values at list indexes, and creates missing parents", () => {
    const { rules } = convertShorthand({ retention: { jsonPaths: [".spec.containers[0].image", ".spec.deep.er"] } });

    const [retained] = compileKubeScript(scriptIn(rules, "retention")).call("Retain", [
      { spec: { containers: [{ name: "a", image: "1" }] } },
      { spec: { containers: [{ image: "2" }], deep: { er: true } } },
    ]);

    expect(retained?.json()).toEqual({ spec: { containers: [{ name: "a", image: "2" }], deep: { er: true } } });
  });
});
