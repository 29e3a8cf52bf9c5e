/**
 * Scripts that try to hang, to exhaust memory or to reach the host. Each must end quickly, with an error and without
 * side effects.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, expect, test } from "vitest";
import { deepFreeze } from "@flotilla/base";
import { DEFAULT_BUDGET, EncodeError, LuaLimitError, LuaRuntimeError, LuaSyntaxError } from "@flotilla/lua";
import { compileKubeScript } from "./kube-script.ts";

/**
 * How much more CPU time a script may take than one that fills a table until the same limit ends it. The worst one needs
 * twice as much; one whose work is not charged needs a hundred times as much.
 */
const MAX_TIMES_FILLING = 10;
const FILLING = "local t, i = {}, 0 while true do i = i + 1 t['k' .. i] = i end";
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
/** Total live memory that all of them may leave behind. */
const MAX_GROWTH_BYTES = 16 * 1024 * 1024;
/** Without a deadline, so that the same limit ends a script on every machine. */
const BUDGET = { ...DEFAULT_BUDGET, deadlineMs: Infinity };
const LONG = "local s = ('%900000d'):format(1)";

const endless: Record<string, string> = {
  "an endless while": "while true do end",
  "an endless repeat": "repeat until false",
  "a for loop of 10^18 rounds": "for i = 1, 1e18 do end",
  "a goto to itself": "::a:: goto a",
  "an endless loop inside pcall inside a loop": "while true do pcall(function() while true do end end) end",
  "an endless tail call": "local function f() return f() end return f()",
  "errors that are caught forever": "while true do pcall(error, 'x') end",
  "errors with a long text": `${LONG} while true do pcall(error, s) end`,
  "a tree of recursive pcalls": "pcall(F) pcall(F) pcall(F)",
  "deep recursion again and again":
    "local function f(n) if n > 0 then return 1 + f(n - 1) end return 0 end while true do f(200) end",
  "a string that doubles": "local s = 'x' while true do s = s .. s end",
  "a string that grows": "local s = '' while true do s = s .. 'x' end",
  "a table bomb": "local t = {} while true do t[#t + 1] = {} end",
  "tables that are dropped": "while true do local t = {{}, {}, {}} end",
  "records that are dropped": "while true do local t = {a = 1, b = {c = 2}} end",
  "a key bomb": FILLING,
  "a key bomb of numbers as strings": "local t, i = {}, 0 while true do i = i + 1 t[tostring(i)] = i end",
  "a key bomb of floats": "local t, i = {}, 0.5 while true do i = i + 1 t[i] = i end",
  "a key bomb of tables": "local t = {} while true do t[{}] = 1 end",
  "long keys": `${LONG} local t, i = {}, 0 while true do i = i + 1 t[s .. i] = i end`,
  "a closure bomb": "local t = {} while true do t[#t + 1] = function() return t end end",
  "a list with one distant element": "local t = {} t[67108863] = 1",
  "lists with distant elements": "while true do local t = {} t[100000] = 1 end",
  "a pattern that backtracks":
    "return ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'):find('a*a*a*a*a*a*a*a*b')",
  "a long set in a pattern": "while true do (' '):find('['..('%900000d'):format(1)..']') end",
  "a long pattern": `${LONG} while true do (' '):find(s) end`,
  "thousands of sets in a pattern":
    "local t = {} for i = 1, 60000 do t[i] = '[ab]' end local p = table.concat(t) while true do (' '):find(p) end",
  "thousands of ranges in a pattern":
    "local t = {} for i = 1, 60000 do t[i] = 'a-z%w' end local p = '[' .. table.concat(t) .. ']' while true do (' '):find(p) end",
  "lazy repetitions over a long text": "return ('%50000d'):format(1):match('.-.-.-.-.-.-x')",
  "gmatch of an empty pattern": `${LONG} while true do for w in s:gmatch('') do end end`,
  "gmatch whose results are never read": `${LONG} while true do s:gmatch('.') end`,
  "balanced pairs": "local s = '((((((((((((((((((((((((((((((' while true do s:find('%b()') end",
  "million-deep nesting": "local t = {} for i = 1, 1000000 do t = {t} end return t",
  "comparing long strings":
    "local s, u = ('%900000d'):format(1), ('%900000d'):format(1) while true do if s == u then end end",
  "ordering long strings":
    "local s, u = ('é%90000d'):format(1), ('é%90000d'):format(1) while true do if s < u then end end",
  "numbers of a million digits": "local s = ('%0900000d'):format(1) while true do tonumber(s) end",
  "arithmetic on a million digits": "local s = ('%0900000d'):format(1) while true do local x = s + 1 end",
  "reversing a long string": `${LONG} while true do s:reverse() end`,
  "upper case of a long string": `${LONG} while true do s:upper() end`,
  "cutting a long string": `${LONG} while true do s:sub(2) end`,
  "the length of a long string": "local s = ('é%900000d'):format(1) while true do local n = #s end",
  "the bytes of a long string": `${LONG} while true do select('#', s:byte(1, 90000)) end`,
  "wide formats": "while true do local s = ('%999999d%999999d'):format(1, 1) end",
  "quoting a long string": `${LONG} while true do local q = ('%q'):format(s) end`,
  "formats with many directives":
    "local f = '' for i = 1, 200 do f = f .. '%d ' end while true do f:format(unpack({1,2,3,4,5,6,7,8,9})) end",
  "many characters at once": "local t = {} for i = 1, 9000 do t[i] = 65 end while true do string.char(unpack(t)) end",
  "joining a long list": "local t = {} for i = 1, 50000 do t[i] = 'xxxxxxxxxx' end while true do table.concat(t) end",
  "a sort with an inconsistent comparator":
    "local t = {} for i = 1, 100000 do t[i] = i end while true do table.sort(t, function() return true end) end",
  "a sort of a long list": "local t = {} for i = 1, 100000 do t[i] = -i end while true do table.sort(t) end",
  "inserting at the front": "local t = {} while true do table.insert(t, 1, 1) end",
  "removing at the front":
    "local t = {} for i = 1, 100000 do t[i] = i end while true do table.insert(t, table.remove(t, 1)) end",
  "calling next on a large table":
    "local t = {} for i = 1, 9000 do t['k' .. i] = i end while true do next(t, 'k10') next(t, 'k900') end",
  "iterating over a large table":
    "local t = {} for i = 1, 9000 do t['k' .. i] = i end while true do for k in pairs(t) do break end end",
  "the length of a list of nils": "local t = {} t[90000] = 1 t[90000] = nil while true do local n = #t end",
  "long quantities": "local kube = require('kube') while true do kube.resourceAdd('1e300', '1', '2Gi') end",
  "large templates":
    "local kube, c = require('kube'), {} for i = 1, 2000 do c[i] = {name = 'c' .. i, resources = {requests = " +
    "{cpu = '1', memory = '1Gi'}}} end while true do kube.accuratePodRequirements({spec = {containers = c}}) " +
    "end",
  "dependencies of large templates":
    "local kube, c = require('kube'), {} for i = 1, 2000 do c[i] = {name = 'c' .. i, env = {{name = 'A', " +
    "valueFrom = {configMapKeyRef = {name = 'm' .. i}}}}} end while true do kube.getPodDependencies({spec = " +
    "{containers = c}}, 'a') end",
  "unpacking forever": "local t = {} t[90000] = 1 while true do local a = {unpack(t)} end",
  "dates in long formats":
    "local f = '' for i = 1, 10 do f = f .. '%c%c%c%c%c%c%c%c%c%c' end while true do os.date(f) end",
  "addresses of many tables": "while true do tostring({}) end",
  printing: `${LONG} while true do print(s, s, s) end`,
  "a result that contains itself many times": "local t = {1} for i = 1, 60 do t = {t, t} end return t",
  "a wide result that is repeated":
    "local w, t = {}, {} for i = 1, 5000 do w[i] = i end for i = 1, 5000 do t[i] = w end return t",
  "a library that is replaced": "while true do string.upper = function() end math.floor = nil end",
  "globals by computed names": "local i = 0 while true do i = i + 1 _G['k' .. i] = i end",
};

