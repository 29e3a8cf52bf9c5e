/** The string library as Karmada offers it: `rep`, `gsub` and `dump` only raise that they are not supported. */
import { fromBytes, hasLoneBytes, toBytes } from "../byte-text.ts";
import type { LuaFunction, LuaValue } from "../values.ts";
import { NOTHING, isTrue } from "../values.ts";
import type { Arguments, LibraryFunction } from "./arguments.ts";
import { formatText } from "./format.ts";
import { PatternError, findMatches } from "./pattern.ts";
import type { Match } from "./pattern.ts";

const unsupported =
  (name: string): LibraryFunction =>
  ({ machine }) => {
    throw machine.failure(
      `The Lua function string.${name} is not supported by Karmada. If you believe this function is essential ` +
        "for your use case, please submit an issue to let us know why you need it.",
    );
  };

/** Converts Lua's index of the first byte to JavaScript's. */
function startIndex(index: number, length: number): number {
  // Go converts a non-integral number to the smallest integer, which becomes the largest when counted from 0.
  if (index === -(2 ** 63)) return Number.MAX_SAFE_INTEGER;
  const shifted = index === 0 ? 0 : index - 1;
  return Math.max(0, shifted < 0 ? length + shifted + 1 : shifted);
}

function endIndex(index: number, length: number): number {
  return Math.min(length, Math.max(0, index < 0 ? length + index + 1 : index));
}

function byte(args: Arguments): LuaValue[] {
  const bytes = args.bytes(1);
  const first = args.integer(2, 1) - 1;
  const last = args.integer(3, -1);
  const start = first < 0 ? bytes.length + first + 1 : first;
  if (args.count === 2) return start < 0 || start >= bytes.length ? NOTHING : [bytes.charCodeAt(start)];
  const end = Math.min(last < 0 ? bytes.length + last + 1 : last, bytes.length);
  const codes = Array.from(bytes.slice(Math.max(start, 0), Math.max(end, 0)), (ch) => ch.charCodeAt(0));
  args.machine.allocate(codes.length * 16);
  args.machine.charge(codes.length * 2);
  return codes;
}

function char(args: Arguments): string {
  args.machine.charge(args.count);
  let bytes = "";
  for (let n = 1; n <= args.count; n++) bytes += String.fromCharCode(args.integer(n) & 0xff);
  return args.machine.madeOfBytes(bytes);
}

function matches(args: Arguments, text: string, pattern: string, offset: number, limit: number): Match[] {
  const { machine } = args;
  try {
    return findMatches(pattern, text, offset, limit, (steps) => {
      machine.t -= steps;
      if (machine.t < 0) machine.charge(0);
    });
  } catch (error) {
    if (error instanceof PatternError) throw machine.failure(error.message);
    throw error;
  }
}

const captured = (args: Arguments, captures: readonly (string | number)[]): LuaValue[] =>
  captures.map((capture) => (typeof capture === "number" ? capture : args.machine.madeOfBytes(capture)));

function find(args: Arguments): LuaValue[] {
  const text = args.bytes(1);
  const pattern = args.bytes(2);
  if (pattern.length === 0) return [1, 0];
  const start = startIndex(args.integer(3, 1), text.length);
  if (args.count === 4 && isTrue(args.get(4))) {
    if (start > text.length) throw args.machine.failure(`slice bounds out of range [${start}:${text.length}]`);
    args.machine.charge((text.length - start) >> 3);
    const found = text.indexOf(pattern, start);
    return found < 0 ? [undefined] : [found + 1, found + pattern.length];
  }
  const [match] = matches(args, text, pattern, start, 1);
  return match ? [match.start + 1, match.end, ...captured(args, match.captures)] : [undefined];
}

function match(args: Arguments): LuaValue[] {
  const text = args.bytes(1);
  const pattern = args.bytes(2);
  const index = args.integer(3, 1);
  const start = Math.max(0, (index < 0 ? text.length + index + 1 : index) - 1);
  const [found] = matches(args, text, pattern, start, 1);
  if (!found) return NOTHING;
  return found.captures.length === 0
    ? [args.machine.madeOfBytes(text.slice(found.start, found.end))]
    : captured(args, found.captures);
}

/** All matches are found at once, as upstream does; the loop then takes them one by one. */
function gmatch(args: Arguments): LuaValue[] {
  const text = args.bytes(1);
  const found = matches(args, text, args.bytes(2), 0, -1);
  args.machine.allocate(found.length * 64);
  let at = 0;
  const state = args.machine.newTable();
  const next: LuaFunction = (given) => {
    if (given !== state)
      throw args.machine.failure(
        `bad argument #1 to ${args.machine.calledName()} (userdata expected, got ${given === undefined ? "nil" : typeof given})`,
      );
    args.machine.charge(2);
    const each = found[at++];
    if (!each) return NOTHING;
    return each.captures.length === 0
      ? args.machine.madeOfBytes(text.slice(each.start, each.end))
      : captured(args, each.captures);
  };
  return [next, state];
}

/** Cost of each directive. */
const FORMAT_TICKS = 10;

function format(args: Arguments): string {
  const { machine } = args;
  const text = fromBytes(args.bytes(1));
  const formatted = formatText(
    text,
    args.values.slice(1),
    (value) => machine.text(value),
    (length, characters) => {
      machine.charge(FORMAT_TICKS + characters);
      if (length > machine.budget.stringCharacters) machine.made(" ".repeat(machine.budget.stringCharacters + 1));
    },
  );
  return machine.made(machine.hasLoneBytes && hasLoneBytes(formatted) ? fromBytes(toBytes(formatted)) : formatted);
}

/** Letter by letter, as Go does: one letter never becomes two. */
function mapCase(args: Arguments, convert: (character: string) => string): string {
  args.bytes(1);
  // Invalid bytes are replaced by the replacement character.
  const text = args.string(1).toWellFormed();
  const whole = convert(text);
  if (whole.length === text.length && !/[ßŉǰİΣςσ]/i.test(text)) return args.machine.made(whole);
  let mapped = "";
  for (const character of text) {
    const converted = character === "İ" ? "i" : convert(character);
    mapped += Array.from(converted).length === 1 ? converted : character;
  }
  return args.machine.made(mapped);
}

function reverse(args: Arguments): string {
  const bytes = args.bytes(1);
  args.machine.charge(bytes.length >> 3);
  return args.machine.madeOfBytes(Buffer.from(bytes, "latin1").reverse().toString("latin1"));
}

function sub(args: Arguments): string {
  const bytes = args.bytes(1);
  const start = startIndex(args.integer(2), bytes.length);
  const end = endIndex(args.integer(3, -1), bytes.length);
  return start >= bytes.length || end < start ? "" : args.machine.madeOfBytes(bytes.slice(start, end));
}

export const stringFunctions: Readonly<Record<string, LibraryFunction>> = {
  byte,
  char,
  dump: unsupported("dump"),
  find,
  format,
  gfind: gmatch,
  gmatch,
  gsub: unsupported("gsub"),
  len: (args) => args.bytes(1).length,
  lower: (args) => mapCase(args, (text) => text.toLowerCase()),
  match,
  rep: unsupported("rep"),
  reverse,
  sub,
  upper: (args) => mapCase(args, (text) => text.toUpperCase()),
};
