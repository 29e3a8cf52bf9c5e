import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock, UsageError } from "@flotilla/base";
import type { CommandContext, Flag } from "../command.ts";
import { createOutput } from "../output.ts";
import { parseCommandLine } from "../parse.ts";
import { interpretCommand } from "./interpret.ts";

const CUSTOMIZATION = `apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata:
  name: thing
spec:
  target: {apiVersion: example.io/v1, kind: Thing}
  customizations:
    replicaResource:
      luaScript: |
        function GetReplicas(desiredObj)
          return desiredObj.spec.size, { resourceRequest = { cpu = "100m" } }
        end
    replicaRevision:
      luaScript: >
        function ReviseReplica(desiredObj, desiredReplica)
          desiredObj.spec.size = desiredReplica
          return desiredObj
        end
    healthInterpretation:
      luaScript: |
        function InterpretHealth(observedObj)
          return observedObj.status.ready
        end
    retention:
      luaScript: |
        function Retain(desiredObj, observedObj)
          desiredObj.spec.size = observedObj.spec.size
          return desiredObj
        end
    statusAggregation:
      luaScript: |
        function AggregateStatus(desiredObj, statusItems)
          local ready = 0
          for _, item in ipairs(statusItems or {}) do ready = ready + item.status.ready end
          desiredObj.status = { ready = ready, asked = statusItems ~= nil }
          return desiredObj
        end
`;
const THING = "apiVersion: example.io/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 3}\n";
const BROKEN = CUSTOMIZATION.replace("return observedObj.status.ready", "return return");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flotilla-interpret-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

interface Printed {
  out: string;
  warnings: string;
  /** The error message, with the folder removed from it. */
  error: string | undefined;
  isUsage: boolean;
}

/** Runs the command line; words with `@` are replaced by files in the folder. */
async function run(argv: readonly string[], input = ""): Promise<Printed> {
  const printed: Printed = { out: "", warnings: "", error: undefined, isUsage: false };
  const bare = (text: string): string => text.replaceAll(`${folder}/`, "");
  try {
    const { args, flags, format } = parseCommandLine(
      interpretCommand,
      argv.map((word) => word.replace(/^@/, `${folder}/`)),
    );
    const output = createOutput({
      format,
      write: (text) => void (printed.out += bare(text)),
      warn: (text) => void (printed.warnings += bare(text)),
      showProgress: () => {},
    });
    const context = {
      args,
      flags,
      output,
      clock: systemClock,
      signal: new AbortController().signal,
      readInput: () => Promise.resolve(input),
    };
    await interpretCommand.run(context as unknown as CommandContext<Record<string, Flag>>);
  } catch (error) {
    printed.error = bare((error as Error).message);
    printed.isUsage = error instanceof UsageError;
  }
  return printed;
}

