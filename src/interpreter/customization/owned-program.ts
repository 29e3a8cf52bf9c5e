/**
 * A script with its owner: compiled when it is first needed, and its failures say whose it is and on what it was run.
 */
import { FlotillaError } from "../../base/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { AnyObject } from "../interpreter.ts";
import type { Awaitable } from "../level.ts";
import type { LuaEngine, LuaProgram, ScriptOwner } from "../lua/index.ts";

export class OwnedProgram {
  readonly #owner: ScriptOwner;
  readonly #source: string;
  readonly #engine: LuaEngine;
  #program: LuaProgram | undefined;

  constructor(engine: LuaEngine, source: string, owner: ScriptOwner) {
    this.#engine = engine;
    this.#source = source;
    this.#owner = owner;
  }

  /** Throws `InterpretError`. */
  async run<T>(object: AnyObject, act: (program: LuaProgram) => Awaitable<T>): Promise<T> {
    try {
      this.#program ??= this.#engine.prepare(this.#source, this.#owner);
      return await act(this.#program);
    } catch (error) {
      if (!(error instanceof FlotillaError)) throw error;
      throw new InterpretError(`${this.#doing(object)}: ${readable(error.message)}`, { cause: error });
    }
  }

  #doing({ kind, metadata: { namespace, name } }: AnyObject): string {
    const { customization, operation } = this.#owner;
    return `running ${operation} of ResourceInterpreterCustomization ${customization} on ${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
  }
}

/** The engine names a script as Lua does, and there is only one here. */
const readable = (message: string): string => message.replaceAll(/<string>:(\d+):/g, "line $1:").trimEnd();
