/**
 * Parses a documentation page into the steps of a reader, in order: files to write, commands to run with their expected
 * output, and manifests that are only shown. CONTRIBUTING.md ("Write a page") documents the convention. Pure.
 */
import { splitCommands } from "./split-commands.ts";
import type { ShellCommand } from "./split-commands.ts";

export interface Page {
  /** Flags of the page's fleet; undefined if the page needs none. */
  fleet: readonly string[] | undefined;
  steps: readonly Step[];
  /** Errors in the page itself. */
  mistakes: readonly { line: number; message: string }[];
}

/** Lines are those of the page, counted from 1. */
export type Step =
  | { type: "commands"; line: number; commands: readonly ShellCommand[]; expected?: readonly string[] }
  | { type: "file"; line: number; name: string; text: string }
  | { type: "illustration"; line: number; text: string }
  | { type: "skipped"; line: number; reason: string };

const DEFAULT_FLEET: readonly string[] = ["--members", "3"];

interface Block {
  line: number;
  language: string;
  name: string;
  lines: string[];
  notRun?: string;
  /** Only empty lines separate it from the previous block. */
  follows: boolean;
}

export function parsePage(markdown: string): Page {
  const { blocks, fleet, mistakes } = readBlocks(markdown);
  const steps: Step[] = [];
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1];
    const step = toStep(block, mistakes);
    if (step) steps.push(step);
    if (block.language !== "text" || !block.follows || before?.language !== "sh" || before.notRun !== undefined)
      continue;
    const last = steps.at(-1);
    if (last?.type === "commands") last.expected = block.lines;
  }
  return { fleet, steps, mistakes };
}

function toStep(
  block: Block,
  mistakes: Page["mistakes"][number][],
): (Step & { expected?: readonly string[] }) | undefined {
  const { line, language, name, lines, notRun } = block;
  const complain = (message: string): undefined => void mistakes.push({ line, message });
  if (notRun !== undefined)
    return notRun === "" ? complain("says 'not run' and not why") : { type: "skipped", line, reason: notRun };
  if (name !== "")
    return isInside(name)
      ? { type: "file", line, name, text: `${lines.join("\n")}\n` }
      : complain(`names the file ${name}, which is not in the reader's folder`);
  if (language === "sh") return { type: "commands", line: line + 1, commands: splitCommands(lines) };
  if (["bash", "shell", "console", "zsh"].includes(language))
    return complain(`is a block of ${language}; commands are written in sh blocks, where they are run`);
  if (language === "text" && lines.some((text) => text.startsWith("$ ")))
    return complain("shows a command in a text block; commands are written in sh blocks, where they are run");
  if (language === "yaml") return { type: "illustration", line, text: `${lines.join("\n")}\n` };
  return undefined;
}

function isInside(name: string): boolean {
  return !name.startsWith("/") && !name.split("/").includes("..");
}

function readBlocks(markdown: string): { blocks: Block[]; fleet: Page["fleet"]; mistakes: Page["mistakes"][number][] } {
  const blocks: Block[] = [];
  const mistakes: Page["mistakes"][number][] = [];
  let fleet: Page["fleet"] = DEFAULT_FLEET;
  let open: (Block & { fence: string; indent: number }) | undefined;
  let notRun: string | undefined;
  let follows = false;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (open) {
      if (line.trim() === open.fence) {
        const { fence: _fence, indent: _indent, ...block } = open;
        blocks.push(block);
        open = undefined;
        follows = true;
      } else {
        open.lines.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)));
      }
      continue;
    }
    const fence = /^(\s*)(`{3,})([\w+-]*)[ \t]*(.*)$/.exec(line);
    if (fence) {
      const [, indent = "", ticks = "", language = "", name = ""] = fence;
      open = {
        line: index + 1,
        language,
        name: name.trim(),
        lines: [],
        follows,
        fence: ticks,
        indent: indent.length,
        notRun,
      };
      notRun = undefined;
      continue;
    }
    if (line.trim() === "") continue;
    follows = false;
    const remark = /^<!--\s*(fleet|not run)\b:?\s*(.*?)\s*-->$/.exec(line.trim());
    if (notRun !== undefined)
      mistakes.push({ line: index, message: "says 'not run' of no block: the block must follow at once" });
    notRun = undefined;
    if (remark?.[1] === "not run") notRun = remark[2] ?? "";
    if (remark?.[1] !== "fleet") continue;
    if (blocks.length > 0)
      mistakes.push({ line: index + 1, message: "says with which fleet the page runs after its first block" });
    fleet = remark[2] === "none" ? undefined : (remark[2] ?? "").split(/\s+/).filter((word) => word !== "");
  }
  if (open) mistakes.push({ line: open.line, message: "opens a block that does not end" });
  return { blocks, fleet, mistakes };
}
