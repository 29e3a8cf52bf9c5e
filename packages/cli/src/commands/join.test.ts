import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { untilReady } from "./join.ts";

test("waiting for a member names the controllers that do not run, which would check it", async () => {
  // The fake clock advances on every wait.
  const fake = createFakeClock();
  const clock: Clock = {
    ...fake,
    after: (delayMs, run) => (fake.advance(delayMs), queueMicrotask(run), { cancel: () => {} }),
  };
  const steps = new Set<string>();
  const client = {
    get: () => Promise.resolve({ metadata: { name: "oslo" }, spec: {} }),
    // The Lease that `flotilla apiserver` creates.
    list: () => Promise.resolve({ items: [{ metadata: { name: "flotilla-controllers" }, spec: {} }] }),
  } as unknown as Client;

  const waiting = untilReady(
    { client, clock, signal: new AbortController().signal, progress: (step) => void steps.add(step) },
    "oslo",
    5_000,
  );

  await expect(waiting).rejects.toThrow(
    "oslo has joined but is not ready after 5 s: no controllers have ever run on this hub",
  );
  expect([...steps]).toEqual([expect.stringContaining("waiting for oslo to be ready: no controllers have ever run")]);
});
