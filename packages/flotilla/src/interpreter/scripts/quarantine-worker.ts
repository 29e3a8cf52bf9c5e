/**
 * The thread of the quarantined scripts: takes batches of calls, runs them one after another, and sends results
 * periodically, so that a quick call does not wait for slow ones behind it.
 */
import { parentPort, workerData } from "node:worker_threads";
import { required } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { runFunction } from "./program.ts";
import type { ProgramInput } from "./program.ts";
import { packFailure } from "./quarantine-protocol.ts";
import type { Answer, Batch, QuarantineData, RemoteCall } from "./quarantine-protocol.ts";
import { compileKubeScript } from "./kube-script.ts";
import type { CompiledScript } from "@flotilla/lua";

/** Longer than the cost of a message, shorter than a user notices. */
const RESULT_INTERVAL_MS = 5;

const port = required(parentPort, "the port to the process");
const { progress, budget } = workerData as QuarantineData;
const scripts = new Map<number, CompiledScript>();
let nowMs = 0;
const clock: Clock = {
  now: () => nowMs,
  after: () => {
    throw new TypeError("a script cannot wait");
  },
};

function answer(call: RemoteCall): Answer {
  nowMs = call.nowMs;
  Atomics.store(progress, 0, call.id);
  try {
    const script = required(scripts.get(call.script), "the script of a call");
    return { id: call.id, value: runFunction(script, call.name, call.input as ProgramInput<typeof call.name>, budget) };
  } catch (error) {
    return { id: call.id, failure: packFailure(error) };
  } finally {
    Atomics.store(progress, 0, 0);
  }
}

port.on("message", ({ calls, sources, isFresh }: Batch) => {
  if (isFresh) scripts.clear();
  for (const [script, source] of sources) scripts.set(script, compileKubeScript(source, { clock }));
  let answers: Answer[] = [];
  let last = performance.now();
  for (const call of calls) {
    answers.push(answer(call));
    const now = performance.now();
    if (now - last < RESULT_INTERVAL_MS) continue;
    port.postMessage(answers);
    answers = [];
    last = now;
  }
  if (answers.length > 0) port.postMessage(answers);
});
