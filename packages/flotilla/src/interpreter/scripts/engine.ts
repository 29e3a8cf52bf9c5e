/**
 * Runs the scripts of customizations: compiles each script once, measures its calls, and moves a script that repeatedly
 * exceeds its limits out of the process. There is one engine per process.
 */
import { invariant } from "@flotilla/base";
import type { Clock, MetricsText } from "@flotilla/base";
import type { Awaitable, Operation } from "@flotilla/kubernetes";
import { Breaker } from "./breaker.ts";
import type { BreakerState } from "./breaker.ts";
import { DEFAULT_BUDGET, LuaLimitError } from "@flotilla/lua";
import type { CompiledScript, LuaBudget } from "@flotilla/lua";
import { createProgram, runFunction } from "./program.ts";
import type { Invoke, LuaProgram, ProgramFunction, ProgramInput, ProgramResult } from "./program.ts";
import { createQuarantine } from "./quarantine.ts";
import type { Quarantine } from "./quarantine.ts";
import { ScriptCache } from "./script-cache.ts";
import { ScriptMetrics, writeScriptMetrics } from "./script-metrics.ts";
import type { ScriptOwner } from "./script-owner.ts";

export interface LuaEngine {
  /**
   * Compiled once per text. The same owner with the same text gets the same program and its state; a changed text
   * starts afresh. Throws `LuaSyntaxError`.
   */
  prepare(source: string, owner: ScriptOwner): LuaProgram;
  /** Drops the state and metrics of a script that was deleted or replaced, or of all scripts of a customization. */
  forget(customization: string, operation?: Operation): void;
  /** Duration and failures of scripts, and where they run, by customization and operation. */
  writeMetrics(text: MetricsText): void;
  /** Called when a script is moved out of the process after repeated overruns, and when it is moved back. */
  onTripped(listener: (owner: ScriptOwner, state: BreakerState) => void): void;
  close(): Promise<void>;
}

export interface LuaEngineOptions {
  clock: Clock;
  /** Limits of a call in the process. */
  budget?: LuaBudget;
  /**
   * `worker` keeps every script out of the process, for operators who do not trust the script authors; a call then
   * costs 12 to 600 µs.
   */
  isolation?: "process" | "worker";
  /** Where tripped scripts run; a worker thread by default. */
  quarantine?: Quarantine;
}

/** More than any fleet has: one hub does not serve ten thousand customizations. */
const MAX_OWNERS = 16_384;

export function createLuaEngine({
  clock,
  budget = DEFAULT_BUDGET,
  isolation = "process",
  quarantine = createQuarantine({ clock }),
}: LuaEngineOptions): LuaEngine {
  checkPrototype();
  const scripts = new ScriptCache(clock);
  const owned = new Map<string, OwnedScript>();
  const listeners: ((owner: ScriptOwner, state: BreakerState) => void)[] = [];
  const home: EngineState = {
    clock,
    budget,
    isolation,
    quarantine,
    onTripped: (owner, state) => listeners.forEach((listener) => listener(owner, state)),
  };

  return {
    prepare(source, owner) {
      const key = keyOf(owner);
      const known = owned.get(key);
      if (known?.source === source) return known.program;
      const script = scripts.get(source);
      if (owned.size >= MAX_OWNERS && !known) owned.delete(owned.keys().next().value ?? "");
      const made = new OwnedScript(owner, source, script, home);
      owned.set(key, made);
      return made.program;
    },
    forget(customization, operation) {
      if (operation !== undefined) owned.delete(keyOf({ customization, operation }));
      else for (const [key, { owner }] of owned) if (owner.customization === customization) owned.delete(key);
    },
    writeMetrics: (text) => writeScriptMetrics(text, [...owned.values()]),
    onTripped: (listener) => void listeners.push(listener),
    close: () => quarantine.close(),
  };
}

/** Scripts read plain objects. A property on Object.prototype would be a key of every table. */
function checkPrototype(): void {
  const [polluted] = Object.keys(Object.prototype);
  invariant(polluted === undefined, `Object.prototype has a property ${polluted}`);
}

const keyOf = ({ customization, operation }: ScriptOwner): string => `${customization}/${operation}`;

/** Shared by all scripts of an engine. */
interface EngineState {
  clock: Clock;
  budget: LuaBudget;
  isolation: "process" | "worker";
  quarantine: Quarantine;
  onTripped(owner: ScriptOwner, state: BreakerState): void;
}

/** A script of an owner, with the statistics of its calls. */
class OwnedScript {
  readonly owner: ScriptOwner;
  readonly source: string;
  readonly program: LuaProgram;
  readonly metrics = new ScriptMetrics();
  readonly #script: CompiledScript;
  readonly #home: EngineState;
  readonly #breaker: Breaker;

  constructor(owner: ScriptOwner, source: string, script: CompiledScript, home: EngineState) {
    this.owner = owner;
    this.source = source;
    this.#script = script;
    this.#home = home;
    this.#breaker = new Breaker(home.clock, (state) => home.onTripped(owner, state));
    const invoke: Invoke = (name, input) => this.#invoke(name, input);
    this.program = createProgram(invoke);
  }

  get isQuarantined(): boolean {
    return this.#home.isolation === "worker" || this.#breaker.state === "quarantined";
  }

  #invoke<F extends ProgramFunction>(name: F, input: ProgramInput<F>): Awaitable<ProgramResult<F>> {
    return this.#home.isolation === "process" && this.#breaker.admits()
      ? this.#invokeHere(name, input)
      : this.#invokeElsewhere(name, input);
  }

  #invokeHere<F extends ProgramFunction>(name: F, input: ProgramInput<F>): ProgramResult<F> {
    const start = performance.now();
    try {
      const result = runFunction(this.#script, name, input, this.#home.budget);
      this.#breaker.ended();
      return result;
    } catch (error) {
      this.metrics.failed(error);
      if (error instanceof LuaLimitError) this.#breaker.overran();
      else this.#breaker.ended();
      throw error;
    } finally {
      this.metrics.took(performance.now() - start);
    }
  }

  async #invokeElsewhere<F extends ProgramFunction>(name: F, input: ProgramInput<F>): Promise<ProgramResult<F>> {
    const start = performance.now();
    try {
      return await this.#home.quarantine.run(this.source, name, input);
    } catch (error) {
      this.metrics.failed(error);
      throw error;
    } finally {
      this.metrics.took(performance.now() - start);
    }
  }
}
