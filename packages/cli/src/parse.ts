/** Parses a command line into a command's arguments and flags, or reports what is wrong with it. Pure. */
import { parseArgs } from "node:util";
import { didYouMean, UsageError, omitZero } from "@flotilla/base";
import type { Command, Flag } from "./command.ts";
import { FORMATS } from "./output.ts";
import type { Format } from "./output.ts";

/** Flags of every command. */
export const sharedFlags = {
  output: {
    type: "string",
    short: "o",
    value: "FORMAT",
    choices: FORMATS,
    default: "table",
    description: `output format: ${FORMATS.join(", ")}`,
  },
  "no-color": { type: "boolean", description: "disable colours" },
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
 * A command's flags and the shared ones, which come last in every help. A command with its own formats declares
 * `output` itself.
 */
export function flagsOf({
  flags,
  isVerbatim,
  hasOneFormat,
}: Pick<Command, "flags" | "isVerbatim" | "hasOneFormat">): Record<string, Flag> {
  const { output, "no-color": noColor, ...shared } = sharedFlags;
  if (isVerbatim) return shared;
  return hasOneFormat
    ? { ...flags, "no-color": noColor, ...shared }
    : { ...flags, output, "no-color": noColor, ...shared, ...flags };
}

export function parseCommandLine(command: Command, argv: readonly string[]): Parsed {
  if (command.isVerbatim) {
    const help = argv.length === 1 && ["--help", "-h"].includes(argv[0] ?? "");
    return { args: [...argv], flags: {}, format: "table", help };
  }
  const all = flagsOf(command);
  const { positionals, given } = readArguments(command, all, argv);
  const help = given.has("help");
  // With --help, other mistakes are not reported.
  const flags = help
    ? {}
    : Object.fromEntries(Object.entries(all).map(([name, flag]) => [name, valueOf(name, flag, given.get(name) ?? [])]));
  if (!help) checkArguments(command, positionals);
  return { args: positionals, flags, format: FORMATS.find((format) => format === flags["output"]) ?? "table", help };
}

interface Given {
  /** As typed: `--crew` or `-c`. */
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
      { type: type === "boolean" ? ("boolean" as const) : ("string" as const), ...omitZero({ short }) },
    ]),
  );
  // Not strict, because Node's error messages suggest nothing and do not know our flags.
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
        `unknown flag '${rawName}'${suggestFlag(rawName, flags)}; see 'flotilla ${command.name} --help'`,
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

/** Node takes any next word as the value; one that looks like a flag means that the value was forgotten. */
function checkValue(flag: Flag, rawName: string, value: string | undefined, isInline: boolean): void {
  if (flag.type === "boolean") {
    if (isInline && value !== "true" && value !== "false")
      throw new UsageError(`${rawName} is a boolean flag and takes no value ('${value}')`);
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
      `${rawName} needs a value: ` +
        (flag.value ?? flag.choices?.join("|") ?? (isNumber ? "a number" : "a text")) +
        (looksLikeFlag ? `; '${value}' looks like a flag; to pass it as the value, write ${rawName}=${value}` : ""),
    );
}

function checkArguments(command: Command, positionals: readonly string[]): void {
  const missing = command.args.find(({ required }, index) => required && positionals[index] === undefined);
  if (missing)
    throw new UsageError(`${missing.name} is required: ${missing.description}; see 'flotilla ${command.name} --help'`);
  const surplus = positionals[command.args.length];
  if (surplus !== undefined && !command.args.at(-1)?.repeated)
    throw new UsageError(
      `unexpected argument '${surplus}' for 'flotilla ${command.name}'` +
        `${takesFilesOnly(command) ? `; specify files with -f: 'flotilla ${command.name} -f ${surplus}'` : ""}; see 'flotilla ${command.name} --help'`,
    );
}

const takesFilesOnly = ({ args, flags }: Command): boolean => args.length === 0 && flags["filename"] !== undefined;

/** If a flag is given more often than allowed, the last one wins, as in kubectl. */
function valueOf(name: string, flag: Flag, given: readonly Given[]): FlagValue {
  if (flag.repeated) return given.map(({ value = "" }) => value);
  const last = given.at(-1);
  if (flag.type === "boolean") return last !== undefined && last.value !== "false";
  if (last?.value === undefined) return flag.default;
  const text = last.value;
  if (flag.choices && !flag.choices.includes(text))
    throw new UsageError(
      `--${name} must be one of ${flag.choices.join(", ")}, not '${text}'${didYouMean(text, flag.choices)}`,
    );
  if (flag.type === "string") return text;
  const number = flag.value === SECONDS ? secondsIn(text) : Number(text);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = flag;
  const isOfType = flag.type === "integer" ? Number.isInteger(number) : Number.isFinite(number);
  if (!isOfType || text.trim() === "" || number < minimum || number > maximum) {
    throw new UsageError(
      `--${name} must be a ${flag.type === "integer" ? "whole number" : "number"}` +
        `${maximum < Number.MAX_SAFE_INTEGER ? ` from ${minimum} to ${maximum}` : ` of at least ${minimum}`}, ` +
        `not '${text}'`,
    );
  }
  return number;
}

/** The values of flags that count seconds may also have a unit. */
const SECONDS = "SECONDS";
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** `90`, `90s` and `5m`, as durations elsewhere. */
function secondsIn(text: string): number {
  const [, count, unit = ""] = /^(\d+)([smh])$/.exec(text) ?? [];
  return count === undefined ? Number(text) : Number(count) * (UNITS[unit] ?? Number.NaN);
}

/** Whether `-o json` was requested, even on an invalid command line. */
export function asksForJson(argv: readonly string[]): boolean {
  return argv.some(
    (word, index) =>
      /^(-o=?|--output=)json$/.test(word) || ((word === "-o" || word === "--output") && argv[index + 1] === "json"),
  );
}
