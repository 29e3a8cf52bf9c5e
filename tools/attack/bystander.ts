/** Starts the bystander's process and asks it for its measurements. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { BystanderCommand, BystanderOptions } from "./bystander-process.ts";
import type { Latency } from "./judge.ts";

export interface Bystander {
  /** Begins a measurement. */
  reset(): void;
  /** What was measured since. */
  report(): Promise<Latency>;
  stop(): void;
}

export function startBystander(options: BystanderOptions): Bystander {
  const child = fork(join(import.meta.dirname, "bystander-process.ts"), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const send = (command: BystanderCommand): void => void child.send(command);
  send({ type: "start", options });
  return {
    reset: () => send({ type: "reset" }),
    async report() {
      const answer = once(child, "message") as Promise<[Latency]>;
      send({ type: "report" });
      return (await answer)[0];
    },
    stop: () => child.disconnect(),
  };
}
