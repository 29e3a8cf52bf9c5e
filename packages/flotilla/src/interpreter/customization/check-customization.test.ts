import { describe, expect, test } from "vitest";
import { checkCustomization } from "./check-customization.ts";
import type { RuleField } from "./customization-rules.ts";
import { makeCustomization } from "./test-customization.ts";

const problems = (scripts: Partial<Record<RuleField, string>>): string[] =>
  checkCustomization(makeCustomization("a", scripts)).errors.map(({ field, message }) => `${field}: ${message}`);
const warnings = (scripts: Partial<Record<RuleField, string>>): string[] =>
  checkCustomization(makeCustomization("a", scripts)).warnings;
const AT = "spec.customizations.healthInterpretation.luaScript";
const INVALID = `${AT}: Invalid value: InterpreterOperation(InterpretHealth) Lua script error: `;

describe("rejects a script", () => {
  const cases: Record<string, { script: string; want: string }> = {
    "that does not compile, with line, column and the line itself": {
      script: "function InterpretHealth(o)\n  local a = = 1\nend",
      want: "<string> line:2(column:13) near '=':   syntax error; the line is \"local a = = 1\"",
    },
    "that ends prematurely": { script: "function InterpretHealth(o)", want: "<string> at EOF:   syntax error" },
    "that violates a compiler rule": {
      script: "function InterpretHealth(o)\n  goto out\nend",
      want: "compile error near line(3) <string>: no visible label 'out' for <goto> at line 2; the line is \"end\"",
    },
    "that is too large": {
      script: `--${"x".repeat(256 * 1024)}`,
      want: "<string>: the script has 262146 characters, more than 262144",
    },
    "that does not define its function": {
      script: "function IsHealthy(o) return true end",
      want: "the script does not define the function InterpretHealth",
    },
    "that defines its function as local": {
      script: "local function InterpretHealth(o) return true end",
      want: "the script does not define the function InterpretHealth",
    },
    "that defines something else under the function's name": {
      script: "InterpretHealth = true",
      want: "InterpretHealth is a boolean, not a function",
    },
    "that fails while loading": {
      script: "local a = nil\na.b = 1",
      want: "the script fails while loading: line 2: attempt to index a non-table object(nil) with key 'b'",
    },
    "whose loading never ends": {
      script: "while true do end",
      want: "the script fails while loading: line 1: context deadline exceeded",
    },
    "whose loading exhausts memory": {
      script: "local s = 'x' while true do s = s .. s end",
      want: "the script fails while loading: line 1: more than 8388608 bytes allocated",
    },
    "that calls a function disabled by Karmada": {
      script: "function InterpretHealth(o)\n  return rawget(o, 'a')\nend",
      want: "line 2: rawget must not be called by interpreter scripts; Karmada disables it, so the call always fails",
    },
    "that calls a disabled function of the string library": {
      script: "function InterpretHealth(o)\n  return string.gsub(o.kind, 'a', 'b') == 'c'\nend",
      want: "line 2: string.gsub must not be called by interpreter scripts; Karmada disables it, so the call always fails",
    },
  };
  for (const [behaviour, { script, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problems({ healthInterpretation: script })).toEqual([INVALID + want]);
    });
  }

  test("and reports each script separately", () => {
    const found = problems({
      retention: "x",
      healthInterpretation: "function InterpretHealth(o) return true end",
      dependencyInterpretation: "function GetDeps() end",
    });

    expect(found.map((problem) => problem.split(":")[0])).toEqual([
      "spec.customizations.retention.luaScript",
      "spec.customizations.dependencyInterpretation.luaScript",
    ]);
  });

  test("rejects a script without a target", () => {
    const { errors } = checkCustomization(makeCustomization("a", {}, { apiVersion: "", kind: "" }));

    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      "spec.target.apiVersion: Required value",
      "spec.target.kind: Required value",
    ]);
  });
});

describe("accepts a script", () => {
  const fine: Record<string, string> = {
    "with helpers and libraries":
      "local kube = require('kube')\n" +
      "local function zero(n) return n or 0 end\n" +
      "function Sum(a, b) return zero(a) + zero(b) end\n" +
      "function InterpretHealth(o) local n = Sum(1, nil) return n == 1 and kube ~= nil end",
    "with its own function under a disabled name":
      "local load = function() return true end function InterpretHealth(o) return load() end",
    "that calls a disabled name as a field of another table":
      "function InterpretHealth(o) local t = {load = function() return true end} return t.load() end",
    "that is empty, which means no script": "",
  };
  for (const [behaviour, script] of Object.entries(fine)) {
    test(behaviour, () => {
      expect(checkCustomization(makeCustomization("a", { healthInterpretation: script }))).toEqual({
        errors: [],
        warnings: [],
      });
    });
  }
});

