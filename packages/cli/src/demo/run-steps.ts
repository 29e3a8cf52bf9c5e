/**
 * Runs the demo step by step: acts, waits until the expected effect is observed, shows it, and continues. A step whose
 * effect is not observed in time stops the demo.
 */
import { FlotillaError, sleep } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Output } from "../output.ts";
import { wrapWords } from "../text-layout.ts";
import type { Stage, Step } from "./stage.ts";

/** Polling is cheap, and every step waits for its last poll. */
const POLL_MS = 100;

export interface CompletedStep {
  title: string;
  observed: string;
  seconds: number;
}

export interface RunStepsOptions {
  steps: readonly Step[];
  stage: Stage;
  output: Output;
  /** The pause between two steps. */
  pauseMs: number;
  clock: Clock;
  signal: AbortSignal;
}

export async function runSteps(options: RunStepsOptions): Promise<CompletedStep[]> {
  const { steps, stage, output, pauseMs, clock, signal } = options;
  const { bold, green } = output.paint;
  const completed: CompletedStep[] = [];
  for (const [index, step] of steps.entries()) {
    if (index > 0 && pauseMs > 0) await sleep(clock, pauseMs, signal);
    const startMs = clock.now();
    output.say("");
    for (const line of wrapped(`${index + 1}/${steps.length}  ${step.title}`, output.width, "      "))
      output.say(bold(line));
    await step.act?.(stage);
    const observed = await untilSeen(step);
    const seconds = (clock.now() - startMs) / 1000;
    await step.show?.(stage);
    const [first = "", ...more] = wrapped(`✓ ${observed} (${seconds.toFixed(1)} s)`, output.width, "  ");
    for (const line of ["", first.replace("✓", green("✓")), ...more]) output.say(line);
    completed.push({ title: step.title, observed, seconds });
  }
  return completed;

  async function untilSeen(step: Step): Promise<string> {
    const deadlineMs = clock.now() + step.limitMs;
    for (;;) {
      signal.throwIfAborted();
      const { seen, text } = await step.observe(stage);
      if (seen) {
        output.progress("");
        return text;
      }
      output.progress(fitted(`waiting: ${text}`, output.width));
      if (clock.now() >= deadlineMs)
        throw new FlotillaError(
          "NotObserved",
          `the step "${step.title}" was not observed within ${step.limitMs / 1000} s; last observed: ${text}`,
        );
      await sleep(clock, POLL_MS, signal);
    }
  }
}

/** In a log file each sentence stays on one line. */
const wrapped = (text: string, width: number | undefined, indent: string): string[] =>
  width === undefined ? [text] : wrapWords(text, width, indent);

/** A longer line would wrap and could not be redrawn in place. */
const fitted = (text: string, width = 80): string => (text.length < width ? text : `${text.slice(0, width - 2)}…`);