describe("--check", () => {
  test("lists the rules of each customization", async () => {
    write({ "rules.yaml": CUSTOMIZATION });

    const { out, error } = await run(["-f", "@rules.yaml", "--check"]);

    expect(error).toBeUndefined();
    expect(out.split("\n")).toEqual([
      "-----------------------------------",
      "SOURCE: thing",
      "TARGET: example.io/v1 Thing   ",
      "RULERS:",
      "    Retain:                   PASS",
      "    InterpretReplica:         PASS",
      "    InterpretComponent:       UNSET",
      "    ReviseReplica:            PASS",
      "    InterpretStatus:          UNSET",
      "    AggregateStatus:          PASS",
      "    InterpretHealth:          PASS",
      "    InterpretDependency:      UNSET",
      "",
    ]);
  });

  test("shows the line of a script that does not compile", async () => {
    write({ "rules.yaml": BROKEN });

    const { out, error } = await run(["-f", "@rules.yaml", "--check"]);

    expect(out).toContain(
      "    InterpretHealth:          ERROR: <string> line:2(column:15) near 'return':   syntax error   \n",
    );
    expect(error).toBe(
      [
        "1 of 1 did not pass",
        "rules.yaml:22:18: InterpretHealth: <string> line:2(column:15) near 'return':   syntax error",
        "  22 |           return return",
        "     |                  ^^^^^^",
      ].join("\n"),
    );
  });

  test("shows the line of a folded script that lacks its function", async () => {
    write({ "rules.yaml": CUSTOMIZATION.replace("function ReviseReplica(", "function Other(") });

    const { out, error } = await run(["-f", "@rules.yaml", "--check"]);

    expect(out).toContain("ReviseReplica:            ERROR: the script does not define the function ReviseReplica");
    expect(error).toContain("rules.yaml:15:9: ReviseReplica: the script does not define the function ReviseReplica");
  });

  test("warns about shorthand, unknown rules and customizations that exclude each other", async () => {
    const second = CUSTOMIZATION.replace("name: thing", "name: other")
      .replace("replicaResource:\n      luaScript: |", "replicas:\n      luaScript: |")
      .replace("    retention:", "    retain:");
    write({ "rules/a.yaml": CUSTOMIZATION, "rules/b.yml": second, "rules/notes.txt": "no rules" });

    const { warnings, error } = await run(["-f", "@rules", "--check"]);

    expect(error).toBeUndefined();
    expect(warnings).toContain("Warning: rules/b.yml:1: spec.customizations.replicas is shorthand");
    expect(warnings).toContain("Warning: rules/b.yml:1: spec.customizations.retain is not a rule");
    expect(warnings).toContain(
      "conflicting with InterpreterOperation(InterpretReplica) of existing ResourceInterpreterCustomization(thing)",
    );
  });

  test("says that no rule was run on an object", async () => {
    write({ "rules.yaml": CUSTOMIZATION });

    const { warnings } = await run(["-f", "@rules.yaml", "--check"]);

    expect(warnings).toMatch(/^Note: the rules compile, and were run on no object; .*--against-hub/);
  });

  test("runs the rules on the objects of files, and says on which", async () => {
    write({
      "rules.yaml": CUSTOMIZATION,
      "thing.yaml": THING,
      "seen.yaml": `${THING}status: {ready: true}\n`,
    });

    const { out, warnings, error } = await run([
      "-f",
      "@rules.yaml",
      "--check",
      "--desired-file",
      "@thing.yaml",
      "--observed-file",
      "@seen.yaml",
    ]);

    expect(error).toBeUndefined();
    expect(warnings).toBe("");
    expect(out).toContain(
      [
        "TRIED ON:",
        "    seen.yaml: PASS Retain, InterpretHealth",
        "    thing.yaml: PASS InterpretReplica, ReviseReplica",
        "NOT TRIED ON ANY OBJECT: AggregateStatus of thing",
      ].join("\n"),
    );
  });

  test("says which objects no customization targets, and which rules were tried on none", async () => {
    write({
      "rules.yaml": CUSTOMIZATION,
      "thing.yaml": THING,
      "seen.yaml": THING.replace("example.io/v1", "example.io/v1beta1"),
    });

    const { out, warnings, error } = await run(["-f", "@rules.yaml", "--check", "--observed-file", "@seen.yaml"]);
    const both = await run([
      ..."-f @rules.yaml --check --desired-file @thing.yaml".split(" "),
      ..."--observed-file @seen.yaml".split(" "),
    ]);

    expect(error).toBeUndefined();
    expect(warnings).toBe("Note: seen.yaml: no customization targets Thing in example.io/v1beta1\n");
    expect(out).toContain(
      "NOT TRIED ON ANY OBJECT: Retain of thing, InterpretReplica of thing, ReviseReplica of thing, AggregateStatus of thing, InterpretHealth of thing",
    );
    expect(both.error).toBeUndefined();
    expect(both.out).toContain(
      "NOT TRIED ON ANY OBJECT: Retain of thing, AggregateStatus of thing, InterpretHealth of thing",
    );
    expect(both.warnings).toBe(warnings);
  });

  test("fails for a rule that compiles and fails on the object", async () => {
    write({ "rules.yaml": CUSTOMIZATION, "seen.yaml": THING });

    const { out, error } = await run(["-f", "@rules.yaml", "--check", "--observed-file", "@seen.yaml"]);

    expect(out).toContain("    InterpretHealth:          ERROR: it fails on seen.yaml");
    expect(out).toContain("    seen.yaml: ERROR InterpretHealth");
    expect(error).toMatch(/^1 of 1 did not pass\nInterpretHealth on seen\.yaml: rules\.yaml:22:/);
  });

  test("reports objects that are not customizations, or lack a target", async () => {
    const { out, error } = await run(
      ["-f", "-", "--check"],
      `${THING}---\napiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nspec: {target: {kind: A}}\n`,
    );

    expect(out).toContain("SOURCE: a\nnot a ResourceInterpreterCustomization, got example.io/v1, Kind=Thing\n");
    expect(out).toContain("SOURCE: STDIN\ntarget.apiVersion no set\n");
    expect(error).toContain("2 of 2 did not pass");
  });
});

