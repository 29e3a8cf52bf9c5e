import { describe, expect, test } from "vitest";
import { checkLayers } from "./layers.ts";
import { checkTidy } from "./tidy.ts";
import { checkWireNames } from "./wire-names.ts";

const file = (path: string, text: string) => ({ path, text });

describe("layers", () => {
  const cases: Record<string, { path: string; text: string; want: string[] }> = {
    "a package may import a lower one by name": {
      path: "packages/client/src/a.ts",
      text: 'import { x } from "@flotilla/base";\n',
      want: [],
    },
    "an import that the table does not allow is reported": {
      path: "packages/base/src/a.ts",
      text: 'import { x } from "@flotilla/client";\n',
      want: ["packages/base/src/a.ts: base may not import client (tools/layers.ts)"],
    },
    "an import that bypasses the index of a package is reported": {
      path: "packages/client/src/a.ts",
      text: 'import { x } from "@flotilla/base/json.ts";\n',
      want: [
        "packages/client/src/a.ts: imports @flotilla/base/json.ts; other packages are imported through their index.ts",
      ],
    },
    "a relative import of another package is reported": {
      path: "packages/client/src/a.ts",
      text: 'import { x } from "../../base/src/json.ts";\n',
      want: ["packages/client/src/a.ts: imports packages/base/src/json.ts; import other packages by name"],
    },
    "product code that imports or exports a test helper is reported": {
      path: "packages/client/src/index.ts",
      text: 'export { makeReview } from "./test-review.ts";\n',
      want: ["packages/client/src/index.ts: imports packages/client/src/test-review.ts, which is for tests"],
    },
    "a stage that imports another stage is reported": {
      path: "packages/flotilla/src/propagation/match/a.ts",
      text: 'import { x } from "../schedule/b.ts";\n',
      want: [
        "packages/flotilla/src/propagation/match/a.ts: the stage match may not import the stage schedule (packages/flotilla/src/propagation/schedule/b.ts)",
      ],
    },
    "a stage may import pure functions where the table allows it": {
      path: "packages/flotilla/src/propagation/dispatch/a.ts",
      text: 'import { x } from "../override/b.ts";\n',
      want: [],
    },
    "a stage may import what several stages use": {
      path: "packages/flotilla/src/propagation/dispatch/a.ts",
      text: 'import { x } from "../bindings/b.ts";\n',
      want: [],
    },
    "what several stages use may not import a stage": {
      path: "packages/flotilla/src/propagation/bindings/a.ts",
      text: 'import { x } from "../dispatch/b.ts";\n',
      want: [
        "packages/flotilla/src/propagation/bindings/a.ts: the subject bindings may not import the stage " +
          "dispatch (packages/flotilla/src/propagation/dispatch/b.ts)",
      ],
    },
    "product code that imports the package of test harnesses is reported": {
      path: "packages/server/src/hub.ts",
      text: 'import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";\n',
      want: ["packages/server/src/hub.ts: imports @flotilla/testing/fleet/fleet.ts, which is for tests"],
    },
    "a view of the web UI that imports another package is reported": {
      path: "packages/web/ui/views/a.tsx",
      text: 'import { x } from "@flotilla/server";\n',
      want: ["packages/web/ui/views/a.tsx: web may not import server (tools/layers.ts)"],
    },
    "a package missing from the table is reported": {
      path: "packages/novelty/src/a.ts",
      text: 'import { x } from "@flotilla/base";\n',
      want: ["packages/novelty/src/a.ts: the package novelty is missing from tools/layers.ts"],
    },
    "tests may import what tests share": {
      path: "packages/base/src/a.test.ts",
      text: 'import { x } from "@flotilla/testing/builders.ts";\n',
      want: [],
    },
  };
  for (const [behaviour, { path, text, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(checkLayers([file(path, text)])).toEqual(want);
    });
  }

  test("a cycle between two packages is reported", () => {
    const findings = checkLayers([
      file("packages/server/src/b.ts", 'import { x } from "@flotilla/cli";\n'),
      file("packages/cli/src/c.ts", 'import { x } from "@flotilla/server";\n'),
    ]);

    expect(findings).toContain("cycle between packages: cli -> server -> cli");
  });

  test("a cycle between two folders of a package is reported with an example", () => {
    const findings = checkLayers([
      file("packages/client/src/one/a.ts", 'import { x } from "../two/b.ts";\n'),
      file("packages/client/src/two/b.ts", 'import { x } from "../one/a.ts";\n'),
    ]);

    expect(findings).toEqual([
      "cycle between folders: client/two/ -> client/one/ -> client/two/ (for example packages/client/src/two/b.ts -> packages/client/src/one/a.ts)",
    ]);
  });
});

