/**
 * Random Lua programs that mostly do something: expressions have an intended type and are occasionally wrong about it,
 * loops are bounded, and the result is returned as one string.
 *
 * The dialect `common` only uses what stock Lua 5.1 and gopher-lua agree on. It excludes, because gopher-lua differs
 * and Flotilla follows it:
 * - the text of numbers that are not small integers: gopher-lua prints integers in full and others with all their
 * digits;
 * - text read as a number in any but its plainest form (`"1e3"`, `"010"`), and as a bound of a `for`;
 * - non-ASCII letters, whose case gopher-lua converts;
 * - formats other than the plain ones: gopher-lua uses Go's rules, which never fail;
 * - lists with holes: gopher-lua's length is the position of the last value;
 * - `goto`, frontier patterns, an anchor in `gmatch`, positions outside of a string: only supported by one of them;
 * - error messages.
 */
import type { Chance } from "../chance.ts";

export type Dialect = "common" | "gopher";

/**
 * `show` formats a value as text that is the same in both engines: numbers with an exponent, tables sorted by key. It
 * keeps local references, since a program may overwrite the library.
 */
const PRELUDE = `local type, pairs, format, sort, concat, tostring = type, pairs, string.format, table.sort, table.concat, tostring
local function show(v, d)
  local k = type(v)
  if k == "number" then
    if v ~= v then return "nan" end
    if v ~= 0 and v == v / 2 then return v > 0 and "inf" or "-inf" end
    return format("%.10e", v + 0)
  end
  if k == "string" then return "'" .. v .. "'" end
  if k ~= "table" then return k == "boolean" and tostring(v) or k end
  if d > 2 then return "deep" end
  local parts = {}
  for key, value in pairs(v) do parts[#parts + 1] = show(key, d + 3) .. "=" .. show(value, d + 1) end
  sort(parts)
  return "{" .. concat(parts, ",") .. "}"
end
local function f(...) return ... end
local function pick(n, ...) return (select(n, ...)) end
local function full(v) if v == nil then return 0 end return v end
`;

/**
 * A program whose function `F` takes an object and returns its result and that object. `paths` are expressions of
 * tables in it.
 */
export function makeProgram(chance: Chance, dialect: Dialect, paths: readonly string[] = []): string {
  const writer = new ProgramWriter(chance, dialect, paths);
  return `${PRELUDE}function F(o)
local a, b, c, s, t, u = 1, 2.5, nil, 'x', {1, 2, 3}, {k = 1, m = 'y'}
${writer.block(1 + chance.below(6), 2)}
return show(a, 0) .. show(b, 0) .. show(c, 0) .. show(s, 0) .. show(t, 0) .. show(u, 0), o
end`;
}

const PATTERNS = [
  "a",
  ".",
  "%a+",
  "%d",
  "[a-c]*",
  "(%a)(%d)",
  "^x",
  "y$",
  "%s",
  "[^x]",
  "a-b",
  "(.-)%s",
  "%w?",
  "()",
  "%bxy",
  ".-",
  "[%a_]+",
  "%%",
];
const ODD_PATTERNS = [...PATTERNS, "%f[%a]", "%g", "[%", "(", "%1", "[]]", "[a-]", "%z"];
const TEXTS = [
  "'x'",
  "''",
  "'abc'",
  "'a1b2'",
  "'x y z'",
  "'10'",
  "'7'",
  "'aXbX'",
  '"q\'"',
  "[[long]]",
  "'a,b,,c'",
  "'%'",
];
const ODD_TEXTS = [
  "'é'",
  "'1e3'",
  "'0x1F'",
  "'010'",
  "' 5 '",
  "'1.5'",
  "'\\255'",
  "'\\0a'",
  "'\\x41'",
  "'1_000'",
  "'-7'",
  "'inf'",
  "'日本'",
  "'0b11'",
  "'1e400'",
  "'.5'",
  "'5.'",
  "'\\n\\t'",
];
const NUMBERS = ["0", "1", "2", "3", "-1", "7", "10", "0.5", "2.5", "100", "-3", "1e3", "0x10", "1.5e2"];
const ODD_NUMBERS = [
  "1e15",
  "1e16",
  "2^53",
  "1/3",
  "1e100",
  "-1e-7",
  "0/0",
  "1/0",
  "-1/0",
  "-0",
  "1e21",
  "123456.789",
  "1234567.5",
  "0.1",
  "1e-5",
  "math.huge",
  "math.pi",
  "9007199254740993",
  "-2147483649",
  "4294967296",
];

