/**
 * A fuzz target feeds one parser with generated input and checks its contract: it throws only declared errors, it
 * terminates within its bound, what it reads it can write and read again, and it does not change JavaScript's
 * prototypes.
 */
import { inspect } from "node:util";
import { messageOf } from "@flotilla/base";
import { Chance, seedOf } from "./chance.ts";

export interface FuzzTarget {
  readonly name: string;
  /** The CPU time limit of one input. Inputs are at most some tens of kilobytes, so it is generous. */
  readonly boundMs?: number;
  /** Its number of inputs relative to other targets; less for slow targets. */
  readonly share?: number;
  /** Deterministic: the same random choices give the same input. */
  generate(chance: Chance): unknown;
  /** Returns a problem, or undefined. Throws the parser's errors. */
  run(input: unknown): string | undefined | Promise<string | undefined>;
  /** Whether the parser declares this error. */
  declares(error: unknown): boolean;
}

export function defineTarget<Input>(target: {
  name: string;
  boundMs?: number;
  share?: number;
  generate(chance: Chance): Input;
  run(input: Input): string | undefined | Promise<string | undefined>;
  declares(error: unknown): boolean;
}): FuzzTarget {
  return { ...target, run: (input) => target.run(input as Input) };
}

export interface Finding {
  target: string;
  seed: number;
  /** The number of the input in the run. */
  input: number;
  problem: string;
  /** The input as text, truncated to a readable length. */
  shown: string;
}

export interface FuzzOptions {
  seed: number;
  inputs: number;
  /** The number of the first input. */
  from?: number;
  /** Stops after this many findings. */
  maxFindings?: number;
  /** Called before each input, so that an observer can see which one never terminates. */
  onInput?(input: number): void;
}

const BOUND_MS = 500;
const MAX_FINDINGS = 10;
const SHOWN_CHARACTERS = 2000;
const PROTOTYPES = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  String.prototype,
  Map.prototype,
  Promise.prototype,
];

export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<Finding[]> {
  const { seed, inputs, from = 0, maxFindings = MAX_FINDINGS, onInput } = options;
  const findings: Finding[] = [];
  for (let input = from; input < from + inputs && findings.length < maxFindings; input++) {
    onInput?.(input);
    const value = target.generate(new Chance(seedOf(seed, input)));
    const problem = await problemOf(target, value);
    if (problem !== undefined) findings.push({ target: target.name, seed, input, problem, shown: show(value) });
  }
  return findings;
}

async function problemOf(target: FuzzTarget, value: unknown): Promise<string | undefined> {
  const bound = target.boundMs ?? BOUND_MS;
  const first = await attempt(target, value);
  if (first.problem !== undefined) return first.problem;
  let { tookMs } = first;
  // The first run may include compilation and garbage collection; a slow input stays slow.
  for (let again = 0; again < 2 && tookMs > bound; again++)
    tookMs = Math.min(tookMs, (await attempt(target, value)).tookMs);
  return tookMs > bound ? `took ${Math.round(tookMs)} ms of CPU time, more than ${bound}` : undefined;
}

async function attempt(target: FuzzTarget, value: unknown): Promise<{ problem: string | undefined; tookMs: number }> {
  const before = prototypeKeys();
  const start = process.threadCpuUsage();
  let problem: string | undefined;
  try {
    problem = await target.run(value);
  } catch (error) {
    if (!target.declares(error))
      problem = `threw ${error instanceof Error ? (error.stack ?? messageOf(error)) : inspect(error)}`;
  }
  const used = process.threadCpuUsage(start);
  if (prototypeKeys() !== before) problem = "changed a JavaScript prototype";
  return { problem, tookMs: (used.user + used.system) / 1000 };
}

function prototypeKeys(): number {
  let keys = 0;
  for (const prototype of PROTOTYPES) keys += Reflect.ownKeys(prototype).length;
  return keys;
}

/** The input as it can be pasted into a test. */
export function show(value: unknown): string {
  const text =
    typeof value === "string"
      ? JSON.stringify(value)
      : value instanceof Uint8Array
        ? `base64 ${Buffer.from(value).toString("base64")}`
        : (JSON.stringify(value) ?? inspect(value));
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)` : text;
}