describe("cycles through files beside the folders", () => {
  test("a view of the web UI and the frame that import each other are reported", () => {
    const findings = checkLayers([
      file("packages/web/ui/views/a.tsx", 'import type { ViewProps } from "../app.tsx";\n'),
      file("packages/web/ui/app.tsx", 'import { View } from "./views/a.tsx";\n'),
    ]);

    expect(findings).toEqual([
      "cycle between folders: web/ui/app.tsx -> web/ui/views/ -> web/ui/app.tsx (for example packages/web/ui/app.tsx -> packages/web/ui/views/a.tsx)",
    ]);
  });

  describe("an import of a test", () => {
    const manifest = file(
      "packages/flotilla/package.json",
      '{ "dependencies": { "@flotilla/base": "0.1.0" }, "devDependencies": { "@flotilla/testing": "0.1.0" } }\n',
    );

    test("is reported if the package.json does not declare the package, by name or by path", () => {
      const findings = checkLayers([
        manifest,
        file(
          "packages/flotilla/src/a.test.ts",
          'import { work } from "@flotilla/ocm";\nimport { makeReview } from "../../apimachinery/src/kind/test-review.ts";\n',
        ),
      ]);

      expect(findings).toEqual(
        ["ocm", "apimachinery"].map(
          (name) =>
            `packages/flotilla/src/a.test.ts: imports @flotilla/${name}, which packages/flotilla/package.json does not declare`,
        ),
      );
    });

    test("is reported if it points upwards, also if it is declared", () => {
      const findings = checkLayers([
        file("packages/apiserver/package.json", '{ "devDependencies": { "@flotilla/server": "0.1.0" } }\n'),
        file("packages/apiserver/src/test-server.ts", 'import { kindAdmissions } from "@flotilla/server";\n'),
      ]);

      expect(findings).toEqual([
        "packages/apiserver/src/test-server.ts: a test of apiserver imports server, which builds on it or beside it; see testImports in tools/layers.ts",
      ]);
    });

    test.each([
      'const { run } = await import("@flotilla/server");',
      'vi.mock("@flotilla/server", () => ({}));',
      'const server = await vi.importActual("@flotilla/server");',
      'const server = await vi.importActual<typeof import("@flotilla/server")>("@flotilla/server");',
      'const server = await vi.importActual<Server>(\n  "../../server/src/index.ts",\n);',
      'const path = import.meta.resolve("@flotilla/server");',
      'const server = require("@flotilla/server");',
    ])("is reported as `%s`", (text) => {
      expect(checkLayers([file("packages/apiserver/src/a.test.ts", text)])).toEqual([
        "packages/apiserver/src/a.test.ts: a test of apiserver imports server, which builds on it or beside it; see testImports in tools/layers.ts",
      ]);
    });

    test("passes if it is declared, also for tests alone, or is a file of its package", () => {
      const findings = checkLayers([
        manifest,
        file(
          "packages/flotilla/src/a.test.ts",
          'import { x } from "@flotilla/base";\nimport { y } from "@flotilla/testing/y.ts";\nimport { z } from "./z.ts";\n',
        ),
      ]);

      expect(findings).toEqual([]);
    });
  });

  test("a folder and a file that import each other are reported", () => {
    const findings = checkLayers([
      file("packages/client/src/one/a.ts", 'import { x } from "../b.ts";\n'),
      file("packages/client/src/b.ts", 'import { x } from "./one/a.ts";\n'),
    ]);

    expect(findings).toHaveLength(1);
  });

  test("two files of a folder that import each other's types are reported", () => {
    const findings = checkLayers([
      file("packages/client/src/a.ts", 'import type { X } from "./b.ts";\n'),
      file("packages/client/src/b.ts", 'import { x } from "./a.ts";\n'),
    ]);

    expect(findings).toEqual([
      "cycle between files: packages/client/src/b.ts -> packages/client/src/a.ts -> packages/client/src/b.ts",
    ]);
  });

  test("a cycle between folders of a folder is reported", () => {
    const findings = checkLayers([
      file("packages/client/src/deep/one/a.ts", 'import { x } from "../two/b.ts";\n'),
      file("packages/client/src/deep/two/b.ts", 'import { x } from "../one/a.ts";\n'),
    ]);

    expect(findings).toHaveLength(1);
  });

  test("a registry may load lazily what imports it", () => {
    const findings = checkLayers([
      file("packages/client/src/one/a.ts", 'import { x } from "../b.ts";\n'),
      file("packages/client/src/b.ts", 'const load = () => import("./one/a.ts");\n'),
    ]);

    expect(findings).toEqual([]);
  });
});

