/** A script with its owner: compiled on first use. Its errors name the owner and the object that was processed. */
import { FlotillaError } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { AnyObject } from "../interpreter.ts";
import type { Awaitable } from "@flotilla/kubernetes";
import type { LuaEngine, LuaProgram, ScriptOwner } from "../scripts/index.ts";

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

/** The customization that the error of a rule names. */
export const customizationIn = (message: string): string | undefined =>
  /\bResourceInterpreterCustomization ([a-z0-9.-]*[a-z0-9])/.exec(message)?.[1];

/** The engine prefixes errors with the script name as Lua does; there is only one script here. */
const readable = (message: string): string => message.replaceAll(/<string>:(\d+):/g, "line $1:").trimEnd();
