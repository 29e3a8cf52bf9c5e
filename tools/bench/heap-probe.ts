/**
 * Loaded into a measured process: on SIGUSR2 it collects garbage and prints how much of the heap is in use. Needs
 * `--expose-gc`.
 */
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  process.on("SIGUSR2", () => {
    globalThis.gc?.();
    process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`);
  });
}
