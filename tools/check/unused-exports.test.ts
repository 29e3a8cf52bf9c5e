import { expect, test } from "vitest";
import { checkUnusedExports } from "./unused-exports.ts";

const file = (path: string, text: string) => ({ path, text });
const loader = file(
  "packages/cli/src/commands.ts",
  'const load = async () => (await import("./commands/why.ts")).whyCommand;\nload();\n',
);
const command = "export const whyCommand = 1;\n";

const cases: Record<string, { files: { path: string; text: string }[]; want: string[] }> = {
  "a name that the loading file uses is used": {
    files: [loader, file("packages/cli/src/commands/why.ts", `${command}whyCommand;\n`)],
    want: [],
  },
  "another export of a lazily loaded file is reported": {
    files: [
      loader,
      file("packages/cli/src/commands/why.ts", `${command}whyCommand;\nexport function lonely() {}\nlonely();\n`),
    ],
    want: ["packages/cli/src/commands/why.ts: no other file imports lonely"],
  },
  "an export of a lazily loaded file that another file imports is used": {
    files: [
      loader,
      file("packages/cli/src/commands/why.ts", `${command}whyCommand;\nexport interface Page {}\nlet p: Page;\n`),
      file("packages/cli/src/a.ts", 'import type {\n  Page,\n} from "./commands/why.ts";\nlet p: Page;\n'),
    ],
    want: [],
  },
  "an export that only a test uses is reported": {
    files: [
      file("packages/base/src/a.ts", "export function half(n: number) {\n  return n / 2;\n}\n"),
      file("packages/base/src/index.ts", 'export { half } from "./a.ts";\n'),
      file("packages/base/src/a.test.ts", 'import { half } from "./a.ts";\nhalf(2);\n'),
    ],
    want: ["packages/base/src/a.ts: only tests or tools use half"],
  },
  "an export that its own file uses as well is used": {
    files: [file("packages/base/src/a.ts", "export const half = 0.5;\nexport const whole = 2 * half;\nwhole;\n")],
    want: [],
  },
  "an export that is imported under another name is used": {
    files: [
      file("packages/base/src/a.ts", "export const half = 0.5;\n"),
      file("packages/base/src/b.ts", 'import { half as part } from "./a.ts";\npart;\n'),
    ],
    want: [],
  },
};
for (const [behaviour, { files, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(checkUnusedExports(files)).toEqual(want);
  });
}