describe("--operation with customizations", () => {
  const answers: Record<string, { argv: string[]; want: string }> = {
    interpretReplica: {
      argv: ["--desired-file", "@thing.yaml"],
      want: "---\n# [1/2] replica:\n3\n---\n# [2/2] requires:\nresourceRequest:\n  cpu: 100m\n",
    },
    REVISEREPLICA: {
      argv: ["--observed-file", "@thing.yaml", "--desired-replica", "7"],
      want: "---\n# [1/1] revised:\napiVersion: example.io/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  size: 7\n",
    },
    Retain: {
      argv: ["--desired-file", "@thing.yaml", "--observed-file", "-"],
      want: "---\n# [1/1] retained:\napiVersion: example.io/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  size: 9\n",
    },
    AggregateStatus: {
      argv: ["--desired-file", "@thing.yaml", "--status-file", "@items.yaml"],
      want:
        "---\n" +
        "# [1/1] aggregatedStatus:\n" +
        "apiVersion: example.io/v1\n" +
        "kind: Thing\n" +
        "metadata:\n" +
        "  name: a\n" +
        "spec:\n" +
        "  size: 3\n" +
        "status:\n" +
        "  asked: true\n" +
        "  ready: 5\n",
    },
    aggregateStatus: {
      argv: ["--desired-file", "@thing.yaml"],
      want:
        "---\n" +
        "# [1/1] aggregatedStatus:\n" +
        "apiVersion: example.io/v1\n" +
        "kind: Thing\n" +
        "metadata:\n" +
        "  name: a\n" +
        "spec:\n" +
        "  size: 3\n" +
        "status:\n" +
        "  asked: false\n" +
        "  ready: 0\n",
    },
  };
  for (const [operation, { argv, want }] of Object.entries(answers)) {
    test(`${operation} prints the same as karmadactl`, async () => {
      write({
        "rules.yaml": CUSTOMIZATION,
        "thing.yaml": THING,
        "items.yaml": "clusterName: one\nstatus: {ready: 2}\n---\nclusterName: two\nstatus: {ready: 3}\n",
      });

      const { out, error } = await run(
        ["-f", "@rules.yaml", "--operation", operation, ...argv],
        THING.replace("size: 3", "size: 9"),
      );

      expect(error).toBeUndefined();
      expect(out).toBe(want);
    });
  }

  test("a failing script is shown with its line", async () => {
    write({ "rules.yaml": CUSTOMIZATION, "thing.yaml": THING });

    const { out, error, isUsage } = await run([
      "-f",
      "@rules.yaml",
      "--operation",
      "interpretHealth",
      "--observed-file",
      "@thing.yaml",
    ]);

    expect(out).toBe("");
    expect(isUsage).toBe(false);
    expect(error).toMatch(
      /^Execute InterpretHealth error: rules\.yaml:22:11: .*attempt to index a non-table object\(nil\) with key 'ready'\n {2}22 \| {11}return observedObj\.status\.ready\n {5}\| {11}\^{31}$/,
    );
  });

  test("a missing rule is reported, with the interpreter that a hub would use", async () => {
    write({ "rules.yaml": CUSTOMIZATION });

    const { error } = await run(
      ["-f", "@rules.yaml", "--operation", "InterpretHealth", "--observed-file", "-"],
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
    );

    expect(error).toBe(
      "Execute InterpretHealth error: no rule InterpretHealth for apps/v1 Deployment in rules.yaml; on a hub " +
        "the built-in rule is used (native), and here too without -f",
    );
  });

  test("-o json prints data", async () => {
    write({ "rules.yaml": CUSTOMIZATION, "thing.yaml": THING });

    const { out } = await run([
      "-f",
      "@rules.yaml",
      "--operation",
      "InterpretReplica",
      "--desired-file",
      "@thing.yaml",
      "-o",
      "json",
    ]);

    expect(JSON.parse(out)).toEqual({
      operation: "InterpretReplica",
      level: "customization",
      results: { replica: 3, requires: { resourceRequest: { cpu: "100m" } } },
    });
  });
});

