/**
 * Compares our Lua with stock Lua 5.1, compiled to WebAssembly: both run the same random program and must return the
 * same, or both must fail. Messages are not compared, because ours are gopher-lua's.
 */
import type { Lua } from "wasmoon-lua5.1";
import { messageOf } from "@flotilla/base";
import { DEFAULT_BUDGET, LuaLimitError, LuaRuntimeError, LuaSyntaxError } from "@flotilla/lua";
import { compileKubeScript } from "@flotilla/flotilla";
import { defineTarget } from "../target.ts";
import { makeProgram } from "./lua-program.ts";

/** Accepted differences, besides what the programs avoid. A program in which one can occur is not compared. */
const ACCEPTED: readonly { reason: string; canHappen(source: string): boolean }[] = [
  {
    reason:
      "gopher-lua's remainder is C's `fmod`; stock Lua subtracts a rounded product, so a fractional divisor or a zero gives another result.",
    canHappen: (source) => / % /.test(source),
  },
  {
    reason: "Stock Lua stores 0 and -0 as one constant of a function, so one may replace the other.",
    canHappen: (source) => /-\(*-?0\b/.test(source),
  },
];

const LIMIT = "limit";

/** Runs a program with fresh globals. The hook ends programs that run too long. */
const RUNNER = `
local base, pcall, pairs, type, setfenv, loadstring, sethook, error = _G, pcall, pairs, type, setfenv, loadstring, debug.sethook, error
local libraries = { string = string, table = table, math = math }
function run(source)
  local chunk = loadstring(source)
  if not chunk then return "syntax" end
  local env = {}
  for name, value in pairs(base) do env[name] = value end
  for name, library in pairs(libraries) do
    env[name] = {}
    for key, value in pairs(library) do env[name][key] = value end
  end
  setfenv(chunk, env)
  sethook(function() sethook() error("${LIMIT}", 0) end, "", 3000000)
  local ok, said = pcall(chunk)
  if ok then ok, said = pcall(env.F) end
  sethook()
  if ok then return "said " .. said end
  return said == "${LIMIT}" and said or "error"
end`;

type Stock = (source: string) => string;

let loading: Promise<Stock | undefined> | undefined;

/** Undefined, with one message, if the package is missing. */
async function loadStock(): Promise<Stock | undefined> {
  let engine: { Lua: Pick<typeof Lua, "create"> };
  try {
    engine = await import("wasmoon-lua5.1");
  } catch (error) {
    process.stderr.write(`lua-differential compares nothing: stock Lua cannot be loaded (${messageOf(error)})\n`);
    return undefined;
  }
  const lua = await engine.Lua.create();
  await lua.doString(RUNNER);
  return lua.ctx["run"] as Stock;
}

function runOurs(source: string): string {
  try {
    const [result] = compileKubeScript(source).call("F", [], DEFAULT_BUDGET);
    return `said ${result?.text}`;
  } catch (error) {
    if (error instanceof LuaSyntaxError) return "syntax";
    if (error instanceof LuaRuntimeError) return "error";
    if (error instanceof LuaLimitError) return LIMIT;
    throw error;
  }
}

export const luaDifferential = defineTarget({
  name: "lua-differential",
  share: 0.2,
  generate: (chance) => makeProgram(chance, "common"),
  declares: () => false,
  async run(source) {
    const stock = await (loading ??= loadStock());
    const ours = runOurs(source);
    // A program that exceeds our limits is not run by an engine without limits.
    if (!stock || ours === LIMIT) return undefined;
    const theirs = stock(source);
    if (ours === theirs || theirs === LIMIT) return undefined;
    return ACCEPTED.some(({ canHappen }) => canHappen(source)) ? undefined : `ours ${ours}, stock Lua ${theirs}`;
  },
});