class ProgramWriter {
  readonly #chance: Chance;
  readonly #isCommon: boolean;
  readonly #paths: readonly string[];
  #loops = 0;
  #labels = 0;

  constructor(chance: Chance, dialect: Dialect, paths: readonly string[]) {
    this.#chance = chance;
    this.#paths = paths;
    this.#isCommon = dialect === "common";
  }

  block(statements: number, depth: number): string {
    return this.#chance.list(statements, () => this.#statement(depth)).join("\n");
  }

  // Statements.

  #statement(depth: number): string {
    const chance = this.#chance;
    if (depth <= 0 || chance.oneIn(3)) return this.#assignment();
    const inner = (): string => this.block(1 + chance.below(2), depth - 1);
    const counter = `n${this.#loops++}`;
    const forms: (() => string)[] = [
      () => `if ${this.any(2)} then ${inner()} elseif ${this.bool(1)} then ${inner()} else ${inner()} end`,
      () =>
        `for i = ${this.#isCommon ? chance.pick(NUMBERS) : this.number(0)}, ${chance.below(5)} do ${inner()} if i > 9 or i < -9 then break end end`,
      () =>
        `for i = ${chance.below(6)}, ${chance.below(6)}, ${chance.pick(["1", "2", "-1", "0.5"])} do a = i ${inner()} end`,
      () => `for _, v in ipairs(${this.list(1)}) do ${inner()} if v == 3 then break end end`,
      () =>
        `do local ${counter} = 0 for k, v in pairs(${this.table(1)}) do ${counter} = ${counter} + 1 end a = ${counter} end`,
      () =>
        `do local ${counter} = 0 while ${this.any(1)} do ${counter} = ${counter} + 1 if ${counter} > 4 then break end ${inner()} end end`,
      () =>
        `do local ${counter} = 0 repeat ${counter} = ${counter} + 1 ${inner()} until ${counter} > 3 or ${this.any(1)} end`,
      () => `do local a, b = ${this.any(2)}, ${this.any(1)} ${inner()} s = type(a) .. type(b) end`,
      () => `c = pcall(function() ${inner()} end)`,
      () =>
        `do local function g(n, ...) if n <= 0 then return ... end return g(n - 1, n, ...) end c = pick(1, g(${chance.below(5)}, ${this.any(1)})) end`,
      () =>
        `do local ${counter} = {} for i = 1, 3 do ${counter}[i] = function() a = i return i end end b = ${counter}[2]() end`,
      () => `a, b, c = ${this.several()}`,
      () =>
        `for w in string.gmatch(${this.text(1)}, ${this.#pattern().replace("'^", this.#isCommon ? "'" : "'^")}) do s = w end`,
      ...(this.#isCommon ? [] : [() => this.#jump(inner()), () => `c, s = pcall(function() ${inner()} end)`]),
    ];
    return chance.pick(forms)();
  }