/** A case: the rule finds this spread. */
function spreads(
  what: string,
  text: string,
  found: string,
): Record<string, { path: string; text: string; want: string[] }> {
  const want = [
    `packages/base/src/a.ts has the conditional spread ${found}: an optional field may be undefined; where it must be ` +
      "absent, spread defined({ … }), omitZero({ … }) or omitEmpty({ … }), or a function that returns no fields",
  ];
  return { [`a conditional spread of ${what}`]: { path: "packages/base/src/a.ts", text: `${text}\n`, want } };
}

describe("tidy rules", () => {
  const cases: Record<string, { path: string; text: string; want: string[] }> = {
    "a valid file": { path: "packages/base/src/good-name.ts", text: "export const x = 1;\n", want: [] },
    "a file that is too long": {
      path: "packages/base/src/a.ts",
      text: "x\n".repeat(501),
      want: ["packages/base/src/a.ts has 501 lines; a file above 500 lines usually contains two ideas"],
    },
    "a generic file name": {
      path: "packages/base/src/utils.ts",
      text: "\n",
      want: ["packages/base/src/utils.ts has a generic name; name it after its idea"],
    },
    "a name that is not kebab-case": {
      path: "packages/base/src/BadName.ts",
      text: "\n",
      want: ["packages/base/src/BadName.ts is not kebab-case.ts"],
    },
    "a unit test that starts a simulated member": {
      path: "packages/base/src/a.test.ts",
      text: 'import { startTestMember } from "@flotilla/testing/member/member.ts";\n',
      want: [
        "packages/base/src/a.test.ts is a unit test that starts members, a fleet, a server or a process; name " +
          "it NAME.simulation.test.ts, NAME.contract.test.ts or NAME.e2e.test.ts",
      ],
    },
    "a unit test that listens on a port": {
      path: "packages/base/src/a.test.ts",
      text: 'import { connect, createServer } from "node:net";\n',
      want: [
        "packages/base/src/a.test.ts is a unit test that starts members, a fleet, a server or a process; name " +
          "it NAME.simulation.test.ts, NAME.contract.test.ts or NAME.e2e.test.ts",
      ],
    },
    "a test of the simulation suite beside its file": {
      path: "packages/base/src/a.simulation.test.ts",
      text: 'import { startTestMember } from "@flotilla/testing/member/member.ts";\n',
      want: [],
    },
    "a line that is too long": {
      path: "packages/base/src/a.ts",
      text: `\nconst text = "${"x".repeat(200)}";\n`,
      want: ["packages/base/src/a.ts has more than 160 columns in line 2; break the string"],
    },
    "a long line in a test": {
      path: "test/simulation/a.test.ts",
      text: `const text = "${"x".repeat(160)}";\n`,
      want: ["test/simulation/a.test.ts has more than 160 columns in line 1; break the string"],
    },
    "a long regular expression": {
      path: "packages/base/src/a.ts",
      text: `const TEXT = /${"x".repeat(160)}/;\n`,
      want: [],
    },
    "a plain Error in a product": {
      path: "packages/base/src/a.ts",
      text: 'throw new Error("no");\n',
      want: [
        "packages/base/src/a.ts throws a plain Error: use a FlotillaError with a code of docs/reference/errors.md, or invariant(…) for a broken assumption",
      ],
    },
    "the reason of an aborted signal": {
      path: "packages/base/src/a.ts",
      text: 'stop.abort(new Error("the process stops"));\n',
      want: [],
    },
    "a swallowed error in a view of the web UI": {
      path: "packages/web/ui/views/a.tsx",
      text: "try { x(); } catch {}\n",
      want: ["packages/web/ui/views/a.tsx swallows an error"],
    },
    ...spreads("one field", "call({ ...(signal && { signal }) });", "...(signal && { signal })"),
    ...spreads(
      "one field under its own name",
      "const status = { ...(pod.phase !== undefined && { phase: pod.phase }) };",
      "...(pod.phase !== undefined && { phase: pod.phase })",
    ),
    ...spreads("one field or of nothing", "call({ ...(signal ? { signal } : {}) });", "...(signal ? { signal } : {})"),
    ...spreads(
      "several lines, with brackets in its texts",
      'const pod = {\n  ...(isOld &&\n    has(pod, ")") && { age: f("{") }),\n};',
      '...(isOld && has(pod, ")") && { age: f("{") })',
    ),
    ...spreads(
      "several fields or of undefined",
      "call({ ...(isOld ? { age: 1, name: a.name } : undefined) });",
      "...(isOld ? { age: 1, name: a.name } : undefined)",
    ),
    ...spreads("a call", "call({ ...(isOld && agesOf(pod, { max: 1 })) });", "...(isOld && agesOf(pod, { max: 1 }))"),
    ...spreads(
      "an awaited call",
      "call({ ...(isOld && isKept && (await agesOf(pod))) });",
      "...(isOld && isKept && (await agesOf(pod)))",
    ),
    ...spreads("a call or of undefined", "call({ ...(a && b ? f() : undefined) });", "...(a && b ? f() : undefined)"),
    ...spreads("undefined or of a call", "call({ ...(isOld ? undefined : f()) });", "...(isOld ? undefined : f())"),
    ...spreads("an object", "const pod = { ...(isOld && labels) };", "...(isOld && labels)"),
    "a spread of a choice between two objects with fields, or of a default, and a conditional item of a list": {
      path: "packages/base/src/a.ts",
      text:
        "const pod = { ...(isOld && isKept ? { age: 1 } : { age: 2 }), ...(given ?? { age: 3 }), ...f(a && b) };\n" +
        "const pods = [...(isOld && isKept ? [pod] : [])];\n",
      want: [],
    },
    "a swallowed error": {
      path: "packages/base/src/a.ts",
      text: "try { x(); } catch {}\n",
      want: ["packages/base/src/a.ts swallows an error"],
    },
    "a missing last line feed": {
      path: "packages/base/src/a.ts",
      text: "x",
      want: ["packages/base/src/a.ts does not end with a line feed"],
    },
  };
  for (const [behaviour, { path, text, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(checkTidy([file(path, text)])).toEqual(want);
    });
  }
});

