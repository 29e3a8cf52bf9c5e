import { describe, expect, test } from "vitest";
import { scriptOf } from "./script.ts";

const inShell = (text: string) => scriptOf({ command: ["/bin/sh", "-c", text] });
const reported = (text: string): string[] | undefined =>
  inShell(text)?.echoes.map(({ afterMs, text: line }) => `${afterMs} ${line}`);

describe("a plain command", () => {
  const cases: Record<string, { command?: string[]; args?: string[]; runMs: number; exitCode: number }> = {
    "sleeps for seconds": { command: ["sleep", "5"], runMs: 5_000, exitCode: 0 },
    "sleeps for seconds with a unit": { command: ["/bin/sleep", "5s"], runMs: 5_000, exitCode: 0 },
    "sleeps for minutes": { command: ["sleep"], args: ["2m"], runMs: 120_000, exitCode: 0 },
    "sleeps for hours": { args: ["sleep", "1h"], runMs: 3_600_000, exitCode: 0 },
    "sleeps for a fraction of a second": { command: ["sleep", "0.25"], runMs: 250, exitCode: 0 },
    "succeeds at once": { command: ["/bin/true"], runMs: 0, exitCode: 0 },
    "fails at once": { command: ["false"], runMs: 0, exitCode: 1 },
    "exits with the given code": { command: ["sh", "-c", "exit 42"], runMs: 0, exitCode: 42 },
    "runs in bash": { command: ["/usr/bin/bash", "-c"], args: ["sleep 3; exit 2"], runMs: 3_000, exitCode: 2 },
    "runs one step after the other": {
      command: ["sh", "-c", "echo a; sleep 1 && echo 'b c' && sleep 2; true"],
      runMs: 3_000,
      exitCode: 0,
    },
    "skips steps after && when one fails": { command: ["sh", "-c", "false && sleep 10"], runMs: 0, exitCode: 1 },
    "continues after a failure": { command: ["sh", "-c", "false; sleep 10"], runMs: 10_000, exitCode: 0 },
    "stops at the first exit": { command: ["sh", "-c", "exit 3; sleep 10"], runMs: 0, exitCode: 3 },
    "returns the last exit code": { command: ["sh", "-c", "false; exit"], runMs: 0, exitCode: 1 },
    "may span several lines": {
      command: ["sh", "-c", "\necho a\n\nsleep 1 &&\n  exit 4\n"],
      runMs: 1_000,
      exitCode: 4,
    },
    "may end with a semicolon": { command: ["sh", "-c", "sleep 1;"], runMs: 1_000, exitCode: 0 },
  };
  for (const [behaviour, { runMs, exitCode, ...container }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(scriptOf(container)).toMatchObject({ runMs, exitCode });
    });
  }

  test("echoes text, each line at its time", () => {
    expect(reported(`echo hello!; sleep 2; echo "two words"   'and more' && echo; exit 1; echo never`)).toEqual([
      "0 hello!",
      "2000 two words and more",
      "2000 ",
    ]);
  });

  test("preserves quoted text", () => {
    expect(reported(`echo 'a;b && $c' "d'e"f`)).toEqual(["0 a;b && $c d'ef"]);
  });
});

describe("rejects a script with", () => {
  const texts: Record<string, string> = {
    "another program": "sleep 1; nginx",
    "a variable": "echo $HOME",
    "a variable in double quotes": 'echo "$HOME"',
    "a pipe": "echo a | cat",
    "a redirection": "echo a > /tmp/a",
    "a command in the background": "sleep 1 & exit 0",
    "an alternative": "false || exit 2",
    "a negation": "! true",
    "a loop": "while true; do sleep 1; done",
    "a subshell": "(exit 1)",
    "a comment": "exit 1 # because",
    "an escape": "echo a\\nb",
    "a glob pattern": "echo *",
    "an option of echo": "echo -n a",
    "an infinite sleep": "sleep infinity",
    "two sleep durations": "sleep 1 2",
    "an invalid exit code": "exit 256",
    "an unterminated quote": "echo 'a",
    "nothing before a separator": "; exit 1",
    "nothing after &&": "true &&",
    "nothing at all": " \n ",
    "a program that never ends": "sleep 1;".repeat(500),
  };
  for (const [what, text] of Object.entries(texts)) {
    test(what, () => {
      expect(inShell(text)).toBeUndefined();
    });
  }

  test("returns no script for a container without a command, a shell without a script, and an exit outside a shell", () => {
    expect(scriptOf({})).toBeUndefined();
    expect(scriptOf({ command: ["sh"] })).toBeUndefined();
    expect(scriptOf({ command: ["sh", "-c", "exit 1", "name"] })).toBeUndefined();
    expect(scriptOf({ command: ["exit", "1"] })).toBeUndefined();
  });
});
