/** Scripts that try to hang, to eat memory or to reach the host. Each must end soon, with an error and without a trace. */
import { expect, test } from "vitest";
import { deepFreeze } from "../../base/index.ts";
import { LuaLimitError, LuaRuntimeError, LuaSyntaxError } from "./errors.ts";
import { compileScript } from "./script.ts";

const MAX_CPU_MS = 200;
/** Live memory that may be left behind. */
const MAX_GROWTH_BYTES = 16 * 1024 * 1024;

const endless: Record<string, string> = {
  "an endless while": "while true do end",
  "an endless repeat": "repeat until false",
  "a for of 10^18 rounds": "for i = 1, 1e18 do end",
  "a goto to itself": "::a:: goto a",
  "an endless loop inside pcall inside a loop": "while true do pcall(function() while true do end end) end",
  "an endless tail call": "local function f() return f() end return f()",
  "errors that are caught for ever": "while true do pcall(error, 'x') end",
  "a tree of recursive pcalls": "pcall(F) pcall(F) pcall(F)",
  "a string that doubles": "local s = 'x' while true do s = s .. s end",
  "a table bomb": "local t = {} while true do t[#t + 1] = {} end",
  "a key bomb": "local t, i = {}, 0 while true do i = i + 1 t['k' .. i] = i end",
  "a key bomb of numbers as strings": "local t, i = {}, 0 while true do i = i + 1 t[tostring(i)] = i end",
  "a closure bomb": "local t = {} while true do t[#t + 1] = function() return t end end",
  "a list with one far element": "local t = {} t[67108863] = 1",
  "a pattern that backtracks": "return ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'):find('a*a*a*a*a*a*a*a*b')",
  "lazy repetitions over a long text": "return ('%50000d'):format(1):match('.-.-.-.-.-.-x')",
  "million-deep nesting": "local t = {} for i = 1, 1000000 do t = {t} end return t",
  "comparing long strings": "local s, u = ('%900000d'):format(1), ('%900000d'):format(1) while true do if s == u then end end",
  "ordering long strings": "local s, u = ('é%90000d'):format(1), ('é%90000d'):format(1) while true do if s < u then end end",
  "numbers of a million digits": "local s = ('%0900000d'):format(1) while true do tonumber(s) end",
  "reversing a long string": "local s = ('%900000d'):format(1) while true do s:reverse() end",
  "a sort that never agrees": "local t = {} for i = 1, 100000 do t[i] = i end while true do table.sort(t, function() return true end) end",
  "inserting in front": "local t = {} while true do table.insert(t, 1, 1) end",
  "asking for the next of a large table": "local t = {} for i = 1, 9000 do t['k' .. i] = i end while true do next(t, 'k10') next(t, 'k900') end",
  "long quantities": "local kube = require('kube') while true do kube.resourceAdd('1e300', '1', '2Gi') end",
  "unpacking for ever": "local t = {} t[90000] = 1 while true do local a = {unpack(t)} end",
};

for (const [attack, body] of Object.entries(endless)) {
  test(`${attack} ends with a limit`, () => {
    const script = compileScript(`function F() ${body} end`);
    const heap = process.memoryUsage().heapUsed;
    const start = process.cpuUsage();

    expect(() => script.call("F", [])).toThrow(LuaLimitError);

    const { user, system } = process.cpuUsage(start);
    globalThis.gc?.();
    // The collector works on other threads too, so this is more than the time that anybody waited.
    expect((user + system) / 1000).toBeLessThan(MAX_CPU_MS * 2);
    // Without a collector at hand there is nothing to say about memory that is still in use.
    const grown = globalThis.gc ? process.memoryUsage().heapUsed - heap : 0;
    expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
  });
}

const failing: Record<string, { body: string; message: string }> = {
  "infinite recursion": { body: "local function f() return f() + 1 end return f()", message: "stack overflow" },
  "mutual recursion": { body: "local g local function f() return g() + 1 end g = function() return f() + 1 end return f()", message: "stack overflow" },
  "string.rep": { body: "return ('x'):rep(1e9)", message: "string.rep is not supported" },
  "string.dump": { body: "return string.dump(F)", message: "string.dump is not supported" },
  "the metatable of strings": { body: "return getmetatable('').__index", message: "call function getmetatable is not supported" },
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
  "a function's constructor": { body: "return print.constructor", message: "attempt to index a non-table object(function)" },
  "a number's constructor": { body: "return (5).constructor", message: "attempt to index a non-table object(number)" },
  "a call of a string's constructor": { body: "return ('x').constructor('return 1')", message: "attempt to call a non-function object" },
};

for (const [attack, { body, message }] of Object.entries(failing)) {
  test(`${attack} is refused`, () => {
    const script = compileScript(`function F() ${body} end`);

    expect(() => script.call("F", [])).toThrow(LuaRuntimeError);
    expect(() => script.call("F", [])).toThrow(message);
  });
}

test("nothing of a JavaScript object shows through a table", () => {
  const names = ["constructor", "__proto__", "hasOwnProperty", "toString", "valueOf", "length", "map", "__defineGetter__"];
  const script = compileScript("function F(o, l, name) return o[name], l[name], ({})[name], ({1})[name], ('x')[name] end");

  for (const name of names) expect(script.call("F", [{ a: 1 }, [1, 2], name]).map(({ type }) => type)).toEqual(["nil", "nil", "nil", "nil", "nil"]);
});

test("names of JavaScript are plain keys that can be read, written, copied and returned", () => {
  const input = deepFreeze(JSON.parse('{"__proto__":{"a":1},"constructor":{"b":2},"toString":"c"}') as Record<string, never>);
  const script = compileScript(`
    function F(o)
      local copy = {}
      for key, value in pairs(o) do copy[key] = value end
      copy.__proto__.polluted = "yes"
      copy["hasOwnProperty"] = true
      o.__proto__ = copy.constructor
      return copy, o, o.toString
    end`);

  const [copied, changed, text] = script.call("F", [input]).map((result) => result.json());

  expect(JSON.stringify(copied)).toBe('{"__proto__":{"a":1,"polluted":"yes"},"constructor":{"b":2},"toString":"c","hasOwnProperty":true}');
  expect(JSON.stringify(changed)).toBe('{"__proto__":{"b":2},"constructor":{"b":2},"toString":"c"}');
  expect(text).toBe("c");
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("what looks like JavaScript is inert as a name, a string, a comment or a label", () => {
  const script = compileScript(`
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
  "a megabyte of source": `return "${"x".repeat(1_000_000)}"`,
};

for (const [bomb, source] of Object.entries(bombs)) {
  test(`${bomb} do not compile, and say so soon`, () => {
    const start = process.cpuUsage();

    expect(() => compileScript(source)).toThrow(LuaSyntaxError);

    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(MAX_CPU_MS * 2);
  });
}
