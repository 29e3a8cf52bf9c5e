/**
 * Decides what may come next on a partial command line: commands, flags, choices, or values to query from the hub.
 * Pure.
 *
 * The last word is the one being typed, empty if it has not been started. An invalid line is not rejected; candidates
 * are offered anyway.
 */
import type { Argument, Command, Completes, Flag } from "../command.ts";
import { flagsOf } from "../parse.ts";

export interface Candidate {
  value: string;
  /** The description, for shells that show one. */
  says?: string;
}

/** A flag value or argument that must be looked up elsewhere. */
export interface Wanted {
  completes: Completes;
  /** What has been typed of it. */
  typed: string;
  /** The preceding part of the same word: `--clusters=` or empty. */
  before: string;
  line: Line;
}

export interface Offer {
  candidates: Candidate[];
  wanted?: Wanted;
}

/** The parsed words before the one being typed. */
interface Line {
  args: string[];
  flags: Map<string, string[]>;
  /** The flag whose value is being typed. */
  pending?: string;
  /** After `--` there are no flags. */
  isOver: boolean;
}

const NOTHING: Offer = { candidates: [] };

/** The first word: a command. */
export function offerCommands(commands: readonly { name: string; summary: string }[], typed: string): Candidate[] {
  const all = typed.startsWith("-")
    ? [
        { name: "--help", summary: "list the commands" },
        { name: "--version", summary: "print the version" },
      ]
    : [...commands, { name: "help", summary: "show help for a command" }];
  return all.filter(({ name }) => name.startsWith(typed)).map(({ name, summary }) => ({ value: name, says: summary }));
}

/** Every word after a command. */
export function offerFor(command: Command, words: readonly string[]): Offer {
  const flags = flagsOf(command);
  const typed = words.at(-1) ?? "";
  const line = readLine(flags, words.slice(0, -1));
  if (line.pending !== undefined) return offerValue(flags[line.pending] ?? {}, typed, "", line);
  if (!line.isOver && typed.startsWith("-")) {
    const equals = typed.indexOf("=");
    if (equals < 0) return { candidates: offerFlags(flags, typed, line) };
    const flag = findFlag(flags, typed.slice(0, equals));
    return flag === undefined
      ? NOTHING
      : offerValue(flags[flag] ?? {}, typed.slice(equals + 1), typed.slice(0, equals + 1), line);
  }
  const argument = command.args[Math.min(line.args.length, command.args.length - 1)];
  return argument === undefined || (line.args.length >= command.args.length && !argument.repeated)
    ? NOTHING
    : offerValue(argument, typed, "", line);
}

function readLine(flags: Record<string, Flag>, words: readonly string[]): Line {
  const line: Line = { args: [], flags: new Map(), isOver: false };
  const add = (flag: string, value: string): void =>
    void line.flags.set(flag, [...(line.flags.get(flag) ?? []), value]);
  for (const word of words) {
    if (line.pending !== undefined) {
      add(line.pending, word);
      delete line.pending;
    } else if (line.isOver || !word.startsWith("-") || word === "-") line.args.push(word);
    else if (word === "--") line.isOver = true;
    else readFlag(flags, word, line, add);
  }
  return line;
}

function readFlag(
  flags: Record<string, Flag>,
  word: string,
  line: Line,
  add: (flag: string, value: string) => void,
): void {
  const equals = word.indexOf("=");
  const name = findFlag(flags, equals < 0 ? word : word.slice(0, equals));
  if (name !== undefined && equals >= 0) return add(name, word.slice(equals + 1));
  if (name !== undefined) {
    if (flags[name]?.type === "boolean") add(name, "true");
    else line.pending = name;
    return;
  }
  // `-nshop`: the value is attached to the letter.
  const letter = word.startsWith("--") ? undefined : findFlag(flags, word.slice(0, 2));
  if (letter !== undefined && flags[letter]?.type !== "boolean") add(letter, word.slice(2));
}

function findFlag(flags: Record<string, Flag>, word: string): string | undefined {
  if (word.startsWith("--")) return Object.hasOwn(flags, word.slice(2)) ? word.slice(2) : undefined;
  return Object.keys(flags).find((name) => `-${flags[name]?.short ?? ""}` === word && word !== "-");
}

/** Flags that were given are not offered again, unless they may be repeated. */
function offerFlags(flags: Record<string, Flag>, typed: string, line: Line): Candidate[] {
  return Object.entries(flags)
    .filter(([name, { repeated }]) => `--${name}`.startsWith(typed) && (repeated || !line.flags.has(name)))
    .map(([name, { description }]) => ({ value: `--${name}`, says: description }));
}

function offerValue(of: Partial<Flag> | Argument, typed: string, before: string, line: Line): Offer {
  const choices = of.choices ?? ("offers" in of && of.offers ? of.offers : "value" in of ? choicesIn(of.value) : []);
  if (choices.length > 0)
    return {
      candidates: choices.filter((choice) => choice.startsWith(typed)).map((choice) => ({ value: before + choice })),
    };
  const completes = of.completes ?? ("value" in of ? completesBy(of) : undefined);
  return completes === undefined ? NOTHING : { candidates: [], wanted: { completes, typed, before, line } };
}

/** `all|A,B` and `wide|name|jsonpath=EXPRESSION` contain literal words. */
const choicesIn = (value = ""): string[] =>
  value.includes("|") ? value.split("|").flatMap((part) => /^[a-z][a-z-]*=?/.exec(part)?.[0] ?? []) : [];

function completesBy({ value, short }: Partial<Flag>): Completes | undefined {
  if (value === "FILE") return "file";
  if (value === "DIR") return "directory";
  return value === "NS" && short === "n" ? "namespace" : undefined;
}
