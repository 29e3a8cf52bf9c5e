/**
 * Renders help texts from the commands' declarations, for any page width. Pure.
 *
 * They are written for `flotilla`; when it runs as a kubectl plugin, every command in them is prefixed accordingly.
 */
import { SECTIONS } from "./command.ts";
import type { Argument, Command, CommandEntry, Example, Flag } from "./command.ts";
import { commands as known } from "./commands.ts";
import { plain } from "./paint.ts";
import type { Paint } from "./paint.ts";
import { flagsOf } from "./parse.ts";
import { displayWidth, padTo, wrapCommand, wrapWords } from "./text-layout.ts";

export interface HelpPage {
  /** The program name: `flotilla`, or `kubectl flotilla`. */
  program: string;
  width: number;
  paint: Paint;
}

export const PROGRAM = "flotilla";
const PAGE: HelpPage = { program: PROGRAM, width: 80, paint: plain };
/** Longer left columns go on their own line. */
const LEFT_WIDTH = 24;
const GAP = 3;

const EXIT_CODES: readonly Row[] = [
  ["0", "fine"],
  ["1", "failure; for 'flotilla plan': something would change"],
  ["2", "usage error; for 'flotilla plan': failure"],
  ["130", "interrupted by Ctrl-C (143 by SIGTERM)"],
];
const ENVIRONMENT: readonly Row[] = [
  ["KUBECONFIG", "kubeconfig of the hub, unless --kubeconfig or --data is given"],
  ["FLOTILLA_HOME", "data directory of the fleet (default ~/.flotilla)"],
  ["FLOTILLA_DEBUG", "if set, errors include a stack trace"],
  ["NO_COLOR, FORCE_COLOR", "disable colours; or force them without a terminal"],
  ["HTTPS_PROXY, NO_PROXY", "proxy settings, as for kubectl"],
  ["KUBECTL", "the kubectl binary of 'flotilla demo', 'flotilla kubectl' and -k"],
  ["KUBE_EDITOR, EDITOR", "the editor of 'flotilla edit' (default vi)"],
];

export function renderOverview(commands: readonly Omit<CommandEntry, "load">[], page: HelpPage = PAGE): string {
  const groups = SECTIONS.map((title) => ({
    title,
    rows: commands.filter(({ section }) => section === title).map(({ name, summary }): Row => [name, summary]),
  }));
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    ...paragraph(
      "Flotilla runs OpenKruise workloads, and any other Kubernetes workload, across many clusters. One " +
        "command starts a hub and simulated members to try it on: no cluster, no Docker, no root.",
      page,
    ),
    "",
    `${page.paint.bold("Usage:")} ${page.program} COMMAND [ARGUMENTS] [flags]`,
    ...groups.flatMap(({ title, rows }) => section(title, rows, page, width)),
    ...section("Exit codes", EXIT_CODES, page),
    ...section("Environment", ENVIRONMENT, page),
    ...examples(
      [
        { says: "See the whole idea in less than a minute.", run: "flotilla demo" },
        { says: "Run your own fleet, until Ctrl-C.", run: "flotilla up" },
        { says: "Show a command's flags and examples.", run: "flotilla help why" },
        { says: "Enable shell completion of commands, flags and names.", run: "source <(flotilla completion bash)" },
      ],
      page,
    ),
  ].join("\n");
}

export function renderHelp(command: Command, page: HelpPage = PAGE): string {
  const { name, summary, details, example, args } = command;
  return [
    ...paragraph(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, page),
    ...(details === undefined ? [] : ["", ...paragraph(details, page)]),
    "",
    `${page.paint.bold("Usage:")} ${usageOf(name, args, page.program, command.isVerbatim)}`,
    ...section(
      "Arguments",
      args.map((argument) => [argument.name, argument.description]),
      page,
    ),
    ...section(
      "Flags",
      Object.entries(flagsOf(command)).map(([flag, definition]) => [flagText(flag, definition), describe(definition)]),
      page,
    ),
    ...examples(example, page),
  ].join("\n");
}

/** Rewrites `flotilla …` in a text to the name under which the program was called. */
export function asCalled(text: string, program: string): string {
  return program === PROGRAM ? text : text.replaceAll(COMMAND_LINES, program);
}

const COMMAND_LINES = new RegExp(
  `(?<![\\w./-])flotilla(?= (?:${[...known.map(({ name }) => name), "help", "COMMAND"].join("|")})\\b)`,
  "g",
);

/** A verbatim command passes flags on as arguments. */
export function usageOf(name: string, args: readonly Argument[], program = PROGRAM, isVerbatim = false): string {
  return [program, name, ...args.map(argumentText), ...(isVerbatim ? [] : ["[flags]"])].join(" ");
}

function argumentText({ name, required, repeated }: Argument): string {
  const text = repeated && !name.endsWith("...") ? `${name}...` : name;
  return required ? text : `[${text}]`;
}

export function flagText(name: string, { short, type, value, choices }: Flag): string {
  const operand = type === "boolean" ? "" : ` ${value ?? choices?.join("|") ?? (type === "string" ? "TEXT" : "N")}`;
  return `${short ? `-${short}, ` : ""}--${name}${operand}`;
}

/** The values of a flag are listed here, unless its operand or its description names them. */
function describe({ description, default: fallback, value, choices = [] }: Flag): string {
  const isNamed = value === undefined || choices.every((choice) => `${value} ${description}`.includes(choice));
  const text = isNamed ? description : `${description}: ${choices.join(", ")}`;
  return fallback === undefined ? text : `${text} (default ${fallback})`;
}

type Row = readonly [left: string, right: string];

function section(title: string, rows: readonly Row[], page: HelpPage, leftWidth?: number): string[] {
  if (rows.length === 0) return [];
  const most = Math.min(LEFT_WIDTH, Math.floor(page.width / 3));
  const left = leftWidth ?? Math.min(most, Math.max(...rows.map(([text]) => displayWidth(text))));
  return ["", page.paint.bold(`${title}:`), ...rows.flatMap((row) => twoColumns(row, left, page))];
}

function twoColumns([left, right]: Row, leftWidth: number, { program, width }: HelpPage): string[] {
  const indent = " ".repeat(2 + leftWidth + GAP);
  const lines = wrapWords(asCalled(right, program), width - indent.length);
  if (displayWidth(left) > leftWidth) return [`  ${left}`, ...lines.map((line) => `${indent}${line}`)];
  return lines.map((line, index) => `${index === 0 ? padTo(`  ${left}`, indent.length) : indent}${line}`);
}

function examples(list: readonly Example[], { program, width, paint }: HelpPage): string[] {
  if (list.length === 0) return [];
  const blocks = list.map(({ says, run }) => [
    ...wrapWords(`# ${asCalled(says, program)}`, width - 2, "# ").map((line) => paint.dim(`  ${line}`)),
    wrapCommand(asCalled(run, program), width, "  "),
  ]);
  return ["", paint.bold("Examples:"), ...blocks.flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]))];
}

function paragraph(text: string, { program, width }: HelpPage): string[] {
  return asCalled(text, program)
    .split("\n")
    .flatMap((part) => wrapWords(part, width));
}
