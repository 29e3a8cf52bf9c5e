/** Runs seeds in a thread of its own; the program is loaded after a defect was built in. */
import { parentPort, workerData } from "node:worker_threads";
import { breakProgram } from "./defects.ts";
import type { FromWorker, ToWorker, WorkerOptions } from "./worker-messages.ts";

const { defect, shrinks } = workerData as WorkerOptions;
if (defect !== undefined) breakProgram(defect);
const { judgeSeed } = await import("./judge-seed.ts");
const port = parentPort;
if (!port) throw new Error("this file runs in a worker thread");

port.on("message", (asked: ToWorker) => {
  judgeSeed(asked.seed, { shrinks, isRepeated: asked.isRepeated }).then(
    (result) => port.postMessage({ result } satisfies FromWorker),
    (error: unknown) => {
      throw error;
    },
  );
});
port.postMessage({ isReady: true } satisfies FromWorker);
