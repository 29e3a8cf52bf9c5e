/**
 * `npm run fuzz -- [TARGET…] [--inputs N] [--seed S] [--input I]`: feeds the parsers with generated input and prints
 * failures.
 *
 * Each target runs in a worker, so that an input that never terminates can be reported instead of waited for.
 */
import { parseArgs } from "node:util";
import { MessageChannel, Worker } from "node:worker_threads";
import { messageOf } from "@flotilla/base";
import { show, type Finding } from "./target.ts";
import { Chance, seedOf } from "./chance.ts";
import { targets } from "./targets.ts";

const USAGE = `Usage: npm run fuzz -- [TARGET]... [--inputs N] [--seed S] [--input I]

  TARGET    ${targets.map(({ name }) => name).join(", ")}; default: all
  --inputs  total number of inputs, shared among the targets; slow ones get fewer; default: 500000
  --seed    seed of the random generator; default: from the clock
  --input   run only the input with this number, to reproduce a finding

Exit code 0: nothing found; 1: something found; 2: wrong usage.
`;
const INPUTS = 500_000;
/** An input that keeps a worker busy for longer than this is assumed never to terminate. */
const STUCK_MS = 30_000;

interface Options {
  names: readonly string[];
  inputs: number;
  seed: number;
  from: number;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  let options: Options | undefined;
  try {
    options = parseOptions(args);
  } catch (error) {
    process.stderr.write(`fuzz: ${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  if (!options) {
    process.stdout.write(USAGE);
    return 0;
  }
  process.stdout.write(`seed ${options.seed}\n`);
  let found = 0;
  const inputs = sharesOf(options);
  for (const name of options.names) {
    const start = performance.now();
    const { findings, tried } = await runTarget(name, { ...options, inputs: inputs.get(name) ?? 0 });
    const seconds = (performance.now() - start) / 1000;
    process.stdout.write(
      `${name.padEnd(24)} ${tried} inputs, ${Math.round(tried / seconds)}/s, ${findings.length} findings\n`,
    );
    for (const finding of findings) process.stdout.write(render(finding));
    found += findings.length;
  }
  return found === 0 ? 0 : 1;
}

function render(finding: Finding): string {
  const { target, seed, input, problem, shown } = finding;
  return `  ${problem.replaceAll("\n", "\n    ")}\n  input:  ${shown}\n  repeat: npm run fuzz -- ${target} --seed ${seed} --input ${input}\n\n`;
}

/** The number of inputs per target: at least one, and all of them if it is alone. */
function sharesOf({ names, inputs }: Options): ReadonlyMap<string, number> {
  const shares = new Map(names.map((name) => [name, targets.find((target) => target.name === name)?.share ?? 1]));
  const whole = [...shares.values()].reduce((sum, share) => sum + share, 0);
  return new Map([...shares].map(([name, share]) => [name, Math.max(1, Math.round((inputs * share) / whole))]));
}

/** Undefined if help was requested. */
function parseOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      inputs: { type: "string" },
      seed: { type: "string" },
      input: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const known = targets.map(({ name }) => name);
  for (const name of positionals) if (!known.includes(name)) throw new TypeError(`unknown target ${name}`);
  const single = values.input === undefined ? undefined : wholeNumber("--input", values.input);
  if (single !== undefined && (positionals.length !== 1 || values.seed === undefined))
    throw new TypeError("--input requires one target and its --seed");
  return {
    names: positionals.length > 0 ? positionals : known,
    inputs: single === undefined ? wholeNumber("--inputs", values.inputs ?? String(INPUTS)) : 1,
    seed: wholeNumber("--seed", values.seed ?? String(Date.now() % 2 ** 31)),
    from: single ?? 0,
  };
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new TypeError(`${flag} must be an integer, not ${JSON.stringify(text)}`);
  return Number(text);
}

async function runTarget(
  name: string,
  { seed, inputs, from }: Options,
): Promise<{ findings: Finding[]; tried: number }> {
  /** The number of the current input. */
  const progress = new BigInt64Array(new SharedArrayBuffer(8));
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL("worker.ts", import.meta.url), {
    workerData: { name, seed, inputs, from, progress, results: port2 },
    transferList: [port2],
  });
  const { promise, resolve, reject } = Promise.withResolvers<{ findings: Finding[]; tried: number }>();
  let last = -1;
  const watchdog = setInterval(() => {
    const at = Number(Atomics.load(progress, 0));
    if (at === last) {
      const target = targets.find((one) => one.name === name);
      const shown = target ? show(target.generate(new Chance(seedOf(seed, at)))) : "";
      resolve({
        findings: [{ target: name, seed, input: at, problem: `did not terminate within ${STUCK_MS / 1000} s`, shown }],
        tried: at - from,
      });
    }
    last = at;
  }, STUCK_MS);
  port1.once("message", (findings: Finding[]) =>
    resolve({ findings, tried: Number(Atomics.load(progress, 0)) + 1 - from }),
  );
  worker.once("error", reject);
  try {
    return await promise;
  } finally {
    clearInterval(watchdog);
    port1.close();
    await worker.terminate();
  }
}
