/** docs/reference/cli.md: the commands' own help, with notes on what a list of flags cannot explain. */
import { commands, flagText, SECTIONS, sharedFlags, usageOf } from "@flotilla/cli";
import type { Command, Flag } from "@flotilla/cli";
import { AFTERWORD, FOREWORD, commandNotes } from "./command-notes.ts";
import { code, generatedNote, page, table } from "./markdown.ts";

export async function renderCommandLine(): Promise<string> {
  const groups = SECTIONS.map((title) => ({ title, entries: commands.filter(({ section }) => section === title) }));
  const all = await Promise.all(groups.flatMap(({ entries }) => entries).map(({ load }) => load()));
  return page(
    "# The command line",
    generatedNote("the commands in `packages/cli/src/commands` and `tools/reference/command-notes.ts`"),
    FOREWORD,
    ...groups
      .filter(({ entries }) => entries.length > 0)
      .map(({ title, entries }) =>
        table(
          [title, ""],
          entries.map(({ name, summary }) => [`[\`flotilla ${name}\`](#flotilla-${name})`, summary]),
        ),
      ),
    "Every command has these flags in addition to its own, except that `kubectl` passes all but a single `--help` on, and `completion` has no `--output`:",
    flagTable(sharedFlags),
    ...all.map(renderCommand),
    AFTERWORD,
  );
}

function renderCommand(command: Command): string {
  const { name, summary, details, args, flags, example, isVerbatim } = command;
  return [
    `## flotilla ${name}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    code(usageOf(name, args, undefined, isVerbatim)),
    details,
    commandNotes[name],
    args.length > 0
      ? table(
          ["argument", ""],
          args.map((argument) => [code(argument.name), argument.description]),
        )
      : undefined,
    Object.keys(flags).length > 0 ? flagTable(flags) : undefined,
    example.length > 0
      ? [
          "```text",
          ...example.flatMap(({ says, run }, index) => [...(index > 0 ? [""] : []), `# ${says}`, run]),
          "```",
        ].join("\n")
      : undefined,
  ]
    .filter((part) => part !== undefined)
    .join("\n\n");
}

function flagTable(flags: Readonly<Record<string, Flag>>): string {
  return table(
    ["flag", "default", ""],
    Object.entries(flags).map(([name, flag]) => [
      code(flagText(name, flag)),
      flag.default === undefined || flag.default === "" ? "" : code(String(flag.default)),
      flag.description,
    ]),
  );
}
