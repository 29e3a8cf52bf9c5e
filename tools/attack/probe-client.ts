/** Starts the probe client's process and asks it for its measurements. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ProbeCommand, ProbeOptions } from "./probe-process.ts";
import type { Latency } from "./judge.ts";

export interface ProbeClient {
  /** Begins a measurement. */
  reset(): void;
  /** What was measured since. */
  report(): Promise<Latency>;
  stop(): void;
}

export function startProbe(options: ProbeOptions): ProbeClient {
  const child = fork(join(import.meta.dirname, "probe-process.ts"), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const send = (command: ProbeCommand): void => void child.send(command);
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
