/** Turns a command line into a command's arguments and flags, or says what is wrong with it. Pure. */
import { parseArgs } from "node:util";
import { UsageError } from "../base/index.ts";
import type { Command, Flag } from "./command.ts";
import { FORMATS } from "./output.ts";
import type { Format } from "./output.ts";

/** Flags that every command has. */
export const sharedFlags = {
  output: { type: "string", short: "o", value: FORMATS.join("|"), choices: FORMATS, default: "table", description: "how to print the result" },
  help: { type: "boolean", short: "h", description: "show this help" },
} as const satisfies Record<string, Flag>;

type FlagValue = string | number | boolean | readonly string[] | undefined;
type Given = string | boolean | (string | boolean)[] | undefined;

export interface Parsed {
  args: string[];
  flags: Record<string, FlagValue>;
  format: Format;
  help: boolean;
}

export function parseCommandLine(command: Command, argv: readonly string[]): Parsed {
  const all: Record<string, Flag> = { ...command.flags, ...sharedFlags };
  const { positionals, values } = readArguments(command, all, argv);
  const flags = Object.fromEntries(Object.entries(all).map(([name, flag]) => [name, valueOf(name, flag, values[name])]));
  const help = flags["help"] === true;
  if (!help) checkArguments(command, positionals);
  return { args: positionals, flags, format: flags["output"] as Format, help };
}

function readArguments(command: Command, flags: Record<string, Flag>, argv: readonly string[]): { positionals: string[]; values: Record<string, Given> } {
  const options = Object.fromEntries(Object.entries(flags).map(([name, { type, short, repeated }]) => [name, { type: type === "boolean" ? ("boolean" as const) : ("string" as const), ...(short && { short }), ...(repeated && { multiple: true }) }]));
  try {
    const { positionals, values } = parseArgs({ args: withNegatives(flags, argv), options, allowPositionals: true });
    return { positionals, values: values };
  } catch (error) {
    // Node explains itself over several lines; the first says what is wrong.
    const [text] = (error instanceof Error ? error.message : String(error)).split(/[.\n]\s/);
    throw new UsageError(`${text}; see 'flotilla ${command.name} --help'`);
  }
}

/** Node takes `-1` for an option of its own; behind a flag for numbers it is a number, though perhaps a wrong one. */
function withNegatives(flags: Record<string, Flag>, argv: readonly string[]): string[] {
  const joints = new Map<string, string>(Object.entries(flags).flatMap(([name, { type, short }]) => (type === "integer" || type === "number" ? [[`--${name}`, "="] as const, ...(short ? [[`-${short}`, ""] as const] : [])] : [])));
  const args: string[] = [];
  for (const word of argv) {
    const joint = /^-\d/.test(word) ? joints.get(args.at(-1) ?? "") : undefined;
    args.push(joint === undefined ? word : `${args.pop() ?? ""}${joint}${word}`);
  }
  return args;
}

function checkArguments(command: Command, positionals: readonly string[]): void {
  const missing = command.args.find(({ required }, index) => required && positionals[index] === undefined);
  if (missing) throw new UsageError(`${missing.name} is missing: ${missing.description}; see 'flotilla ${command.name} --help'`);
  const surplus = positionals[command.args.length];
  if (surplus !== undefined && !command.args.at(-1)?.repeated) throw new UsageError(`'flotilla ${command.name}' does not know what to do with '${surplus}'; see 'flotilla ${command.name} --help'`);
}

function valueOf(name: string, flag: Flag, given: Given): FlagValue {
  if (flag.repeated) return Array.isArray(given) ? given.map(String) : [];
  if (flag.type === "boolean") return given === true;
  if (given === undefined) return flag.default;
  const text = String(given);
  if (flag.choices && !flag.choices.includes(text)) throw new UsageError(`--${name} is one of ${flag.choices.join(", ")}, not '${text}'`);
  if (flag.type === "string") return text;
  const number = Number(text);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = flag;
  const isOfType = flag.type === "integer" ? Number.isInteger(number) : Number.isFinite(number);
  if (!isOfType || text.trim() === "" || number < minimum || number > maximum) {
    throw new UsageError(`--${name} is a ${flag.type === "integer" ? "whole number" : "number"}${maximum < Number.MAX_SAFE_INTEGER ? ` from ${minimum} to ${maximum}` : ` of at least ${minimum}`}, not '${text}'`);
  }
  return number;
}
