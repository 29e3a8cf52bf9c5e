/**
 * What may come next on a command line that is being typed: commands, flags, choices; or what the hub has to be asked
 * for. Pure.
 *
 * The last word is the one that is being typed, empty when nothing of it is there yet. A line that makes no sense is
 * not judged: whatever may follow is offered all the same.
 */
import type { Argument, Command, Completes, Flag } from "../command.ts";
import { flagsOf } from "../parse.ts";

export interface Candidate {
  value: string;
  /** What shells that can show it show beside it. */
  says?: string;
}

/** The value of a flag or an argument that is not known here. */
export interface Wanted {
  completes: Completes;
  /** What is there of it. */
  typed: string;
  /** What comes before it in the same word: `--clusters=` or nothing. */
  before: string;
  line: Line;
}

export interface Offer {
  candidates: Candidate[];
  wanted?: Wanted;
}

/** What a line says before the word that is being typed. */
export interface Line {
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
    : [...commands, { name: "help", summary: "tell more about a command" }];
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

export function readLine(flags: Record<string, Flag>, words: readonly string[]): Line {
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
  // `-nshop`: the value stands right behind the letter.
  const letter = word.startsWith("--") ? undefined : findFlag(flags, word.slice(0, 2));
  if (letter !== undefined && flags[letter]?.type !== "boolean") add(letter, word.slice(2));
}

function findFlag(flags: Record<string, Flag>, word: string): string | undefined {
  if (word.startsWith("--")) return Object.hasOwn(flags, word.slice(2)) ? word.slice(2) : undefined;
  return Object.keys(flags).find((name) => `-${flags[name]?.short ?? ""}` === word && word !== "-");
}

/** Those that were given already are not offered again, unless they may be repeated. */
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

/** `all|A,B` and `wide|name|jsonpath=EXPRESSION` name words among other things. */
const choicesIn = (value = ""): string[] =>
  value.includes("|") ? value.split("|").flatMap((part) => /^[a-z][a-z-]*=?/.exec(part)?.[0] ?? []) : [];

function completesBy({ value, short }: Partial<Flag>): Completes | undefined {
  if (value === "FILE") return "file";
  if (value === "DIR") return "directory";
  return value === "NS" && short === "n" ? "namespace" : undefined;
}
