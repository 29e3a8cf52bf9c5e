/** The math library. Random numbers use a fixed seed, so that a script returns the same result on every run. */
import { createSeededRandom } from "@flotilla/base";
import { frexp, ldexp, power } from "../go-math.ts";
import { LuaThrow } from "../values.ts";
import type { Arguments, LibraryFunction } from "./arguments.ts";

const unary =
  (compute: (value: number) => number): LibraryFunction =>
  (args) =>
    compute(args.number(1));

function extreme(args: Arguments, isBetter: (a: number, b: number) => boolean): number {
  if (args.count === 0) throw args.machine.failure("wrong number of arguments");
  let best = args.number(1);
  for (let n = 2; n <= args.count; n++) {
    const value = args.number(n);
    if (isBetter(value, best)) best = value;
  }
  return best;
}

function modf(value: number): number[] {
  if (value === Infinity || value === -Infinity) return [value, NaN];
  const whole = Math.trunc(value);
  return [whole, value - whole];
}

const SEED = 1;

function random(args: Arguments): number {
  const { machine } = args;
  machine.random ??= createSeededRandom(SEED);
  if (args.count === 0) return machine.random.next();
  const low = args.count === 1 ? 1 : args.integer(1);
  const high = args.integer(args.count === 1 ? 1 : 2);
  // Upstream panics here without a location.
  if (high < low) throw new LuaThrow("invalid argument to Intn");
  return low + Math.floor(machine.random.next() * (high - low + 1));
}

export const mathFunctions: Readonly<Record<string, LibraryFunction>> = {
  abs: unary(Math.abs),
  acos: unary(Math.acos),
  asin: unary(Math.asin),
  atan: unary(Math.atan),
  atan2: (args) => Math.atan2(args.number(1), args.number(2)),
  ceil: unary(Math.ceil),
  cos: unary(Math.cos),
  cosh: unary(Math.cosh),
  deg: unary((value) => (value * 180) / Math.PI),
  exp: unary(Math.exp),
  floor: unary(Math.floor),
  fmod: (args) => args.number(1) % args.number(2),
  frexp: (args) => frexp(args.number(1)),
  ldexp: (args) => ldexp(args.number(1), args.integer(2)),
  log: unary(Math.log),
  log10: unary(Math.log10),
  max: (args) => extreme(args, (a, b) => a > b),
  min: (args) => extreme(args, (a, b) => a < b),
  mod: (args) => args.machine.mod(args.number(1), args.number(2)),
  modf: (args) => modf(args.number(1)),
  pow: (args) => power(args.number(1), args.number(2)),
  rad: unary((value) => (value * Math.PI) / 180),
  random,
  randomseed: (args) => {
    args.machine.random = createSeededRandom(args.integer(1));
    return [];
  },
  sin: unary(Math.sin),
  sinh: unary(Math.sinh),
  sqrt: unary(Math.sqrt),
  tan: unary(Math.tan),
  tanh: unary(Math.tanh),
};

export const MATH_CONSTANTS = { pi: Math.PI, huge: Number.MAX_VALUE } as const;
