/** Turns a command line into a command's arguments and flags, or says what is wrong with it. Pure. */
import { parseArgs } from "node:util";
import { UsageError } from "../base/index.ts";
import type { Command, Flag } from "./command.ts";
import { didYouMean } from "./did-you-mean.ts";
import { FORMATS } from "./output.ts";
import type { Format } from "./output.ts";

/** Flags that every command has. */
export const sharedFlags = {
  output: {
    type: "string",
    short: "o",
    value: "FORMAT",
    choices: FORMATS,
    default: "table",
    description: `how to print the result: ${FORMATS.join(", ")}`,
  },
  "no-color": { type: "boolean", description: "print without colours" },
  help: { type: "boolean", short: "h", description: "show this help" },
} as const satisfies Record<string, Flag>;

type FlagValue = string | number | boolean | readonly string[] | undefined;

export interface Parsed {
  args: string[];
  flags: Record<string, FlagValue>;
  format: Format;
  help: boolean;
}

/**
 * A command's flags and the shared ones, which come last in every help. A command with formats of its own declares
 * `output` itself.
 */
export function flagsOf({ flags }: Pick<Command, "flags">): Record<string, Flag> {
  return { ...flags, ...sharedFlags, ...flags };
}

export function parseCommandLine(command: Command, argv: readonly string[]): Parsed {
  const all = flagsOf(command);
  const { positionals, given } = readArguments(command, all, argv);
  const help = given.has("help");
  // Who asks for help is not told what else is wrong.
  const flags = help
    ? {}
    : Object.fromEntries(Object.entries(all).map(([name, flag]) => [name, valueOf(name, flag, given.get(name) ?? [])]));
  if (!help) checkArguments(command, positionals);
  return { args: positionals, flags, format: FORMATS.find((format) => format === flags["output"]) ?? "table", help };
}

interface Given {
  /** As it was typed: `--crew` or `-c`. */
  rawName: string;
  value: string | undefined;
}

function readArguments(
  command: Command,
  flags: Record<string, Flag>,
  argv: readonly string[],
): { positionals: string[]; given: Map<string, Given[]> } {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type, short }]) => [
      name,
      { type: type === "boolean" ? ("boolean" as const) : ("string" as const), ...(short && { short }) },
    ]),
  );
  // Not strict, because Node's own words for what is wrong suggest nothing and know nothing of our flags.
  const { tokens } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: false, tokens: true });
  const positionals: string[] = [];
  const given = new Map<string, Given[]>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (!flag)
      throw new UsageError(
        `there is no flag '${rawName}'${suggestFlag(rawName, flags)}; see 'flotilla ${command.name} --help'`,
      );
    checkValue(flag, rawName, value, inlineValue === true);
    given.set(name, [
      ...(given.get(name) ?? []),
      { rawName, value: inlineValue && !rawName.startsWith("--") ? value?.replace(/^=/, "") : value },
    ]);
  }
  return { positionals, given };
}

function suggestFlag(rawName: string, flags: Record<string, Flag>): string {
  return rawName.startsWith("--")
    ? didYouMean(
        rawName,
        Object.keys(flags).map((name) => `--${name}`),
      )
    : "";
}

/**
 * Node takes the next word for the value whatever it is; one that looks like a flag shows that the value was forgotten.
 */
function checkValue(flag: Flag, rawName: string, value: string | undefined, isInline: boolean): void {
  if (flag.type === "boolean") {
    if (isInline && value !== "true" && value !== "false")
      throw new UsageError(`${rawName} is there or not, and takes no value such as '${value}'`);
    return;
  }
  const isNumber = flag.type !== "string";
  const looksLikeFlag =
    !isInline &&
    value !== undefined &&
    value.length > 1 &&
    value.startsWith("-") &&
    !(isNumber && /^-[\d.]/.test(value));
  if (value === undefined || looksLikeFlag)
    throw new UsageError(
      `${rawName} needs a value: ${flag.value ?? flag.choices?.join("|") ?? (isNumber ? "a number" : "a text")}${looksLikeFlag ? `; '${value}' is a flag, unless you write ${rawName}=${value}` : ""}`,
    );
}

function checkArguments(command: Command, positionals: readonly string[]): void {
  const missing = command.args.find(({ required }, index) => required && positionals[index] === undefined);
  if (missing)
    throw new UsageError(`${missing.name} is missing: ${missing.description}; see 'flotilla ${command.name} --help'`);
  const surplus = positionals[command.args.length];
  if (surplus !== undefined && !command.args.at(-1)?.repeated)
    throw new UsageError(
      `'flotilla ${command.name}' does not know what to do with '${surplus}'; see 'flotilla ${command.name} --help'`,
    );
}

/** The last one counts where a flag is given more often than it may be, as in kubectl. */
function valueOf(name: string, flag: Flag, given: readonly Given[]): FlagValue {
  if (flag.repeated) return given.map(({ value = "" }) => value);
  const last = given.at(-1);
  if (flag.type === "boolean") return last !== undefined && last.value !== "false";
  if (last?.value === undefined) return flag.default;
  const text = last.value;
  if (flag.choices && !flag.choices.includes(text))
    throw new UsageError(
      `--${name} is one of ${flag.choices.join(", ")}, not '${text}'${didYouMean(text, flag.choices)}`,
    );
  if (flag.type === "string") return text;
  const number = Number(text);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = flag;
  const isOfType = flag.type === "integer" ? Number.isInteger(number) : Number.isFinite(number);
  if (!isOfType || text.trim() === "" || number < minimum || number > maximum) {
    throw new UsageError(
      `--${name} is a ${flag.type === "integer" ? "whole number" : "number"}${maximum < Number.MAX_SAFE_INTEGER ? ` from ${minimum} to ${maximum}` : ` of at least ${minimum}`}, not '${text}'`,
    );
  }
  return number;
}

/** Whether `-o json` was asked for, also on a command line that cannot be read. */
export function asksForJson(argv: readonly string[]): boolean {
  return argv.some(
    (word, index) =>
      /^(-o=?|--output=)json$/.test(word) || ((word === "-o" || word === "--output") && argv[index + 1] === "json"),
  );
}
