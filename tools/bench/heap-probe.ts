/**
 * Loaded into a measured process: on SIGUSR2 it runs the garbage collector and prints the used heap. Needs
 * `--expose-gc`.
 */
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  process.on("SIGUSR2", () => {
    globalThis.gc?.();
    process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`);
  });
}
