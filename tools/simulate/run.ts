/**
 * `npm run simulate -- --seeds N [--seed S]`: plays N seeds from S on, prints a story for each that breaks an invariant, and
 * exits with 1 if one did. `--break NAME` builds a known defect in and stops at the first seed that finds it.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { defects } from "./defects.ts";
import type { FromWorker, JudgedSeed, ToWorker, WorkerOptions } from "./worker-messages.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: String(availableParallelism()) },
    minutes: { type: "string", default: "0" },
    break: { type: "string" },
    "no-shrink": { type: "boolean", default: false },
  },
});
/** Every so many seeds one is run twice. */
const REPEAT_EVERY = 20;

interface Totals {
  seeds: number;
  broken: number;
  /** Seeds whose disk lost acknowledged writes: only what holds at every moment was judged. */
  partlyJudged: number;
  virtualMs: number;
  faults: number;
  events: number;
  repeated: number;
}

/** A number of a flag; anything else would make a run that never ends. */
function numberOf(flag: "seeds" | "seed" | "workers" | "minutes"): number {
  const number = Number(values[flag]);
  if (!Number.isFinite(number) || number < 0) throw new Error(`--${flag} must be a number, not '${values[flag]}'`);
  return number;
}

async function play(defect: string | undefined): Promise<Totals & { firstBroken: JudgedSeed | undefined }> {
  const first = numberOf("seed");
  const last = first + numberOf("seeds") - 1;
  const untilMs = numberOf("minutes") * 60_000;
  const startMs = performance.now();
  const totals: Totals = { seeds: 0, broken: 0, partlyJudged: 0, virtualMs: 0, faults: 0, events: 0, repeated: 0 };
  let next = first;
  let firstBroken: JudgedSeed | undefined;
  const workers = Math.max(1, Math.min(numberOf("workers"), last - first + 1));

  const isOver = (): boolean =>
    next > last ||
    (untilMs > 0 && performance.now() - startMs > untilMs) ||
    (defect !== undefined && firstBroken !== undefined);
  await Promise.all(
    Array.from({ length: workers }, async () => {
      const workerData: WorkerOptions = { defect, shrinks: !values["no-shrink"] && defect === undefined };
      const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData });
      await new Promise<void>((resolve, reject) => {
        worker.once("error", reject);
        worker.on("message", ({ result: judged }: FromWorker) => {
          if (judged) note(judged);
          if (isOver()) return resolve();
          const seed = next++;
          const isRepeated = seed % REPEAT_EVERY === 0;
          if (isRepeated) totals.repeated++;
          // A thread has no origin.
          // oxlint-disable-next-line require-post-message-target-origin
          worker.postMessage({ seed, isRepeated } satisfies ToWorker);
        });
      });
      await worker.terminate();
    }),
  );
  return { ...totals, firstBroken };

  function note(judged: JudgedSeed): void {
    const { result } = judged;
    totals.seeds++;
    totals.virtualMs += result.virtualMs;
    totals.faults += result.faults;
    totals.events += result.events;
    if (result.hasLostWrites) totals.partlyJudged++;
    if (result.violations.length === 0) return;
    totals.broken++;
    firstBroken ??= judged;
    if (defect === undefined) process.stdout.write(renderBroken(judged));
  }
}

function renderBroken({ result, shrunk }: JudgedSeed): string {
  const [violation] = result.violations;
  if (!violation) return "";
  const shown = shrunk?.result ?? result;
  return [
    `seed ${result.seed} broken: ${violation.invariant}, at ${(violation.atMs / 1000).toFixed(3)} s: ${violation.details}`,
    ...(shrunk ? [`  ${shrunk.dropped} steps were not needed; what is left:`] : []),
    ...shown.story.map((line) => `  ${line}`),
    `  again: npm run simulate -- --seeds 1 --seed ${result.seed}`,
    "",
  ].join("\n");
}

if (values.break === undefined) {
  const { seeds, broken, partlyJudged, virtualMs, faults, events, repeated } = await play(undefined);
  process.stdout.write(
    `${(virtualMs / 3_600_000).toFixed(1)} virtual hours, ${faults} faults, ${events} events; ${repeated} seeds were run twice and compared\n`,
  );
  process.stdout.write(
    `${seeds} seeds (of which ${partlyJudged} lost acknowledged writes to a lying disk, and were not judged at their end), ${broken} broken\n`,
  );
  process.exitCode = broken > 0 ? 1 : 0;
} else {
  const names = values.break === "all" ? Object.keys(defects) : [values.break];
  for (const name of names) {
    const { seeds, firstBroken } = await play(name);
    const [violation] = firstBroken?.result.violations ?? [];
    process.stdout.write(
      violation && firstBroken
        ? `${name}: found after ${seeds} seeds, by seed ${firstBroken.result.seed}: ${violation.invariant}\n`
        : `${name}: not found in ${seeds} seeds\n`,
    );
    if (!violation) process.exitCode = 1;
  }
}
