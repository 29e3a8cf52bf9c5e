/** The global names of a script. Library tables are created on first use, fresh for every call. */
import type { Machine } from "../machine.ts";
import { Table } from "../lua-table.ts";
import type { LuaFunction, LuaValue } from "../values.ts";
import { bind } from "./arguments.ts";
import type { LibraryFunction } from "./arguments.ts";
import { baseFunctions } from "./base.ts";
import { MATH_CONSTANTS, mathFunctions } from "./math.ts";
import { osFunctions } from "./os.ts";
import { stringFunctions } from "./string.ts";
import { tableFunctions } from "./table.ts";

const LIBRARIES: ReadonlyMap<string, Readonly<Record<string, LibraryFunction>>> = new Map([
  ["string", stringFunctions],
  ["table", tableFunctions],
  ["math", mathFunctions],
  ["os", osFunctions],
]);

/** Names that are defined before the script runs. */
export const LIBRARY_NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(baseFunctions),
  ...LIBRARIES.keys(),
  "package",
  "require",
  "_G",
  "_VERSION",
]);

/** Whether a library has a function or constant of this name; undefined if it is not a library. */
export function libraryHas(library: string, name: string): boolean | undefined {
  const functions = LIBRARIES.get(library);
  return functions && (Object.hasOwn(functions, name) || (library === "math" && Object.hasOwn(MATH_CONSTANTS, name)));
}

/** A module that scripts load with `require`: its table, fresh for every call. */
export type LuaModule = (machine: Machine) => Table;
export type LuaModules = Readonly<Record<string, LuaModule>>;

export class Globals {
  readonly #machine: Machine;
  readonly #modules: LuaModules;
  #tables: Map<string, Table> | undefined;
  #loaded: Table | undefined;
  #required: Map<string, Table> | undefined;

  constructor(machine: Machine, modules: LuaModules) {
    this.#machine = machine;
    this.#modules = modules;
    machine.library = this;
  }

  get(name: string): LuaValue {
    if (LIBRARIES.has(name)) return this.#library(name);
    if (Object.hasOwn(baseFunctions, name)) return this.#bind(baseFunctions[name]);
    if (name === "require") return bind(this.#machine, (args) => this.#require(args.string(1)));
    if (name === "package") return this.#package();
    return name === "_VERSION" ? "Lua 5.1" : undefined;
  }

  /** All globals as the table `_G`. */
  asTable(): Table {
    const table = Table.make();
    for (const name of LIBRARY_NAMES) table.setString(name, name === "_G" ? table : this.get(name));
    this.#machine.allocate(16_384);
    this.#loaded?.setString("_G", table);
    return table;
  }

  #bind(run: LibraryFunction | undefined): LuaFunction | undefined {
    return run && bind(this.#machine, run);
  }

  #library(name: string): Table {
    const known = this.#tables?.get(name);
    if (known) return known;
    const table = Table.make();
    for (const [key, run] of Object.entries(LIBRARIES.get(name) ?? {})) table.h[key] = bind(this.#machine, run);
    if (name === "math") Object.assign(table.h, MATH_CONSTANTS);
    // String methods are looked up here, so a script may redefine a method.
    if (name === "string") table.h["__index"] = table;
    (this.#tables ??= new Map()).set(name, table);
    return table;
  }

  #methods: Map<string, LuaFunction> | undefined;

  /** The string method of this name. */
  stringField(name: string): LuaValue {
    const table = this.#tables?.get("string");
    if (table !== undefined) {
      const index = table.getString("__index");
      return index instanceof Table ? index.getString(name) : undefined;
    }
    if (!Object.hasOwn(stringFunctions, name)) return name === "__index" ? this.#library("string") : undefined;
    let method = this.#methods?.get(name);
    if (method === undefined) {
      method = bind(this.#machine, stringFunctions[name] ?? (() => undefined));
      (this.#methods ??= new Map()).set(name, method);
    }
    return method;
  }

  #package(): Table {
    const known = this.#tables?.get("package");
    if (known) return known;
    const table = Table.make();
    (this.#tables ??= new Map()).set("package", table);
    this.#loaded = Table.make();
    for (const name of LIBRARIES.keys()) this.#loaded.setString(name, this.#library(name));
    this.#loaded.setString("package", table);
    const preload = Table.make();
    for (const [name, make] of Object.entries(this.#modules))
      preload.setString(
        name,
        bind(this.#machine, ({ machine }) => make(machine)),
      );
    const notFound = bind(this.#machine, (args) => {
      const loader = preload.getString(args.string(1));
      return loader ?? `no field package.preload['${args.string(1)}']`;
    });
    table.setString(
      "loadlib",
      bind(this.#machine, ({ machine }) => {
        throw machine.failure("loadlib is not supported");
      }),
    );
    table.setString("preload", preload);
    table.setString("loaders", Table.ofList([notFound]));
    table.setString("loaded", this.#loaded);
    return table;
  }

  #module(name: string): Table | undefined {
    let table = this.#required?.get(name);
    if (!table) {
      table = this.#modules[name]?.(this.#machine);
      if (table) (this.#required ??= new Map()).set(name, table);
    }
    return table;
  }

  #require(name: string): LuaValue {
    const loaded = this.#loaded?.getString(name);
    if (loaded !== undefined && loaded !== false) return loaded;
    if (this.#loaded === undefined) {
      if (LIBRARIES.has(name)) return this.#library(name);
      if (Object.hasOwn(this.#modules, name)) return this.#module(name);
      if (name === "package") return this.#package();
    } else {
      const preload = this.#package().getString("preload");
      const loader = preload instanceof Table ? preload.getString(name) : undefined;
      if (typeof loader === "function") return this.#load(name, loader);
    }
    throw this.#machine.failure(`module ${name} not found:\n\tno field package.preload['${name}'], `);
  }

  /** A module is created once; `require` returns the value it returns or stores under its name. */
  #load(name: string, loader: LuaFunction): LuaValue {
    const [made] = this.#machine.call(loader, [name]);
    const left = this.#loaded?.getString(name);
    const module = left ?? made ?? true;
    this.#loaded?.setString(name, module);
    return module;
  }
}