describe("wire names", () => {
  const cases: Record<string, { files: [string, string][]; want: string[] }> = {
    "a label that two files spell is reported": {
      files: [
        ["packages/client/src/a.ts", 'const ZONE = "topology.kubernetes.io/zone";\n'],
        ["packages/cli/src/b.ts", 'labels["topology.kubernetes.io/zone"];\n'],
      ],
      want: [
        '"topology.kubernetes.io/zone" is spelled 2 times; declare it once: packages/client/src/a.ts, packages/cli/src/b.ts',
      ],
    },
    "a name of a product in the API server is reported, except of the kind that it serves itself": {
      files: [
        [
          "packages/apiserver/src/clusters/address.ts",
          '/** `flotilla.dev/address` */\nconst KEY = "flotilla.dev/address";\n',
        ],
        ["packages/apiserver/src/write/work.ts", 'if (group === "work.karmada.io") return;\n'],
        ["packages/apiserver/src/clusters/logical-cluster-kind.ts", 'const group = "flotilla.dev";\n'],
        ["packages/apiserver/src/clusters/address.test.ts", 'expect(key).toBe("flotilla.dev/address");\n'],
      ],
      want: [
        "packages/apiserver/src/clusters/address.ts: the API server knows no product; pass in the name of flotilla.dev",
        "packages/apiserver/src/write/work.ts: the API server knows no product; pass in the name of karmada.io",
      ],
    },
    "comments, versions, tests and generated tables may repeat a name": {
      files: [
        ["packages/client/src/a.ts", '/** "flotilla.dev/drift" */\nconst DRIFT = "flotilla.dev/drift";\n'],
        ["packages/client/src/b.ts", '// "flotilla.dev/drift"\nconst apiVersion = "flotilla.dev/v1alpha1";\n'],
        ["packages/client/src/c.ts", 'const apiVersion = "flotilla.dev/v1alpha1";\n'],
        ["packages/client/src/a.test.ts", 'expect(labels["flotilla.dev/drift"]).toBe("report");\n'],
        ["packages/client/src/facts/a.ts", 'const key = "flotilla.dev/drift";\n'],
      ],
      want: [],
    },
  };
  for (const [behaviour, { files, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(checkWireNames(files.map(([path, text]) => file(path, text)))).toEqual(want);
    });
  }
});
