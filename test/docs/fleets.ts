/**
 * The fleets of a documentation page: runs `flotilla up` and `flotilla apiserver` as a reader would in a separate
 * terminal, on any free port and with pods that start immediately. Starting another one on the same data directory
 * stops the first, as a reader would with Ctrl-C.
 */
import { sleep, systemClock } from "@flotilla/base";
import type { Running, Shell } from "./shell.ts";

const UP = /^\s*(?:(?:[\w./-]*\/)?flotilla|kubectl flotilla)\s+(up|apiserver)\b/;
const READY_LIMIT_MS = 40_000;
const LOOK_MS = 50;

/** Default flags of `flotilla up`: a reader can wait for pods and members, a test should not. */
const FAST_FLAGS: readonly (readonly [string, number])[] = [
  ["--start-ms", 0],
  ["--cluster-status-update-frequency", 1],
  ["--cluster-success-threshold", 1],
  ["--cluster-failure-threshold", 2],
];

export function isUp(command: string): boolean {
  return UP.test(command) && !/\s--?h(elp)?\b/.test(command);
}

/** The command as it is run: on free ports, because pages run in parallel. Pure. */
export function withFastFlags(command: string): string {
  const fast = UP.exec(command)?.[1] === "up" ? FAST_FLAGS : [];
  const flags = fast.filter(([name]) => !command.includes(name)).map(([name, value]) => `${name} ${value}`);
  return command.replaceAll(/\s--port[ =]\d+/g, "").replace(UP, (start) => [start, "--port 0", ...flags].join(" "));
}

export interface Fleets {
  isUp(): boolean;
  /** The last output of fleets that exited by themselves, to explain why requests fail. */
  lastOutput(): string[];
  /** Resolves when the fleet reports that it is ready; otherwise throws with its output. */
  up(command: string): Promise<Running>;
}

export function createFleets(shell: Shell): Fleets {
  const byData = new Map<string, Running>();
  return {
    isUp: () => byData.size > 0,
    lastOutput: () => [...byData.values()].filter((fleet) => !fleet.isRunning()).map((fleet) => fleet.output()),
    async up(command) {
      const data = /--data[ =](\S+)/.exec(command)?.[1] ?? "";
      await byData.get(data)?.stop();
      const fleet = shell.start(withFastFlags(command));
      byData.set(data, fleet);
      const untilMs = Date.now() + READY_LIMIT_MS;
      while (!/^ready\b/m.test(fleet.output())) {
        if (!fleet.isRunning() || Date.now() > untilMs)
          throw new Error(`${command}: the fleet is not ready: ${fleet.output()}`);
        await sleep(systemClock, LOOK_MS);
      }
      return fleet;
    },
  };
}
