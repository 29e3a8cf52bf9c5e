/** Compiled scripts by their text; the least recently used are evicted. */
import type { Clock } from "@flotilla/base";
import { compileKubeScript } from "./kube-script.ts";
import type { CompiledScript } from "@flotilla/lua";

/** A compiled script takes some 30 KB in addition to its text. */
const MAX_SCRIPTS = 1024;
const MAX_CHARACTERS = 16 * 1024 * 1024;

export class ScriptCache {
  readonly #scripts = new Map<string, CompiledScript>();
  readonly #clock: Clock;
  #characters = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws `LuaSyntaxError`. */
  get(source: string): CompiledScript {
    const known = this.#scripts.get(source);
    if (known) {
      this.#scripts.delete(source);
      this.#scripts.set(source, known);
      return known;
    }
    const script = compileKubeScript(source, { clock: this.#clock });
    this.#scripts.set(source, script);
    this.#characters += source.length;
    this.#makeRoom();
    return script;
  }

  #makeRoom(): void {
    for (const source of this.#scripts.keys()) {
      if (this.#scripts.size <= MAX_SCRIPTS && this.#characters <= MAX_CHARACTERS) return;
      this.#scripts.delete(source);
      this.#characters -= source.length;
    }
  }
}