let bytesBefore = 0;
let fillingMs = 0;
beforeAll(async () => {
  bytesBefore = await usedBytes();
  fillingMs = Math.max(cpuMsOf(FILLING), cpuMsOf(FILLING));
});

for (const [attack, body] of Object.entries(endless)) {
  test(`${attack} ends with a limit`, () => {
    expect(cpuMsOf(body)).toBeLessThan(MAX_TIMES_FILLING * fillingMs);
  });
}

test("scripts that end with a limit leave no memory behind", async () => {
  expect((await usedBytes()) - bytesBefore).toBeLessThan(MAX_GROWTH_BYTES);
});

async function usedBytes(): Promise<number> {
  // Between turns of the event loop nothing of the last call is on the stack any more.
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    await new Promise((resolve) => void setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

/** The CPU time until a limit ends the script. */
function cpuMsOf(body: string): number {
  const script = compileKubeScript(`function F() ${body} end`);
  const start = process.threadCpuUsage();

  expect(() => script.call("F", [], BUDGET).map((result) => result.json())).toThrow(LuaLimitError);

  return cpuMsSince(start);
}

function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

test("a script that never ends is also stopped by the deadline", () => {
  const script = compileKubeScript("function F() while true do end end");

  expect(() => script.call("F", [], { ...DEFAULT_BUDGET, ticks: Infinity })).toThrow(LuaLimitError);
});

const failing: Record<string, { body: string; message: string }> = {
  "infinite recursion": { body: "local function f() return f() + 1 end return f()", message: "stack overflow" },
  "mutual recursion": {
    body: "local g local function f() return g() + 1 end g = function() return f() + 1 end return f()",
    message: "stack overflow",
  },
  "recursion through pcall, reported": {
    body: "local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()",
    message: "stack overflow",
  },
  "a sort inside a sort": {
    body: "local function f(a, b) table.sort({3, 2, 1}, f) return a < b end table.sort({3, 2, 1}, f)",
    message: "stack overflow",
  },
  "a handler that fails": { body: "xpcall(error, function() error('again') end)", message: "again" },
  "more arguments than a call can take": {
    body: `${LONG} return select('#', s:byte(1, -1))`,
    message: "stack overflow",
  },
  "more values than can be unpacked": {
    body: "local t = {} t[1] = 1 return unpack(t, 1, 1e9)",
    message: "registry overflow",
  },
  "a quantity of a million digits": {
    body: `local s = ('%0900000d'):format(1) require('kube').resourceAdd(s)`,
    message: "cannot parse",
  },
  "string.rep": { body: "return ('x'):rep(1e9)", message: "string.rep is not supported" },
  "string.dump": { body: "return string.dump(F)", message: "string.dump is not supported" },
  "the metatable of strings": {
    body: "return getmetatable('').__index",
    message: "call function getmetatable is not supported",
  },
  setfenv: { body: "setfenv(1, {})", message: "call function setfenv is not supported" },
  load: { body: "return load('return 1')", message: "call function load is not supported" },
  loadstring: { body: "return loadstring('return 1')()", message: "call function loadstring is not supported" },
  "os.execute": { body: "os.execute('id')", message: "attempt to call a non-function object" },
  "os.exit": { body: "os.exit(1)", message: "attempt to call a non-function object" },
  "os.getenv": { body: "return os.getenv('HOME')", message: "attempt to call a non-function object" },
  io: { body: "return io.open('x')", message: "attempt to index a non-table object(nil)" },
  debug: { body: "return debug.getinfo(1)", message: "attempt to index a non-table object(nil)" },
  coroutine: { body: "return coroutine.create(F)", message: "attempt to index a non-table object(nil)" },
  "require of a file": { body: "return require('fs')", message: "module fs not found" },
  "a function's constructor": {
    body: "return print.constructor",
    message: "attempt to index a non-table object(function)",
  },
  "a number's constructor": { body: "return (5).constructor", message: "attempt to index a non-table object(number)" },
  "a call of a string's constructor": {
    body: "return ('x').constructor('return 1')",
    message: "attempt to call a non-function object",
  },
};

for (const [attack, { body, message }] of Object.entries(failing)) {
  test(`${attack} is rejected`, () => {
    const script = compileKubeScript(`function F() ${body} end`);

    expect(() => script.call("F", [], BUDGET)).toThrow(LuaRuntimeError);
    expect(() => script.call("F", [], BUDGET)).toThrow(message);
  });
}

test("a table exposes nothing of its JavaScript object", () => {
  const names = [
    "constructor",
    "__proto__",
    "hasOwnProperty",
    "toString",
    "valueOf",
    "length",
    "map",
    "__defineGetter__",
  ];
  const script = compileKubeScript(
    "function F(o, l, name) return o[name], l[name], ({})[name], ({1})[name], ('x')[name] end",
  );

  for (const name of names)
    expect(script.call("F", [{ a: 1 }, [1, 2], name]).map(({ type }) => type)).toEqual([
      "nil",
      "nil",
      "nil",
      "nil",
      "nil",
    ]);
});

test("JavaScript property names are plain keys that can be read, written, copied and returned", () => {
  const input = deepFreeze(
    JSON.parse('{"__proto__":{"a":1},"constructor":{"b":2},"toString":"c"}') as Record<string, never>,
  );
  const script = compileKubeScript(`
    function F(o)
      local copy = {}
      for key, value in pairs(o) do copy[key] = value end
      copy.__proto__.polluted = "yes"
      copy["hasOwnProperty"] = true
      o.__proto__ = copy.constructor
      return copy, o, o.toString
    end`);

  const [copied, changed, text] = script.call("F", [input]).map((result) => result.json());

  expect(JSON.stringify(copied)).toBe(
    '{"__proto__":{"a":1,"polluted":"yes"},"constructor":{"b":2},"toString":"c","hasOwnProperty":true}',
  );
  expect(JSON.stringify(changed)).toBe('{"__proto__":{"b":2},"constructor":{"b":2},"toString":"c"}');
  expect(text).toBe("c");
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("JavaScript code is inert as a name, a string, a comment or a label", () => {
  const script = compileKubeScript(`
    -- */ process.exit(1) /*
    function F(constructor, eval, await, let, S, T, G, arguments, this, class)
      local new, typeof, void, yield, x0, r, t, v = 1, 2, 3, 4, 5, 6, 7, 8
      local s = "\`\${process.exit(1)}\`" .. '\\");process.exit(1);("' .. [[</script>\u2028]]
      goto delete
      ::delete::
      return constructor + eval + await + let + S + T + G + arguments + this + class + new + typeof + void + yield + x0 + r + t + v, #s > 10
    end`);

  const results = script.call("F", [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]).map((result) => result.json());

  expect(results).toEqual([46, true]);
});

const bombs: Record<string, string> = {
  "100,000 parentheses": `return ${"(".repeat(100_000)}1${")".repeat(100_000)}`,
  "20,000 terms": `return ${"1+".repeat(20_000)}1`,
  "2,000 nested tables": `return ${"{".repeat(2000)}${"}".repeat(2000)}`,
  "100,000 minus signs": `return ${"- ".repeat(100_000)}1`,
  "50,000 indexes": `return a${".b".repeat(50_000)}`,
  "5,000 nested functions": `${"return function() ".repeat(5000)}${"end ".repeat(5000)}`,
  "20,000 joined strings": `return ${"'a'..".repeat(20_000)}'a'`,
  "20,000 powers": `return ${"2^".repeat(20_000)}2`,
  "5,000 calls of results": `return f${"()".repeat(50_000)}`,
  "5,000 nested blocks": `${"do ".repeat(5000)}${"end ".repeat(5000)}`,
  "5,000 nested ifs": `${"if a then ".repeat(5000)}${"end ".repeat(5000)}`,
  "5,000 elseifs": `if a then ${"elseif a then ".repeat(5000)} end`,
  "more variables than a function may have": Array.from({ length: 12_000 }, (_, index) => `local a${index}`).join(" "),
  "an unfinished comment": `--[==[${"]=".repeat(100_000)}`,
  "a megabyte of source": `return "${"x".repeat(1_000_000)}"`,
};

for (const [bomb, source] of Object.entries(bombs)) {
  test(`${bomb} fail to compile quickly`, () => {
    const start = process.threadCpuUsage();

    expect(() => compileKubeScript(source)).toThrow(LuaSyntaxError);

    expect(cpuMsSince(start)).toBeLessThan(MAX_TIMES_FILLING * fillingMs);
  });
}

const unsayable: Record<string, string> = {
  "a table that holds itself": "local t = {} t.t = t return t",
  "two tables that hold each other": "local t, u = {}, {} t.u = u u.t = t return t",
  "a list that holds itself": "local t = {} t[1] = t return t",
  "more levels than JSON parsers accept": "local t = {} for i = 1, 600 do t = {t} end return t",
};

for (const [attack, body] of Object.entries(unsayable)) {
  test(`${attack} cannot be returned`, () => {
    const [result] = compileKubeScript(`function F() ${body} end`).call("F", []);

    expect(() => result?.json()).toThrow(EncodeError);
  });
}

const locals = (level: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `local a${level}_${index}`).join(" ");
const large: Record<string, string> = {
  "name lookups among thousands":
    `${Array.from({ length: 90 }, (_, level) => `function f${level}() ${locals(level, 100)}`).join(" ")} ` +
    `${"z = z ".repeat(20_000)} ${"end ".repeat(90)}`,
  "jumps to thousands of labels":
    `${Array.from({ length: 10_000 }, (_, index) => `goto a${index}`).join(" ")} ` +
    Array.from({ length: 10_000 }, (_, index) => `::a${index}::`).join(" "),
  "thousands of globals": Array.from({ length: 20_000 }, (_, index) => `g${index} = 1`).join(" "),
  "thousands of statements": "f() ".repeat(50_000),
};

for (const [what, source] of Object.entries(large)) {
  test(`${what} compile quickly`, () => {
    const start = process.threadCpuUsage();

    compileKubeScript(source);

    expect(cpuMsSince(start)).toBeLessThan(MAX_TIMES_FILLING * fillingMs);
  });
}

test("truncates long script error messages", () => {
  const script = compileKubeScript(`function F() ${LONG} error(s) end`);

  expect(() => script.call("F", [])).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/^.{4096}…$/s) as string }) as Error,
  );
});

test("scripts leave no trace in JavaScript prototypes", () => {
  const names = (): string[] =>
    [Object.prototype, Array.prototype, Function.prototype, String.prototype].flatMap((prototype) =>
      Reflect.ownKeys(prototype).map(String),
    );
  const before = names();
  const script = compileKubeScript(
    "function F(o) o.__proto__ = {a = 1} o.constructor = {prototype = {b = 2}} for k, v in pairs(o) do o[k] = " +
      "v end o['hasOwnProperty'] = 1 string.c = 3 return o end",
  );

  script.call("F", [{ a: {} }])[0]?.json();

  expect(names()).toEqual(before);
});
