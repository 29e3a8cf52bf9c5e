/** Runs one target for `run.ts`, which monitors it from outside. */
import { workerData, type MessagePort } from "node:worker_threads";
import { fuzz } from "./target.ts";
import { targets } from "./targets.ts";

const { name, seed, inputs, from, progress, results } = workerData as {
  name: string;
  seed: number;
  inputs: number;
  from: number;
  progress: BigInt64Array;
  results: MessagePort;
};
const target = targets.find((one) => one.name === name);
if (!target) throw new RangeError(`unknown target ${name}`);
const findings = await fuzz(target, {
  seed,
  inputs,
  from,
  onInput: (input) => void Atomics.store(progress, 0, BigInt(input)),
});
results.postMessage(findings, []);
