import { expect, test } from "vitest";
import { matchOutput } from "./match-output.ts";

const table = "NAME      READY   AGE\nmember1   True    20s\nmember2   False   21s\n";

const matching: Record<string, string[]> = {
  "the same text": ["NAME      READY   AGE", "member1   True    20s", "member2   False   21s"],
  "different runs of blanks": ["NAME READY AGE", "  member1   True 20s  "],
  "omitted lines": ["NAME READY AGE", "member2 False 21s"],
  "an ellipsis for a variable part": ["NAME …", "member1 True …", "member2 … 21s"],
  "an ellipsis inside of a word": ["member1 Tr… 20s"],
  "an ellipsis on its own line": ["NAME READY AGE", "…", "member2 False 21s"],
  "missing empty lines": ["NAME READY AGE", "", "member1 True 20s"],
  "an ellipsis for nothing": ["member1 True 20s …"],
};
for (const [what, expected] of Object.entries(matching)) {
  test(`${what} match`, () => {
    const match = matchOutput(expected, table);

    expect(match).toEqual({ ok: true });
  });
}

const failing: Record<string, { expected: string[]; missing: string }> = {
  "a line that was not printed": { expected: ["member3 …"], missing: "member3 …" },
  "part of a line": { expected: ["member1 True"], missing: "member1 True" },
  "the right lines in the wrong order": { expected: ["member2 …", "member1 …"], missing: "member1 …" },
  "a line that is printed once and expected twice": { expected: ["member1 …", "member1 …"], missing: "member1 …" },
  "characters with a meaning in regular expressions": { expected: ["member. True 20s"], missing: "member. True 20s" },
};
for (const [what, { expected, missing }] of Object.entries(failing)) {
  test(`${what} does not match, and the line is reported`, () => {
    const match = matchOutput(expected, table);

    expect(match).toEqual({ ok: false, missing });
  });
}