describe("warns the author", () => {
  test("about global variables", () => {
    expect(
      warnings({
        healthInterpretation: "function InterpretHealth(o)\n  a = 1\n  b, c = 2, 3\n  a = 4\n  return true\nend",
      }),
    ).toEqual([
      `${AT}: line 2: the script sets global variables (a, b, c); declare them with "local", because in Karmada they leak into other scripts`,
    ]);
  });

  test("about undefined names", () => {
    const script =
      "function InterpretHealth(o)\n  os.execute('id')\n  helper(o)\n  return io.open('x') ~= nil and math.pi > os.time()\nend";

    expect(warnings({ healthInterpretation: script })).toEqual(
      ["line 2: the script uses os.execute", "line 3: the script uses helper", "line 4: the script uses io"].map(
        (said) => `${AT}: ${said}, which is not defined for scripts`,
      ),
    );
  });

  test("about shadowed Lua built-ins", () => {
    expect(
      warnings({
        healthInterpretation: "function InterpretHealth(o)\n  type = ''\n  return true\nend\nfunction tostring() end",
      }),
    ).toEqual([
      `${AT}: line 2: the script sets type, which shadows the Lua built-in of that name`,
      `${AT}: line 5: the script sets tostring, which shadows the Lua built-in of that name`,
    ]);
  });

  const BARE =
    "AggregateStatus returns a bare status, which is taken as the status of the object; the canonical form sets desiredObj.status and returns desiredObj";
  const aggregations: Record<string, { script: string; want: string[] }> = {
    "about a bare status return value": {
      script: "function AggregateStatus(o, items)\n  return {replicas = 1}\nend",
      want: [`spec.customizations.statusAggregation.luaScript: line 2: ${BARE}`],
    },
    "but not about a whole object": {
      script: "function AggregateStatus(o, items) return {apiVersion = o.apiVersion, kind = o.kind, status = {}} end",
      want: [],
    },
    "but not about what only execution would show": {
      script: "function AggregateStatus(o, items) local status = {replicas = 1} return status end",
      want: [],
    },
    "but not about the return values of other functions": {
      script: "function AggregateStatus(o, items) local f = function() return {n = 1} end o.status = f() return o end",
      want: [],
    },
  };
  for (const [behaviour, { script, want }] of Object.entries(aggregations)) {
    test(behaviour, () => {
      expect(warnings({ statusAggregation: script })).toEqual(want);
    });
  }
});

describe("warns the author of a Retain rule", () => {
  const CLONE_SET = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" };
  const warningsOf = (body: string, target = CLONE_SET): string[] =>
    checkCustomization(makeCustomization("a", { retention: `function Retain(d, o)\n${body}\nreturn d\nend` }, target))
      .warnings;

  test("warns the author of a Retain rule that keeps the strategy, however it is written", () => {
    expect(warningsOf("for k, v in pairs(o.spec) do if k:sub(1, 6) == 'update' then d.spec[k] = v end end")).toEqual([
      "spec.customizations.retention: the Retain rule leaves spec.updateStrategy to the members: values of the " +
        "template apply only where the object is created, so the hub cannot release by partition, and stops a " +
        "release that would reach more pods than requested",
    ]);
  });

  test("warns the author of a Retain rule that keeps the replicas", () => {
    expect(warningsOf("d.spec.replicas = o.spec.replicas", { apiVersion: "apps/v1", kind: "Deployment" })).toEqual([
      "spec.customizations.retention: the Retain rule leaves spec.replicas to the members: values of the template apply only where the object is created",
    ]);
  });

  test("does not warn the author of a Retain rule if it keeps other fields, fails on a probe, or the kind has no replicas", () => {
    expect(warningsOf("d.spec.minReadySeconds = o.spec.minReadySeconds")).toEqual([]);
    expect(warningsOf("d.spec.replicas = o.spec.autoscaling.replicas")).toEqual([]);
    expect(warningsOf("d.spec = o.spec", { apiVersion: "v1", kind: "Service" })).toEqual([]);
  });
});
