import { describe, expect, test } from "vitest";
import { UsageError } from "@flotilla/base";
import { defineCommand } from "./command.ts";
import { asksForJson, parseCommandLine } from "./parse.ts";

const command = defineCommand({
  name: "sail",
  summary: "go somewhere",
  example: [{ says: "Go to Oslo.", run: "flotilla sail oslo --crew 3" }],
  args: [
    { name: "PORT", description: "where to go", required: true },
    { name: "VIA", description: "between", required: false },
  ],
  flags: {
    crew: { type: "integer", short: "c", default: 2, minimum: 1, maximum: 10, description: "how many hands" },
    rig: { type: "string", choices: ["sloop", "ketch"], default: "sloop", description: "what ship" },
    draught: { type: "number", default: 1.5, maximum: 9, description: "how deep" },
    log: { type: "string", value: "FILE", description: "where to write the log" },
    night: { type: "boolean", description: "also at night" },
    wait: { type: "integer", value: "SECONDS", default: 60, maximum: 3600, description: "how long to wait" },
  },
  run: () => Promise.resolve(),
});

test("flags get their values or defaults, in any order with the arguments", () => {
  const { args, flags, format, help } = parseCommandLine(command, [
    "--night",
    "oslo",
    "-c",
    "3",
    "--draught",
    "0.25",
    "bergen",
    "-o",
    "json",
  ]);

  expect(args).toEqual(["oslo", "bergen"]);
  expect(flags).toMatchObject({ crew: 3, draught: 0.25, rig: "sloop", log: undefined, night: true });
  expect(format).toBe("json");
  expect(help).toBe(false);
});

test("a flag and the last argument may be repeated if the command allows it", () => {
  const many = defineCommand({
    ...command,
    args: [{ name: "PORT", description: "where to go", required: false, repeated: true }],
    flags: { crew: { type: "string", short: "c", repeated: true, description: "who comes" } },
  });

  expect(parseCommandLine(many, ["oslo", "-c", "ann", "bergen", "--crew", "-"])).toMatchObject({
    args: ["oslo", "bergen"],
    flags: { crew: ["ann", "-"] },
  });
  expect(parseCommandLine(many, []).flags["crew"]).toEqual([]);
});

test("a file that is given as an argument names the flag for files", () => {
  const filename = { type: "string", short: "f", value: "FILE", description: "manifests" } as const;

  expect(() => parseCommandLine({ ...command, args: [], flags: { filename } }, ["web.yaml"])).toThrow(
    "unexpected argument 'web.yaml' for 'flotilla sail'; specify files with -f: 'flotilla sail -f web.yaml'",
  );
});

test("seconds may have a unit", () => {
  const waits = ["90", "90s", "5m", "1h"].map(
    (text) => parseCommandLine(command, ["oslo", "--wait", text]).flags["wait"],
  );

  expect(waits).toEqual([90, 90, 300, 3600]);
});

const wrong: Record<string, { argv: string[]; want: string }> = {
  "an argument is missing": { argv: [], want: "PORT is required: where to go" },
  "there are too many arguments": { argv: ["a", "b", "c"], want: "unexpected argument 'c' for 'flotilla sail'" },
  "a flag is unknown": {
    argv: ["oslo", "--speed", "9"],
    want: "unknown flag '--speed'; see 'flotilla sail --help'",
  },
  "a flag is misspelled": {
    argv: ["oslo", "--crwe", "9"],
    want: "unknown flag '--crwe' (did you mean '--crew'?); see 'flotilla sail --help'",
  },
  "a short flag is unknown": { argv: ["oslo", "-x"], want: "unknown flag '-x'; see 'flotilla sail --help'" },
  "a value is missing at the end": { argv: ["oslo", "--log"], want: "--log needs a value: FILE" },
  "a value is missing before another flag": {
    argv: ["oslo", "--log", "--night"],
    want: "--log needs a value: FILE; '--night' looks like a flag; to pass it as the value, write --log=--night",
  },
  "a boolean flag gets a value": {
    argv: ["oslo", "--night=maybe"],
    want: "--night is a boolean flag and takes no value ('maybe')",
  },
  "a number is not numeric": {
    argv: ["oslo", "--crew", "many"],
    want: "--crew must be a whole number from 1 to 10, not 'many'",
  },
  "a number of seconds with a unit is out of range": {
    argv: ["oslo", "--wait", "2h"],
    want: "--wait must be a whole number from 0 to 3600, not '2h'",
  },
  "a number is out of range": {
    argv: ["oslo", "--crew", "11"],
    want: "--crew must be a whole number from 1 to 10, not '11'",
  },
  "a number is negative": {
    argv: ["oslo", "--crew", "-1"],
    want: "--crew must be a whole number from 1 to 10, not '-1'",
  },
  "a number after a short flag is negative": {
    argv: ["oslo", "-c", "-1"],
    want: "--crew must be a whole number from 1 to 10, not '-1'",
  },
  "a fractional number is negative": {
    argv: ["oslo", "--draught", "-0.5"],
    want: "--draught must be a number from 0 to 9, not '-0.5'",
  },
  "a number is infinite": {
    argv: ["oslo", "--draught", "Infinity"],
    want: "--draught must be a number from 0 to 9, not 'Infinity'",
  },
  "a choice is unknown": { argv: ["oslo", "--rig", "raft"], want: "--rig must be one of sloop, ketch, not 'raft'" },
  "the output format is unknown": {
    argv: ["oslo", "-o", "xml"],
    want: "--output must be one of table, json, yaml, not 'xml'",
  },
};
describe("usage errors explain the mistake when", () => {
  for (const [mistake, { argv, want }] of Object.entries(wrong)) {
    test(mistake, () => {
      expect(() => parseCommandLine(command, argv)).toThrow(UsageError);
      expect(() => parseCommandLine(command, argv)).toThrow(want);
    });
  }
});

test("--help works even if arguments are missing or flags are wrong", () => {
  expect(parseCommandLine(command, ["--help"]).help).toBe(true);
  expect(parseCommandLine(command, ["--crew", "many", "-h"]).help).toBe(true);
});

test("flags are written as in kubectl", () => {
  expect(parseCommandLine(command, ["oslo", "-c=3", "--night=false", "--log=--x"]).flags).toMatchObject({
    crew: 3,
    night: false,
    log: "--x",
  });
  expect(parseCommandLine(command, ["oslo", "--crew", "3", "--crew", "4"]).flags["crew"]).toBe(4);
});

test("words after -- are not flags", () => {
  expect(parseCommandLine(command, ["oslo", "--", "--night"])).toMatchObject({
    args: ["oslo", "--night"],
    flags: { night: false },
  });
});

test("a command may define its own formats, which it prints itself", () => {
  const own = defineCommand({
    ...command,
    flags: { output: { type: "string", short: "o", value: "wide|json", default: "table", description: "how" } },
  });

  expect(parseCommandLine(own, ["oslo", "-o", "wide"])).toMatchObject({ format: "table", flags: { output: "wide" } });
  expect(parseCommandLine(own, ["oslo", "-o", "json"])).toMatchObject({ format: "json" });
});

test("-o json is recognized even on an invalid command line", () => {
  expect(
    [["-o", "json"], ["-ojson"], ["-o=json"], ["--output", "json"], ["x", "--output=json"]].map(asksForJson),
  ).toEqual([true, true, true, true, true]);
  expect([[], ["-o", "yaml"], ["json"], ["-o"]].map(asksForJson)).toEqual([false, false, false, false]);
});