test("without customizations the built-in rules are used, and the output states it", async () => {
  const { out } = await run(
    ["--operation", "InterpretReplica", "--desired-file", "-"],
    "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\nspec: {replicas: 4, template: {spec: {}}}\n",
  );

  expect(out).toBe(
    "# result of the built-in rules: thirdparty\n---\n# [1/2] replica:\n4\n---\n# [2/2] requires:\nnull\n",
  );
});

describe("Divide", () => {
  const CLONE_SET =
    "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec: {replicas: 10, updateStrategy: {partition: 7}, template: {spec: {}}}\n";

  test("prints each member's copy, with fleet-wide numbers divided", async () => {
    const { out } = await run(
      ["--operation", "divide", "--desired-file", "-", "--share", "oslo=6", "--share", "paris=4", "-o", "json"],
      CLONE_SET,
    );

    expect(JSON.parse(out)).toMatchObject({
      level: "thirdparty",
      results: {
        oslo: { spec: { replicas: 6, updateStrategy: { partition: 4 } } },
        paris: { spec: { replicas: 4, updateStrategy: { partition: 3 } } },
      },
    });
  });

  test("revises replicas with the script if there is one", async () => {
    write({ "rules.yaml": CUSTOMIZATION });

    const { out } = await run(
      ["-f", "@rules.yaml", "--operation", "divide", "--desired-file", "-", "--share", "oslo=6,paris=4", "-o", "json"],
      THING,
    );

    expect(JSON.parse(out)).toMatchObject({
      level: "customization",
      results: { oslo: { spec: { size: 6 } }, paris: { spec: { size: 4 } } },
    });
  });

  test("is tested with shares, and expects copies by member", async () => {
    write({
      "tests.yaml":
        "operation: Divide\n" +
        `shares: [{cluster: oslo, replicas: 2}]\ndesired:\n${THING.replaceAll(/^/gm, "  ").trimEnd()}\nwant: ` +
        "{oslo: {apiVersion: example.io/v1, kind: Thing, metadata: {name: a}, spec: {size: 2}}}\n",
      "rules.yaml": CUSTOMIZATION,
    });

    expect(await run(["-f", "@rules.yaml", "--test", "@tests.yaml"])).toMatchObject({
      out: "PASS  tests.yaml:1  Divide  Divide\n1 passed, 0 failed\n",
      error: undefined,
    });
  });
});

