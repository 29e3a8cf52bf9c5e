/** Scripts: random bytes, and valid programs. */
import { copy, deepFreeze, equalJson } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { DEFAULT_BUDGET, EncodeError, LuaLimitError, LuaRuntimeError, LuaSyntaxError } from "@flotilla/lua";
import { compileKubeScript } from "@flotilla/flotilla";
import { deployment } from "../corpus.ts";
import { mutateText } from "../mutate.ts";
import { defineTarget } from "../target.ts";
import { makeProgram } from "./lua-program.ts";

const WORDS = [
  " end ",
  " do ",
  " then ",
  " if ",
  " else ",
  " for k, v in pairs(o) do ",
  " while true do ",
  " repeat ",
  " until ",
  " function(a, ...) ",
  " return ",
  " local x = ",
  " goto a ",
  " ::a:: ",
  " break ",
  "...",
  "..",
  "==",
  "~=",
  "[[",
  "]]",
  "--[==[",
  "]==]",
  "--",
  "'",
  '"',
  "\\",
  "\\255",
  "0x",
  "1e",
  "é",
  "\u{1f600}",
  "\0",
  "__proto__",
  "constructor",
  "{",
  "}",
  "(",
  ")",
  "[",
  "]",
  "a.b",
  ":m()",
  " and ",
  " or ",
  " not ",
  "#",
  "^",
  "-",
  "%",
];
const SCRIPTS = [
  "function F(o)\n" +
    "  local n = 0\n" +
    "  for _, c in ipairs(o.spec.template.spec.containers) do\n" +
    "    if c.ports ~= nil then n = n + #c.ports end\n" +
    "  end\n" +
    "  o.status = { ports = n, name = o.metadata.name .. '-x' }\n" +
    "  return o\n" +
    "end",
  "local kube = require('kube')\n" +
    "function F(o)\n" +
    "  local r = kube.accuratePodRequirements(o.spec.template)\n" +
    "  if r == nil then return o.spec.replicas end\n" +
    "  return o.spec.replicas, r, kube.getPodDependencies(o.spec.template, o.metadata.namespace)\n" +
    "end",
  "function F(o)\n" +
    "  local s = ''\n" +
    "  for k, v in pairs(o.metadata.labels) do s = s .. k .. '=' .. v .. ';' end\n" +
    "  local t = {}\n" +
    "  for w in s:gmatch('[^;]+') do t[#t + 1] = w:upper() end\n" +
    "  table.sort(t, function(a, b) return a > b end)\n" +
    "  return table.concat(t, ','), string.format('%5.2f|%q|%x', 1.5, s, #t)\n" +
    "end",
  "function F(o)\n" +
    "  local ok, e = pcall(function() return o.missing.field end)\n" +
    "  local i = 0\n" +
    "  ::again::\n" +
    "  i = i + 1\n" +
    "  if i < 3 then goto again end\n" +
    "  return ok, e, i, select('#', unpack({1, 2, nil, 4}))\n" +
    "end",
];
/** Lower than usual, so that thousands of endless programs end soon. */
const BUDGET = { ...DEFAULT_BUDGET, ticks: 50_000, bytes: 4 * 1024 * 1024 };
const isLuaError = (error: unknown): boolean =>
  error instanceof LuaSyntaxError ||
  error instanceof LuaRuntimeError ||
  error instanceof LuaLimitError ||
  error instanceof EncodeError;

export const luaScripts = defineTarget({
  name: "lua-scripts",
  generate: (chance) => mutateText(chance, chance.pick(SCRIPTS), WORDS),
  declares: isLuaError,
  run(source) {
    const input = deepFreeze(copy(deployment)) as Json;
    const before = JSON.stringify(input);
    const results = compileKubeScript(source).call("F", [input], BUDGET);
    for (const result of results) result.json();
    return JSON.stringify(input) === before ? undefined : "changed its input";
  },
});

/** Tables of the input. */
const PATHS = [
  "o",
  "o.spec",
  "o.metadata",
  "o.metadata.labels",
  "o.spec.template.spec.containers",
  "o.spec.template.spec.containers[1].env",
];

/** The same program on the same input must return the same result, or fail with the same message. */
export const luaPrograms = defineTarget({
  name: "lua-programs",
  generate: (chance) => makeProgram(chance, "gopher", PATHS),
  declares: isLuaError,
  run(source) {
    const input = deepFreeze(copy(deployment)) as Json;
    const script = compileKubeScript(source);
    const outcomes = [1, 2].map(() => {
      try {
        return script
          .call("F", [input], BUDGET)
          .map((result) => (result.type === "function" ? result.type : (result.json() ?? null)));
      } catch (error) {
        if (isLuaError(error)) return [(error as Error).message];
        throw error;
      }
    });
    return equalJson(outcomes[0], outcomes[1])
      ? undefined
      : `gave ${JSON.stringify(outcomes[0])}, then ${JSON.stringify(outcomes[1])}`;
  },
});
