import { describe, expect, test } from "vitest";
import { UsageError } from "../base/index.ts";
import { defineCommand } from "./command.ts";
import { renderHelp, renderOverview } from "./help.ts";
import { parseCommandLine } from "./parse.ts";

const command = defineCommand({
  name: "sail",
  summary: "go somewhere",
  example: ["flotilla sail oslo --crew 3"],
  args: [
    { name: "PORT", description: "where to go", required: true },
    { name: "VIA", description: "on the way", required: false },
  ],
  flags: {
    crew: { type: "integer", short: "c", default: 2, minimum: 1, maximum: 10, description: "how many hands" },
    rig: { type: "string", choices: ["sloop", "ketch"], default: "sloop", description: "what ship" },
    draught: { type: "number", default: 1.5, maximum: 9, description: "how deep" },
    log: { type: "string", value: "FILE", description: "where to write the log" },
    night: { type: "boolean", description: "also at night" },
  },
  run: () => Promise.resolve(),
});

test("flags have their values or defaults, in any order with the arguments", () => {
  const { args, flags, format, help } = parseCommandLine(command, ["--night", "oslo", "-c", "3", "--draught", "0.25", "bergen", "-o", "json"]);

  expect(args).toEqual(["oslo", "bergen"]);
  expect(flags).toMatchObject({ crew: 3, draught: 0.25, rig: "sloop", log: undefined, night: true });
  expect(format).toBe("json");
  expect(help).toBe(false);
});

test("a flag and the last argument may stand for many where the command says so", () => {
  const many = defineCommand({ ...command, args: [{ name: "PORT", description: "where to go", required: false, repeated: true }], flags: { crew: { type: "string", short: "c", repeated: true, description: "who comes" } } });

  expect(parseCommandLine(many, ["oslo", "-c", "ann", "bergen", "--crew", "-"])).toMatchObject({ args: ["oslo", "bergen"], flags: { crew: ["ann", "-"] } });
  expect(parseCommandLine(many, []).flags["crew"]).toEqual([]);
  expect(renderHelp(many)).toContain("Usage: flotilla sail [PORT...] [flags]");
});

const wrong: Record<string, { argv: string[]; want: string }> = {
  "an argument is missing": { argv: [], want: "PORT is missing: where to go" },
  "there is an argument too many": { argv: ["a", "b", "c"], want: "does not know what to do with 'c'" },
  "a flag is unknown": { argv: ["oslo", "--speed", "9"], want: "Unknown option '--speed'" },
  "a number is no number": { argv: ["oslo", "--crew", "many"], want: "--crew is a whole number from 1 to 10, not 'many'" },
  "a number is out of range": { argv: ["oslo", "--crew", "11"], want: "--crew is a whole number from 1 to 10, not '11'" },
  "a number is below zero": { argv: ["oslo", "--crew", "-1"], want: "--crew is a whole number from 1 to 10, not '-1'" },
  "a number is below zero behind a letter": { argv: ["oslo", "-c", "-1"], want: "--crew is a whole number from 1 to 10, not '-1'" },
  "a number with a fraction is below zero": { argv: ["oslo", "--draught", "-0.5"], want: "--draught is a number from 0 to 9, not '-0.5'" },
  "a number is without end": { argv: ["oslo", "--draught", "Infinity"], want: "--draught is a number from 0 to 9, not 'Infinity'" },
  "a choice is none": { argv: ["oslo", "--rig", "raft"], want: "--rig is one of sloop, ketch, not 'raft'" },
  "the output format is none": { argv: ["oslo", "-o", "xml"], want: "--output is one of table, json, yaml, not 'xml'" },
};
describe("wrong usage is explained when", () => {
  for (const [mistake, { argv, want }] of Object.entries(wrong)) {
    test(mistake, () => {
      expect(() => parseCommandLine(command, argv)).toThrow(UsageError);
      expect(() => parseCommandLine(command, argv)).toThrow(want);
    });
  }
});

test("help is given also where arguments are missing, and lists what the command declares", () => {
  expect(parseCommandLine(command, ["--help"]).help).toBe(true);
  expect(renderHelp(command)).toBe(
    [
      "Go somewhere.",
      "",
      "Usage: flotilla sail PORT [VIA] [flags]",
      "",
      "Arguments:",
      "  PORT   where to go",
      "  VIA    on the way",
      "",
      "Flags:",
      "  -c, --crew N                   how many hands (default 2)",
      "  --rig sloop|ketch              what ship (default sloop)",
      "  --draught N                    how deep (default 1.5)",
      "  --log FILE                     where to write the log",
      "  --night                        also at night",
      "  -o, --output table|json|yaml   how to print the result (default table)",
      "  -h, --help                     show this help",
      "",
      "Examples:",
      "  flotilla sail oslo --crew 3",
    ].join("\n"),
  );
});

test("the overview lists every command", () => {
  expect(renderOverview([{ name: "up", summary: "start" }, { name: "version", summary: "print" }])).toContain("  up        start\n  version   print\n");
});
