import { globSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commands, flagsOf } from "@flotilla/cli";
import { inlineCommands } from "./inline-commands.ts";
import { readPage } from "./pages.ts";
import { CHECKOUT } from "./workspace.ts";

describe("parsing inline commands", () => {
  test("finds a command with its name and flags outside of code blocks", () => {
    const found = inlineCommands(
      "Ask `flotilla why KIND/NAME` or `kubectl flotilla plan -f FILE [--without-cluster=NAME]`.\n" +
        "```sh\n" +
        "flotilla no\n" +
        "```\n" +
        "`bin/flotilla up --members 2\\|--pull all`",
    );

    expect(found.map(({ line, name, flags }) => [line, name, flags])).toEqual([
      [1, "why", []],
      [1, "plan", ["without-cluster"]],
      [5, "up", ["members", "pull"]],
    ]);
  });

  test("ignores flags of the program that `flotilla exec` runs", () => {
    const [found] = inlineCommands("`flotilla exec web-1 --clusters member1 -- ls --color`");

    expect(found?.flags).toEqual(["clusters"]);
  });
});

describe("the pages", () => {
  /** Placeholders for any command, and words that are not in the command list. */
  const NO_COMMANDS = new Set(["COMMAND", "CMD", "…", "help"]);
  // Decision records and the changelog describe the past.
  const pages = globSync(["*.md", "docs/**/*.md", "examples/**/*.md"], {
    cwd: CHECKOUT,
    exclude: ["docs/adr/**", "CHANGELOG.md"],
  }).toSorted();

  test("mention only existing commands and flags", async () => {
    const known = new Map(
      await Promise.all(commands.map(async ({ name, load }) => [name, flagsOf(await load())] as const)),
    );

    const wrong = pages.flatMap((page) =>
      inlineCommands(readPage(page))
        .filter(({ name }) => !NO_COMMANDS.has(name))
        .filter(
          ({ name, flags }) => !known.has(name) || flags.some((flag) => !Object.hasOwn(known.get(name) ?? {}, flag)),
        )
        .map(({ line, text }) => `${page}:${line}: ${text}`),
    );

    expect(wrong).toEqual([]);
  });
});
