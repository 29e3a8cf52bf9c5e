import { expect, test } from "vitest";
import { deepFreeze } from "@flotilla/base";
import { LuaSyntaxError } from "./errors.ts";
import { compileScript } from "./script.ts";

const object = deepFreeze({
  metadata: { name: "web", labels: { a: "b" } },
  spec: { replicas: 2, list: [{ n: 1 }, { n: 2 }] },
});
const results = (body: string, ...args: never[]): unknown[] =>
  compileScript(`function F(o, p) ${body} end`)
    .call("F", [object, ...args])
    .map((result) => result.json());

test("an identity script returns the identical object", () => {
  const [same] = results("return o");

  expect(same).toBe(object);
});

test("a change copies the nodes above it and shares the rest", () => {
  const [changed] = results("o.spec.replicas = 3 return o") as [{ metadata: unknown; spec: { list: unknown } }];

  expect(changed).toEqual({ ...object, spec: { ...object.spec, replicas: 3 } });
  expect(changed.metadata).toBe(object.metadata);
  expect(changed.spec.list).toBe(object.spec.list);
});

test("the same input passed twice becomes two tables", () => {
  const [first, second] = compileScript(
    "function F(a, b) a.spec.replicas = 9 return a.spec.replicas, b.spec.replicas end",
  ).call("F", [object, object]);

  expect([first?.json(), second?.json()]).toEqual([9, 2]);
});

test("a child stays identical to itself after its parent was changed", () => {
  expect(results("local s = o.spec o.extra = 1 s.replicas = 5 return s == o.spec, o.spec.replicas")).toEqual([true, 5]);
});

test("elements may be moved within a list of the input", () => {
  expect(results("table.insert(o.spec.list, 1, table.remove(o.spec.list)) return o.spec.list")).toEqual([
    [{ n: 2 }, { n: 1 }],
  ]);
});

test("globals are reset between calls", () => {
  const script = compileScript(
    "function F() count = (count or 0) + 1 string.extra = count return count, string.extra end",
  );

  const runs = [1, 2].map(() => script.call("F", []).map((result) => result.json()));

  expect(runs).toEqual([
    [1, 1],
    [1, 1],
  ]);
});

test("a global that shadows a library function is nil after it was set to nil", () => {
  expect(results("error = o.missing return type(error)")).toEqual(["nil"]);
});

test("a syntax error has line and column", () => {
  const compile = (): unknown => compileScript("function F()\n  return 1 +* 2\nend");

  expect(compile).toThrow(LuaSyntaxError);
  expect(compile).toThrow(expect.objectContaining({ position: { line: 2, column: 13 } }) as Error);
});

const control: Record<string, { body: string; want: unknown[] }> = {
  "goto continues a loop": {
    body: "local s = '' for i = 1, 4 do if i % 2 == 0 then goto continue end s = s .. i ::continue:: end return s",
    want: ["13"],
  },
  "goto jumps backwards": { body: "local i = 0 ::top:: i = i + 1 if i < 5 then goto top end return i", want: [5] },
  "goto crosses other labels": { body: "do goto b end ::a:: do return 'a' end ::b:: goto a", want: ["a"] },
  "a closure keeps the variable of its round": {
    body: "local f = {} for i = 1, 3 do f[i] = function() return i end end return f[1](), f[3]()",
    want: [1, 3],
  },
  "repeat sees its locals in the condition": {
    body: "local n = 0 repeat local done = n >= 3 n = n + 1 until done return n",
    want: [4],
  },
  "multiple results fill the end of a list": {
    body: "local function f() return 1, 2 end return {f(), f()}, (f())",
    want: [[1, 1, 2], 1],
  },
  "varargs count their nils": {
    body: "local function f(...) return select('#', ...) end return f(nil, nil)",
    want: [2],
  },
  "tail calls do not consume depth": {
    body: "local function f(n) if n == 0 then return 'end' end return f(n - 1) end return f(10000)",
    want: ["end"],
  },
  "assignment evaluates all values first": { body: "local a, b = 1, 2 a, b = b, a return a, b", want: [2, 1] },
  "pcall returns the error value": { body: "return pcall(error, {code = 5})", want: [false, { code: 5 }] },
  "pairs iterates in insertion order, also for number-like keys": {
    body: "local t = {} t.b = 1 t['10'] = 2 t['9'] = 3 local s = '' for k in pairs(t) do s = s .. k .. ' ' end return s",
    want: ["b 10 9 "],
  },
  "a key that is set again keeps its position": {
    body: "local t = {a = 1, b = 2} t.a = nil t.a = 3 local s = '' for k in pairs(t) do s = s .. k end return s",
    want: ["ab"],
  },
  "bytes combine to characters": {
    body: "local s = 'é' return #s, s:sub(1, 1) .. s:sub(2, 2), s:byte(1)",
    want: [2, "é", 195],
  },
};

for (const [behaviour, { body, want }] of Object.entries(control)) {
  test(behaviour, () => {
    expect(results(body)).toEqual(want);
  });
}