describe("--test", () => {
  const PASSING =
    "name: counts\n" +
    "operation: InterpretReplica\n" +
    "desired: {apiVersion: example.io/v1, kind: Thing, spec: {size: 3}}\n" +
    "want: {replica: 3, requires: {resourceRequest: {cpu: '0.1'}}}\n";
  const KARMADA =
    "name: in Karmada's words\n" +
    "operation: reviseReplica\n" +
    "desiredObj: {apiVersion: example.io/v1, kind: Thing, spec: {size: 3}}\n" +
    "inputReplicas: 5\n" +
    "output: {revised: {apiVersion: example.io/v1, kind: Thing, spec: {size: 4}}}\n";
  const FAILING_RULE =
    "name: wants an error\noperation: InterpretHealth\nobserved: {apiVersion: example.io/v1, kind: Thing}\nwantError: attempt to index\n";

  test("prints a line per case, the differences, and a summary", async () => {
    write({ "rules.yaml": CUSTOMIZATION, "tests/a.yaml": `${PASSING}---\n${KARMADA}`, "tests/b.yaml": FAILING_RULE });

    const { out, error } = await run(["-f", "@rules.yaml", "--test", "@tests/a.yaml", "@tests/b.yaml"]);

    expect(out.split("\n")).toEqual([
      "PASS  tests/a.yaml:1  InterpretReplica  counts",
      "FAIL  tests/a.yaml:6  ReviseReplica  in Karmada's words",
      "      revised.spec.size",
      "        want 4",
      "        have 5",
      "PASS  tests/b.yaml:1  InterpretHealth  wants an error",
      "2 passed, 1 failed",
      "",
    ]);
    expect(error).toBe("1 of 3 cases failed");
  });

  test("prints nothing on standard error when every case passes", async () => {
    write({
      "tests/deep/a.yaml":
        "name: a Deployment is counted\n" +
        "operation: InterpretReplica\n" +
        "desired: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 2, template: " +
        "{spec: {}}}}\n" +
        "want: {replica: 2}\n",
    });

    const { out, error } = await run(["--test", "@tests", "--recursive"]);

    expect(error).toBeUndefined();
    expect(out).toBe("PASS  tests/deep/a.yaml:1  InterpretReplica  a Deployment is counted\n1 passed, 0 failed\n");
  });

  test("fails a case that expects an error and gets none, or gets a different one", async () => {
    write({
      "rules.yaml": CUSTOMIZATION,
      "tests.yaml": `${PASSING.replace(/want:.*/, "wantError: boom")}---\n${FAILING_RULE.replace("attempt to index", "boom")}`,
    });

    const { out } = await run(["-f", "@rules.yaml", "--test", "@tests.yaml"]);

    expect(out).toContain('      want an error with "boom", have {"replica":3,');
    expect(out).toContain('      want an error with "boom", have another: rules.yaml:22:11: running InterpretHealth');
    expect(out).toContain("0 passed, 2 failed");
  });

  const mistakes: Record<string, { fixture: string; want: string }> = {
    "an unknown operation": {
      fixture: "operation: Guess\n",
      want:
        "tests.yaml:1: operation must be one of Retain, InterpretReplica, InterpretComponent, ReviseReplica, " +
        'InterpretStatus, AggregateStatus, InterpretHealth, InterpretDependency, Divide, not "Guess"',
    },
    "a misspelled field": {
      fixture: "operation: Retain\nwnat: {}\n",
      want: "tests.yaml:1: unknown field wnat",
    },
    "a field given under both of its names": {
      fixture: "operation: Retain\nwant: {}\noutput: {}\n",
      want: "tests.yaml:1: want is given twice",
    },
    "both a result and an error": {
      fixture: "operation: Retain\nwant: {retained: {}}\nwantError: x\n",
      want: "tests.yaml:1: want and wantError are mutually exclusive",
    },
    "no expectation": {
      fixture: "operation: Retain\n",
      want: "tests.yaml:1: a fixture needs an expectation: want or wantError",
    },
    "a result that is not a mapping": {
      fixture: "operation: InterpretHealth\nwant: true\n",
      want: "tests.yaml:1: want must contain the results by name",
    },
  };
  for (const [mistake, { fixture, want }] of Object.entries(mistakes)) {
    test(`rejects a fixture with ${mistake}`, async () => {
      write({ "tests.yaml": fixture });

      const { error } = await run(["--test", "@tests.yaml"]);

      expect(error).toContain(want);
    });
  }

  test("expecting a result that the operation does not return fails the case", async () => {
    write({
      "tests.yaml":
        "operation: InterpretReplica\n" +
        "desired: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 2, template: " +
        "{spec: {}}}}\n" +
        "want: {replicas: 2}\n",
    });

    const { out } = await run(["--test", "@tests.yaml"]);

    expect(out).toContain("      replicas\n        want 2\n        have nothing\n");
  });
});

