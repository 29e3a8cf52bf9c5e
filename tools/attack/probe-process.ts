/**
 * A client that has nothing to do with an attack: a process of its own with two connections that stay open, one for
 * small reads and one for small writes, each every 20 ms. It reports how long the longest took, including one that is
 * still unanswered.
 */
import type { OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import type { Latency } from "./judge.ts";

export interface ProbeOptions {
  origin: string;
  path: string;
  ca: string;
  token: string;
}
/** `reset` begins a measurement, `report` ends it. */
export type ProbeCommand = { type: "start"; options: ProbeOptions } | { type: "reset" } | { type: "report" };

const INTERVAL_MS = 20;
/** Longer than any limit, so that a hub that never answers is a failure and not a hang. */
const TIMEOUT_MS = 60_000;

class Probe {
  readonly #send: () => Promise<void>;
  #startedMs: number | undefined;
  #longestMs = 0;
  #answered = 0;
  #failures: string[] = [];

  constructor(send: () => Promise<void>) {
    this.#send = send;
  }

  reset(): void {
    // A request that is in progress counts from here on: what it waited before belongs to an earlier measurement.
    if (this.#startedMs !== undefined) this.#startedMs = performance.now();
    this.#longestMs = 0;
    this.#answered = 0;
    this.#failures = [];
  }

  report(): { longestMs: number; answered: number; failures: readonly string[] } {
    const waiting = this.#startedMs === undefined ? 0 : performance.now() - this.#startedMs;
    return { longestMs: Math.max(this.#longestMs, waiting), answered: this.#answered, failures: this.#failures };
  }

  async run(): Promise<never> {
    for (;;) {
      this.#startedMs = performance.now();
      try {
        await this.#send();
        this.#answered++;
      } catch (error) {
        this.#failures.push(error instanceof Error ? error.message : String(error));
      }
      this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#startedMs);
      this.#startedMs = undefined;
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  }
}

/** Node rejects a header whose value is undefined. */
const BODILESS: OutgoingHttpHeaders = {};
const headersOf = (body: string): OutgoingHttpHeaders => ({
  "content-type": "application/merge-patch+json",
  "content-length": Buffer.byteLength(body),
});

function createProbes({ origin, path, ca, token }: ProbeOptions): { read: Probe; write: Probe } {
  const send = (agent: https.Agent, method: string, body?: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = https.request(new URL(path, origin), {
        agent,
        method,
        timeout: TIMEOUT_MS,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? BODILESS : headersOf(body)),
        },
      });
      request.on("response", (response) => {
        response.resume();
        response.on("end", () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${method}: ${response.statusCode}`)),
        );
        response.on("error", reject);
      });
      request.on("timeout", () => request.destroy(new Error(`${method}: no answer within ${TIMEOUT_MS / 1000} s`)));
      request.on("error", reject);
      request.end(body);
    });
  const agentOf = (): https.Agent => new https.Agent({ ca, keepAlive: true, maxSockets: 1 });
  const [reads, writes] = [agentOf(), agentOf()];
  let count = 0;
  return {
    read: new Probe(() => send(reads, "GET")),
    write: new Probe(() => send(writes, "PATCH", JSON.stringify({ data: { count: String(++count) } }))),
  };
}

let ownDelayMs = 0;
let dueMs = performance.now() + INTERVAL_MS;
setInterval(() => {
  const nowMs = performance.now();
  ownDelayMs = Math.max(ownDelayMs, nowMs - dueMs);
  dueMs = nowMs + INTERVAL_MS;
}, INTERVAL_MS);

let probes: ReturnType<typeof createProbes> | undefined;
process.on("message", (command: ProbeCommand) => {
  if (command.type === "start") {
    probes = createProbes(command.options);
    void probes.read.run();
    void probes.write.run();
  }
  if (command.type === "reset") ownDelayMs = 0;
  if (command.type === "reset") for (const probe of Object.values(probes ?? {})) probe.reset();
  if (command.type === "report" && probes) process.send?.(latencyOf(probes.read.report(), probes.write.report()));
});
process.on("disconnect", () => process.exit(0));

type Report = ReturnType<Probe["report"]>;
function latencyOf(read: Report, write: Report): Latency {
  const failures = [...read.failures, ...write.failures];
  return {
    longestReadMs: read.longestMs,
    longestWriteMs: write.longestMs,
    ownDelayMs,
    reads: read.answered,
    writes: write.answered,
    failed: failures.length,
    firstFailure: failures[0],
  };
}
