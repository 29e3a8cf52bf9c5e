/** Scripts as Karmada runs them: Lua with the module `kube`. */
import { kubeModule } from "./kube.ts";
import { compileScript } from "@flotilla/lua";
import type { CompiledScript, CompileOptions } from "@flotilla/lua";

const MODULES = { kube: kubeModule };

/** Throws `LuaSyntaxError`, whose position has line and column. */
export function compileKubeScript(source: string, options: Omit<CompileOptions, "modules"> = {}): CompiledScript {
  return compileScript(source, { ...options, modules: MODULES });
}