  #jump(inner: string): string {
    const label = `l${this.#labels++}`;
    return this.#chance.pick([
      `for i = 1, 3 do if i == 2 then goto ${label} end ${inner} ::${label}:: end`,
      `do local n = 0 ::${label}:: n = n + 1 ${inner} if n < 3 then goto ${label} end end`,
      `do goto ${label} end ${inner.includes("local ") ? "" : inner} do ::x${label}:: end ::${label}::`,
    ]);
  }

  #assignment(): string {
    const chance = this.#chance;
    return chance.pick([
      () => `a = ${this.number(2)}`,
      () => `b = ${this.any(3)}`,
      () => `c = ${this.bool(2)}`,
      () => `s = ${this.text(2)}`,
      () => `t = ${this.list(2)}`,
      () => `u = ${this.table(2)}`,
      () => (this.#isCommon ? `t[#t] = ${this.#filled(1)}` : `t[${this.number(1)}] = ${this.any(1)}`),
      () => `u.${chance.pick(["k", "m", "z"])} = ${this.any(1)}`,
      () => `u[${this.any(1)}] = ${this.any(1)}`,
      ...(this.#paths.length === 0
        ? []
        : [
            () => `${chance.pick(this.#paths)}.${chance.pick(["k", "name", "spec"])} = ${this.any(1)}`,
            () => `${chance.pick(this.#paths)}[${this.any(1)}] = ${this.any(1)}`,
          ]),
      () => `t[#t + 1] = ${this.#filled(1)}`,
      () => `table.insert(t, ${this.#filled(1)})`,
      () => `b = table.remove(t${chance.oneIn(2) ? "" : `, ${chance.pick(["1", "#t"])}`})`,
      // gopher-lua itself loses a value here, and Flotilla does not follow it.
      ...(this.#isCommon ? [() => "a, b = b, a"] : []),
      ...(this.#isCommon
        ? []
        : [
            () => `table.insert(t, ${this.number(1)}, ${this.any(1)})`,
            () => `b = table.remove(${this.any(1)}, ${this.number(1)})`,
            () => `table.sort(t)`,
            () => `table.sort(t, function(x, y) return x > y end)`,
          ]),
    ])();
  }

  several(): string {
    const chance = this.#chance;
    return chance.pick([
      () => `f(${this.any(1)}, ${this.any(1)})`,
      () => `unpack(${this.list(1)})`,
      () =>
        `string.find(${this.text(1)}, ${this.#pattern()}${chance.pick(["", "", ", 1", ", 1, true", this.#isCommon ? "" : `, ${this.number(0)}`])})`,
      () => `string.match(${this.text(1)}, ${this.#pattern()})`,
      () => `string.byte(${this.text(1)}, ${(this.#isCommon ? 1 : 0) + chance.below(3)}, ${chance.below(5)})`,
      () => `select(${1 + chance.below(3)}, ${this.any(1)}, ${this.any(1)})`,
      () => `(f(${this.any(1)}, ${this.any(1)}))`,
      ...(this.#isCommon
        ? []
        : [
            () => `pcall(${this.any(1)}, ${this.any(1)})`,
            () => `next(${this.any(1)}, ${this.any(0)})`,
            () => `unpack(${this.any(1)}, ${this.number(0)}, ${this.number(0)})`,
            () => `xpcall(function() return ${this.any(2)} end, function(m) return m end)`,
          ]),
    ])();
  }

  // Expressions.

  any(depth: number): string {
    return this.#chance.pick([
      () => this.number(depth),
      () => this.number(depth),
      () => this.text(depth),
      () => this.text(depth),
      () => this.bool(depth),
      () => this.list(depth),
      () => this.table(depth),
      () => "nil",
      () => this.#chance.pick(["a", "b", "c", "s", "t", "u", ...this.#paths]),
    ])();
  }

  /** A number, or a value used as one; occasionally something else. */
  number(depth: number): string {
    const chance = this.#chance;
    if (chance.oneIn(25)) return this.any(depth - 1 > 0 ? depth - 1 : 0);
    if (depth <= 0)
      return chance.pick(this.#isCommon ? [...NUMBERS, "a", "#s"] : [...NUMBERS, ...ODD_NUMBERS, "a", "#s", "#t", "b"]);
    const inner = (): string => this.number(depth - 1);
    return chance.pick([
      () => `(${inner()} ${chance.pick(["+", "-", "*", "/", "%"])} ${inner()})`,
      () => `(${inner()} ${chance.pick(["+", "-", "*"])} ${inner()})`,
      () => `(${inner()} ^ ${chance.pick(["2", "0", "-1", "0.5"])})`,
      () => `-(${inner()})`,
      () => `#(${chance.pick(TEXTS)})`,
      () => `math.${chance.pick(["floor", "ceil", "abs", "sqrt"])}(${inner()})`,
      () => `math.${chance.pick(["max", "min"])}(${inner()}, ${inner()})`,
      () => `math.fmod(${inner()}, ${chance.pick(["2", "3", "-2", "1.5"])})`,
      () => `(tonumber(${chance.pick(["'10'", "'7'", "'-3'", "'x'", "5", "'1.5'"])}) or 0)`,
      () => `select('#', ${this.any(0)}, ${this.any(0)})`,
      () => `string.len(${this.text(depth - 1)})`,
      () => `(function(...) local x, y = ... return x end)(${inner()}, ${this.any(0)})`,
      ...(this.#isCommon
        ? []
        : [
            () =>
              `tonumber(${this.any(depth - 1)}${chance.oneIn(3) ? `, ${chance.pick(["2", "8", "10", "16", "36", "1"])}` : ""})`,
            () =>
              `math.${chance.pick(["modf", "frexp", "log", "log10", "exp", "sin", "pow", "deg", "ldexp", "mod", "fmod"])}(${inner()}, ${inner()})`,
            () => `#(${this.any(depth - 1)})`,
          ]),
    ])();
  }

  text(depth: number): string {
    const chance = this.#chance;
    if (chance.oneIn(25)) return this.any(0);
    if (depth <= 0) return chance.pick(this.#isCommon ? [...TEXTS, "s"] : [...TEXTS, ...ODD_TEXTS, "s"]);
    const inner = (): string => this.text(depth - 1);
    return chance.pick([
      () => `(${inner()} .. ${inner()})`,
      () => `(${inner()} .. ${chance.below(100)})`,
      () => `string.${chance.pick(["upper", "lower", "reverse"])}(${inner()})`,
      () => `string.sub(${inner()}, ${this.#index()}${chance.oneIn(2) ? `, ${this.#index()}` : ""})`,
      () => `(${inner()}):sub(${this.#index()})`,
      () => `string.char(${65 + chance.below(26)}, ${97 + chance.below(26)})`,
      () => `string.format(${this.#format()})`,
      () => `table.concat({${inner()}, ${chance.below(9)}}, ${chance.pick(["','", "''", "' '"])})`,
      () => `type(${this.any(depth - 1)})`,
      () => `tostring(${chance.pick([`${chance.below(1000)}`, "true", "nil", "'x'", "-5"])})`,
      () => `(string.match(${inner()}, ${this.#pattern()}) or '')`,
      ...(this.#isCommon
        ? []
        : [
            () => `tostring(${this.number(depth - 1)})`,
            () => `(${inner()} .. ${this.any(depth - 1)})`,
            () => `string.format(${this.#oddFormat()})`,
            () => `table.concat(${this.any(depth - 1)}, ${this.any(0)}, ${this.number(0)}, ${this.number(0)})`,
            () => `string.char(${this.number(0)})`,
            () => `string.sub(${inner()}, ${this.number(0)}, ${this.number(0)})`,
          ]),
    ])();
  }

  bool(depth: number): string {
    const chance = this.#chance;
    if (depth <= 0) return chance.pick(["true", "false", "c", "nil"]);
    return chance.pick([
      () => `not ${this.any(depth - 1)}`,
      () => `(${this.any(depth - 1)} ${chance.pick(["==", "~="])} ${this.any(depth - 1)})`,
      () => `(${this.number(depth - 1)} ${chance.pick(["<", "<=", ">", ">="])} ${this.number(depth - 1)})`,
      () => `(${this.text(depth - 1)} ${chance.pick(["<", "<=", ">", ">="])} ${this.text(depth - 1)})`,
      () => `(${this.any(depth - 1)} ${chance.pick(["and", "or"])} ${this.any(depth - 1)})`,
      () => `(type(${this.any(depth - 1)}) == '${chance.pick(["number", "string", "table", "nil", "boolean"])}')`,
    ])();
  }

  /** Without holes, as far as known. */
  list(depth: number): string {
    const chance = this.#chance;
    if (depth <= 0) return chance.pick([...this.#paths, "t", "{}", "{1, 2}", "{'a', 'b', 'c'}"]);
    const item = (): string => this.#chance.pick([() => this.#filled(depth - 1), () => this.#filled(0), () => "{1}"])();
    return chance.pick([
      () => `{${chance.list(chance.below(4), item).join(", ")}}`,
      () => `{f(${item()}, ${item()})}`,
      () => `{unpack({${item()}, ${item()}, ${item()}}, ${1 + chance.below(2)}, ${2 + chance.below(2)})}`,
      () => "t",
      ...(this.#isCommon
        ? []
        : [
            () => `{${this.any(depth - 1)}, ${this.any(depth - 1)}, ${this.any(depth - 1)}}`,
            () => `{${this.several()}}`,
          ]),
    ])();
  }

  table(depth: number): string {
    const chance = this.#chance;
    if (depth <= 0) return chance.pick([...this.#paths, "u", "{}", "{k = 1}", "{k = 'v', z = {1}}"]);
    return chance.pick([
      () => `{k = ${this.any(depth - 1)}, m = ${this.any(depth - 1)}}`,
      () => `{[${this.number(0)}] = ${this.any(0)}, k = ${this.any(depth - 1)}, ['a b'] = ${this.number(depth - 1)}}`,
      () => `{${this.number(0)}, k = ${this.any(depth - 1)}; ${this.text(0)}}`,
      () => "u",
      ...(this.#isCommon ? [] : [() => "t"]),
    ])();
  }

  /** Anything; in the common dialect anything but nil, which would be a hole in a list. */
  #filled(depth: number): string {
    return this.#isCommon ? `full(${this.any(depth)})` : this.any(depth);
  }

  #pattern(): string {
    const chance = this.#chance;
    const pattern = chance
      .list(1 + chance.below(2), () => chance.pick(this.#isCommon ? PATTERNS : ODD_PATTERNS))
      .join("");
    return `'${pattern}'`;
  }

  #index(): string {
    return this.#chance.pick(["1", "2", "-1", "-2", "0", "3", "10", "-10"]);
  }

  #format(): string {
    const chance = this.#chance;
    return chance.pick([
      () => `'%d', ${chance.below(1000)}`,
      () => `'%5d|%-5d|%05d', ${chance.below(100)}, ${chance.below(100)}, ${chance.below(100)}`,
      () => `'%s', ${chance.pick(TEXTS)}`,
      () => `'%10s|%-6s', 'ab', 'cd'`,
      () => `'%.2f', ${chance.pick(NUMBERS)}`,
      () => `'%x %X %o', ${chance.below(300)}, ${chance.below(300)}, ${chance.below(300)}`,
      () => `'%c%%', ${65 + chance.below(26)}`,
      () => `'%.3e', ${chance.below(100_000)}`,
    ])();
  }

  #oddFormat(): string {
    const chance = this.#chance;
    const flags = chance.pick(["", "", "", "5", "-5", "05", "+", " ", "#", ".2", "8.3", "-8.3", "+.1", ".0"]);
    const verb = chance.pick([
      "d",
      "i",
      "s",
      "q",
      "x",
      "X",
      "o",
      "c",
      "e",
      "E",
      "f",
      "g",
      "G",
      "u",
      "v",
      "t",
      "p",
      "y",
      "%",
    ]);
    return `'%${flags}${verb}'${chance.oneIn(6) ? "" : `, ${this.any(1)}`}${chance.oneIn(6) ? `, ${this.any(0)}` : ""}`;
  }
}
