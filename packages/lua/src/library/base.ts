/** The base functions. Functions that Karmada disables raise its message. */
import type { Machine } from "../machine.ts";
import { parseGoFloat, parseGoInt, trimBlanks } from "../numbers.ts";
import { LuaThrow, NOTHING, isTrue, typeOf } from "../values.ts";
import type { LuaValue } from "../values.ts";
import type { Arguments, LibraryFunction } from "./arguments.ts";

/** Disabled functions; the admission check warns about them. */
export const DISABLED_FUNCTIONS: readonly string[] = [
  "collectgarbage",
  "dofile",
  "getfenv",
  "getmetatable",
  "load",
  "loadfile",
  "loadstring",
  "rawequal",
  "rawget",
  "rawset",
  "setfenv",
  "setmetatable",
  "module",
  "newproxy",
];

const disabled =
  (name: string): LibraryFunction =>
  ({ machine }) => {
    machine.charge(50);
    // Upstream overrides them with a one-line script, and its messages include that script's name.
    throw new LuaThrow(
      `${machine.name}:1: call function ${name} is not supported in karmada customized resourceinterpreter.`,
    );
  };

/** Runs code that may raise an error. Limit errors are not script errors and are rethrown. */
function protect(machine: Machine, run: () => LuaValue[], recover: (value: LuaValue) => LuaValue[]): LuaValue[] {
  const { d, lim } = machine;
  const site = machine.l[d] ?? 0;
  try {
    return [true, ...run()];
  } catch (error) {
    if (!(error instanceof LuaThrow)) throw error;
    machine.d = d;
    machine.lim = lim;
    machine.l[d] = site;
    return [false, ...recover(error.value)];
  }
}

function pcall(args: Arguments): LuaValue[] {
  const callee = args.any(1);
  if (typeof callee !== "function") return [false, `attempt to call a ${typeOf(callee)} value`];
  return protect(
    args.machine,
    () => args.machine.call(callee, args.values.slice(1)),
    (value) => [value],
  );
}

function xpcall(args: Arguments): LuaValue[] {
  const callee = args.function(1);
  const handler = args.function(2);
  const { machine } = args;
  return protect(
    machine,
    () => machine.call(callee, []),
    (value) => machine.call(handler, [value]).slice(0, 1),
  );
}

function error(args: Arguments): never {
  const value = args.any(1);
  const level = args.integer(2, 1);
  const { machine } = args;
  machine.charge(50);
  const place = typeof value === "string" && level > 0 ? `${machine.where(level)} ` : "";
  throw new LuaThrow(typeof value === "string" ? machine.made(place + value) : value);
}

function select(args: Arguments): LuaValue[] | number {
  const first = args.get(1);
  if (typeof first === "string") {
    if (first !== "#") throw args.bad(1, `invalid string '${first}'`);
    return args.count - 1;
  }
  if (typeof first !== "number") throw args.bad(1, `number or string expected, got ${typeOf(first)}`);
  const wanted = args.integer(1);
  const index = wanted < 0 ? args.count + wanted : Math.min(wanted, args.count);
  if (index < 1) throw args.bad(1, "index out of range");
  return args.values.slice(index);
}

function tonumber(args: Arguments): LuaValue {
  const base = args.integer(2, 10);
  const value = args.any(1);
  if (typeof value === "number") return value;
  if (typeof value !== "string") return undefined;
  args.machine.charge(value.length >> 2);
  const text = trimBlanks(value);
  if (text.includes(".")) return parseGoFloat(text);
  const isHex = args.get(2) === undefined && /^0x/i.test(text);
  return isHex ? parseGoInt(text.slice(2), 16) : parseGoInt(text, base);
}

/** The maximum number of arguments of a call. */
const MAX_UNPACKED = 100_000;

function unpack(args: Arguments): LuaValue[] {
  const { machine } = args;
  const table = args.table(1);
  const from = args.integer(2, 1);
  const to = args.integer(3, table.length());
  const count = to - from + 1;
  if (count <= 0) return NOTHING;
  if (count > MAX_UNPACKED) throw machine.failure("registry overflow");
  machine.allocate(count * 16);
  machine.charge(count);
  return Array.from({ length: count }, (_, index) => (from + index < 1 ? undefined : table.getPosition(from + index)));
}

function assert(args: Arguments): LuaValue[] {
  if (!isTrue(args.get(1))) throw args.machine.failure(args.optionalString(2, "assertion failed!"));
  return [...args.values];
}

export const baseFunctions: Readonly<Record<string, LibraryFunction>> = {
  _printregs: () => NOTHING,
  assert,
  error,
  ipairs: (args) => [args.machine.ipairsNext, args.table(1), 0],
  next(args) {
    return args.machine.next(args.table(1), args.get(2)) ?? [undefined];
  },
  pairs: (args) => [args.machine.pairsNext, args.table(1), undefined],
  pcall,
  // Output is discarded; upstream writes to the controller's standard output.
  print(args) {
    args.machine.charge(args.count);
    return NOTHING;
  },
  select,
  tonumber,
  tostring: (args) => args.machine.text(args.any(1)),
  type: (args) => typeOf(args.any(1)),
  unpack,
  xpcall,
  ...Object.fromEntries(DISABLED_FUNCTIONS.map((name) => [name, disabled(name)])),
};
