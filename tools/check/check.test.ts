import { describe, expect, test } from "vitest";
import { checkLayers } from "./layers.ts";
import { checkTidy } from "./tidy.ts";

const file = (path: string, text: string) => ({ path, text });

describe("layers", () => {
  const cases: Record<string, { path: string; text: string; want: string[] }> = {
    "an import of a lower directory through its index is allowed": {
      path: "packages/apiserver/src/store/a.ts",
      text: 'import { x } from "../base/index.ts";\n',
      want: [],
    },
    "an import of a higher directory is reported": {
      path: "packages/base/src/a.ts",
      text: 'import { x } from "../api/index.ts";\n',
      want: ["packages/base/src/a.ts: base may not import api (tools/layers.ts)"],
    },
    "an import that bypasses the index is reported": {
      path: "packages/apiserver/src/store/a.ts",
      text: 'import { x } from "../base/json.ts";\n',
      want: [
        "packages/apiserver/src/store/a.ts: imports packages/base/src/json.ts; import other directories through their index.ts",
      ],
    },
    "a stage that imports another is reported": {
      path: "packages/flotilla/src/propagation/match/a.ts",
      text: 'import { x } from "../schedule/assign.ts";\n',
      want: [
        "packages/flotilla/src/propagation/match/a.ts: the stage match may not import the stage schedule (packages/flotilla/src/propagation/schedule/assign.ts)",
      ],
    },
    "dispatch may import the pure functions of override": {
      path: "packages/flotilla/src/propagation/dispatch/a.ts",
      text: 'import { x } from "../override/plan-overrides.ts";\n',
      want: [],
    },
    "a directory missing from the table is reported": {
      path: "src/novelty/a.ts",
      text: 'import { x } from "../base/index.ts";\n',
      want: ["src/novelty/a.ts: the directory novelty is missing from tools/layers.ts"],
    },
  };
  for (const [behaviour, { path, text, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(checkLayers([file(path, text)])).toEqual(want);
    });
  }
});

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
