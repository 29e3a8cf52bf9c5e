/** Steps run in order, with pauses to read, and stop at the first effect that is not observed. */
import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { createOutput } from "../output.ts";
import type { Stage, Step } from "./stage.ts";
import { runSteps } from "./run-steps.ts";
import type { CompletedStep } from "./run-steps.ts";

const stage = {} as Stage;

function runDemo(
  steps: readonly Step[],
  clock: FakeClock,
  options: { pauseMs?: number; signal?: AbortSignal } = {},
): { completed: Promise<CompletedStep[]>; written: string[] } {
  const written: string[] = [];
  const output = createOutput({
    format: "table",
    write: (text) => void written.push(text),
    warn: () => {},
    showProgress: () => {},
  });
  return {
    completed: runSteps({
      steps,
      stage,
      output,
      pauseMs: options.pauseMs ?? 0,
      clock,
      signal: options.signal ?? new AbortController().signal,
    }),
    written,
  };
}

/** Flushes microtasks, then advances the clock until the demo waits no more. */
async function run(clock: FakeClock, story: Promise<unknown>): Promise<void> {
  const state = { isOver: false };
  void Promise.allSettled([story]).then(() => (state.isOver = true));
  for (let tick = 0; !state.isOver; tick++) {
    if (tick > 10_000) throw new Error("the story does not end");
    await new Promise((resolve) => setImmediate(resolve));
    const due = clock.nextDue();
    if (due !== undefined) clock.advance(Math.max(0, due - clock.now()));
  }
}

test("a step is reported when its effect is observed, and its extra output is shown after that", async () => {
  const clock = createFakeClock();
  const happened: string[] = [];
  let polls = 0;
  const step: Step = {
    title: "Pods start",
    limitMs: 10_000,
    act: async () => void happened.push("act"),
    observe: async () => ({ seen: ++polls === 3, text: `${polls} of 3 pods` }),
    show: async () => void happened.push(`show after ${polls} polls`),
  };
  const { completed, written } = runDemo([step], clock);

  await run(clock, completed);

  expect(await completed).toEqual([{ title: "Pods start", observed: "3 of 3 pods", seconds: 0.2 }]);
  expect(happened).toEqual(["act", "show after 3 polls"]);
  expect(written.join("")).toBe("\n1/1  Pods start\n\n✓ 3 of 3 pods (0.2 s)\n");
});

test("a step whose effect is not observed in time stops the demo and reports what was missing", async () => {
  const clock = createFakeClock();
  const never: Step = {
    title: "Pods start",
    limitMs: 2_000,
    observe: async () => ({ seen: false, text: "1 of 3 pods" }),
  };
  const later: Step = {
    title: "later",
    limitMs: 1_000,
    observe: () => Promise.reject(new Error("must not be observed")),
  };
  const { completed } = runDemo([never, later], clock);

  await run(clock, completed);

  await expect(completed).rejects.toMatchObject({
    code: "NotObserved",
    message: 'the step "Pods start" was not observed within 2 s; last observed: 1 of 3 pods',
  });
});

test("there is a pause between steps, but none before the first", async () => {
  const clock = createFakeClock();
  const startMs = clock.now();
  const step: Step = { title: "Pods start", limitMs: 1_000, observe: async () => ({ seen: true, text: "yes" }) };
  const { completed } = runDemo([step, step, step], clock, { pauseMs: 1_500 });

  await run(clock, completed);
  await completed;

  expect(clock.now() - startMs).toBe(3_000);
});

test("Ctrl-C ends the wait", async () => {
  const clock = createFakeClock();
  const stopping = new AbortController();
  const step: Step = { title: "Pods start", limitMs: 60_000, observe: async () => ({ seen: false, text: "no" }) };
  const { completed } = runDemo([step], clock, { signal: stopping.signal });
  await new Promise((resolve) => setImmediate(resolve));

  stopping.abort(new Error("interrupted by Ctrl-C"));

  await expect(completed).rejects.toThrow("interrupted by Ctrl-C");
});