test("the documentation of each rule is Lua that passes --check", async () => {
  const { out } = await run(["--show-doc", "--operation", "retain"]);
  const indented = out
    .trimEnd()
    .split("\n")
    .map((line) => `        ${line}`)
    .join("\n");

  const { error } = await run(
    ["-f", "-", "--check"],
    "apiVersion: config.karmada.io/v1alpha1\n" +
      "kind: ResourceInterpreterCustomization\n" +
      "metadata: {name: doc}\n" +
      "spec:\n" +
      "  target: {apiVersion: example.io/v1, kind: Thing}\n" +
      "  customizations:\n" +
      "    retention:\n" +
      `      luaScript: |\n${indented}\n`,
  );

  expect(out).toContain("function Retain(desiredObj, observedObj)");
  expect(error).toBeUndefined();
});

describe("usage errors explain the mistake when", () => {
  const wrong: Record<string, { argv: string[]; want: string }> = {
    "no action is given": { argv: [], want: "specify what to do: --operation" },
    "the operation is unknown": {
      argv: ["--operation", "guess"],
      want: "operation guess is not supported. Use one of: Retain, InterpretReplica",
    },
    "--check gets no files": {
      argv: ["--check"],
      want: "--check needs customizations: -f FILE",
    },
    "--check and --operation are both given": {
      argv: ["--check", "--operation", "retain", "-f", "-"],
      want: "--check only validates customizations",
    },
    "--test and --operation are both given": {
      argv: ["--test", "a", "--operation", "retain"],
      want: "--test takes the operations from its fixtures",
    },
    "a file is given without a flag": {
      argv: ["rules.yaml", "--check"],
      want: "unexpected argument 'rules.yaml'",
    },
    "the object file is missing": {
      argv: ["--operation", "InterpretHealth"],
      want: "InterpretHealth needs a desired or an observed object",
    },
    "one of two object files is missing": {
      argv: ["--operation", "retain", "--desired-file", "-"],
      want: "the observed one is missing",
    },
    "standard input is used twice": {
      argv: ["--operation", "retain", "--desired-file", "-", "--observed-file", "-"],
      want: "standard input (-) can be read only once",
    },
    "Divide gets no shares": {
      argv: ["--operation", "divide", "--desired-file", "-"],
      want: "Divide needs the members and the replicas of each",
    },
    "a share is not a number": {
      argv: ["--operation", "divide", "--desired-file", "-", "--share", "oslo"],
      want: "--share must be MEMBER=REPLICAS, for example member1=5, not 'oslo'",
    },
    "--edit is given": { argv: ["-f", "-", "--edit"], want: "--edit is not supported" },
  };
  for (const [mistake, { argv, want }] of Object.entries(wrong)) {
    test(mistake, async () => {
      const { error, isUsage } = await run(argv, THING);

      expect(error).toContain(want);
      expect(isUsage).toBe(true);
    });
  }
});

test("unreadable files are named", async () => {
  mkdirSync(join(folder, "empty"));

  expect((await run(["-f", "@nowhere.yaml", "--check"])).error).toBe(
    `the path ${JSON.stringify(join(folder, "nowhere.yaml"))} does not exist`.replace(`${folder}/`, ""),
  );
  expect((await run(["-f", "@empty", "--check"])).error).toBe(
    "reading empty: no file there ends in .json, .yaml, .yml; use --recursive to read subfolders",
  );
});
