import { expect, test } from "vitest";
import { findLeaks } from "./determinism.ts";

const found = (path: string, text: string): string[] =>
  findLeaks({ path, text }).map(({ line, name }) => `${line} ${name}`);
const PRODUCT = "packages/flotilla/src/propagation/some.ts";

const cases: Record<string, { text: string; want: string[] }> = {
  "finds the clock of the machine": {
    text: "const a = Date.now();\nconst b = new Date();\nconst c = performance.now();\n",
    want: ["1 Date.now", "2 new Date()", "3 performance.now"],
  },
  "accepts a date of a given time": { text: "const a = new Date(ms).toISOString();\n", want: [] },
  "finds timers and chance": {
    text: "setTimeout(run, 5);\nconst a = Math.random();\nconst b = randomUUID();\n",
    want: ["1 setTimeout", "2 Math.random", "3 random of node:crypto"],
  },
  "accepts a turn of the event loop, which takes no time of the clock": {
    text: 'import { setImmediate } from "node:timers/promises";\nawait setImmediate();\n',
    want: [],
  },
  "finds modules of the disk and of the network, and not their types": {
    text:
      'import { readFileSync } from "node:fs";\n' +
      'import type { Socket } from "node:net";\n' +
      'import { isIP } from "node:net";\n' +
      'import http2 from "node:http2";\n',
    want: ["1 node:fs", "4 node:http2"],
  },
  "ignores comments": { text: "// Date.now() is the machine's\n", want: [] },
};
for (const [behaviour, { text, want }] of Object.entries(cases))
  test(behaviour, () => {
    expect(found(PRODUCT, text)).toEqual(want);
  });

test("tests, and packages at the edge, may use them", () => {
  const text = "const a = Date.now();\n";

  expect(found("packages/flotilla/src/some.test.ts", text)).toEqual([]);
  expect(found("packages/cli/src/some.ts", text)).toEqual([]);
});
