import { describe, expect, test } from "vitest";
import { defineCommand } from "./command.ts";
import { commands } from "./commands.ts";
import { asCalled, renderHelp, renderOverview } from "./help.ts";
import { createPaint, plain } from "./paint.ts";
import { displayWidth } from "./text-layout.ts";

const sail = defineCommand({
  name: "sail",
  summary: "go somewhere",
  details: "The wind decides how fast. A harbour that is closed is waited for, unless the night comes before it opens.",
  example: [
    { says: "Go to Oslo.", run: "flotilla sail oslo --crew 3" },
    {
      says: "Go far.",
      run: "flotilla sail bergen --crew 10 --log a-file-with-a-long-name.log --night --rig ketch --draught 2",
    },
  ],
  args: [
    { name: "PORT", description: "where to go", required: true },
    { name: "VIA", description: "between", required: false, repeated: true },
  ],
  flags: {
    crew: { type: "integer", short: "c", default: 2, description: "how many hands" },
    "weather-that-is-still-good-enough": {
      type: "string",
      value: "TEXT",
      description: "when to wait in the harbour instead of going out, which 'flotilla status' does not know",
    },
  },
  run: () => Promise.resolve(),
});

test("help is generated from the command's declaration, in eighty columns", () => {
  expect(renderHelp(sail).split("\n")).toEqual([
    "Go somewhere.",
    "",
    "The wind decides how fast. A harbour that is closed is waited for, unless the",
    "night comes before it opens.",
    "",
    "Usage: flotilla sail PORT [VIA...] [flags]",
    "",
    "Arguments:",
    "  PORT   where to go",
    "  VIA    between",
    "",
    "Flags:",
    "  -c, --crew N               how many hands (default 2)",
    "  --weather-that-is-still-good-enough TEXT",
    "                             when to wait in the harbour instead of going out,",
    "                             which 'flotilla status' does not know",
    "  -o, --output FORMAT        output format: table, json, yaml (default table)",
    "  --no-color                 disable colours",
    "  -h, --help                 show this help",
    "",
    "Examples:",
    "  # Go to Oslo.",
    "  flotilla sail oslo --crew 3",
    "",
    "  # Go far.",
    "  flotilla sail bergen --crew 10 --log a-file-with-a-long-name.log --night \\",
    "      --rig ketch --draught 2",
  ]);
});

test("as a kubectl plugin, commands in the help are prefixed with kubectl, and other text is not", () => {
  expect(renderHelp(sail, { program: "kubectl flotilla", width: 80, paint: plain })).toContain(
    "which 'kubectl flotilla status' does not",
  );
  expect(asCalled("see 'flotilla up --help' of flotilla and ./flotilla up", "kubectl flotilla")).toBe(
    "see 'kubectl flotilla up --help' of flotilla and ./flotilla up",
  );
});

test("titles are highlighted when colours are enabled", () => {
  expect(renderHelp(sail, { program: "flotilla", width: 80, paint: createPaint(true) })).toContain(
    "\u001b[1mExamples:\u001b[22m",
  );
});

test("the overview lists every command once, with exit codes and variables", () => {
  const text = renderOverview(commands);

  for (const { name, summary } of commands)
    expect(text.match(new RegExp(`^  ${name} +${summary.slice(0, 20)}`, "gm"))).toHaveLength(1);
  expect(text).toMatch(/^Exit codes:$/m);
  expect(text).toMatch(/^ {2}FLOTILLA_HOME +data directory/m);
});

const pages = [
  { program: "flotilla", width: 80 },
  { program: "kubectl flotilla", width: 80 },
  { program: "flotilla", width: 60 },
  { program: "flotilla", width: 120 },
];
describe("no line is wider than the page", () => {
  for (const { program, width } of pages) {
    test(`for '${program}' in ${width} columns`, async () => {
      const page = { program, width, paint: plain };
      const texts = [
        renderOverview(commands, page),
        ...(await Promise.all(commands.map(async ({ load }) => renderHelp(await load(), page)))),
      ];

      // Unbreakable text, such as a flag with its value, may exceed a narrow page.
      const wide = texts.flatMap((text) =>
        text.split("\n").filter((line) => displayWidth(line) > width && (width >= 80 || line.trim().includes("  "))),
      );
      expect(wide).toEqual([]);
    });
  }
});

test("every command has examples: a sentence and a command line each", async () => {
  for (const { name, load } of commands) {
    const { example } = await load();

    expect(example.length, name).toBeGreaterThan(0);
    for (const { says, run } of example) {
      expect(says, name).toMatch(/^[A-Z].*[.?]$/);
      expect(run, name).toMatch(/\b(flotilla|kubectl)\b/);
    }
  }
});

test("a command that passes its arguments on lists only --help", () => {
  const command = defineCommand({ ...sail, name: "kubectl", flags: {}, isVerbatim: true });

  const help = renderHelp(command);

  expect(help).toContain("Usage: flotilla kubectl PORT [VIA...]\n");
  expect(help).toContain("Flags:\n  -h, --help   show this help\n");
});

test("a command that prints a script has no other formats", () => {
  expect(renderHelp(defineCommand({ ...sail, hasOneFormat: true }))).not.toContain("--output");
});

test("the values of a flag are listed when its operand does not name them", () => {
  const through = { type: "string", value: "API", choices: ["ocm", "karmada"], default: "ocm" } as const;
  const flags = { through: { ...through, description: "the API of joining clusters" } };

  expect(renderHelp(defineCommand({ ...sail, flags }))).toContain(
    "--through API         the API of joining clusters: ocm, karmada (default ocm)\n",
  );
});
