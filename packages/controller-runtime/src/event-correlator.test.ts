import { expect, test } from "vitest";
import { createEventCorrelator } from "./event-correlator.ts";

const created = (pod: string) => ({
  type: "Normal" as const,
  reason: "SuccessfulCreate",
  message: `Created pod: ${pod}`,
});

test("a repeated event increments the count of the first", () => {
  const correlator = createEventCorrelator();
  const first = correlator.correlate("web", created("a"), 0);
  if (first.write) correlator.recordWritten(first.key, { name: "web.1", count: 1, firstMs: 0 });

  const second = correlator.correlate("web", created("a"), 1000);

  expect(first).toMatchObject({ write: true, event: created("a") });
  expect(second).toMatchObject({ write: true, repeat: { name: "web.1", count: 1 } });
});

test("from the tenth on, similar events are combined into one", () => {
  const correlator = createEventCorrelator();

  const verdicts = Array.from({ length: 12 }, (_, index) =>
    correlator.correlate("web", created(`pod-${index}`), index),
  );
  const keys = verdicts.map((verdict) => (verdict.write ? verdict.key : ""));

  expect(verdicts[8]).toMatchObject({ event: { message: "Created pod: pod-8" } });
  expect(verdicts[9]).toMatchObject({ event: { message: "(combined from similar events): Created pod: pod-9" } });
  expect(new Set(keys.slice(9)).size).toBe(1);
});

test("a flood of events about one object is dropped, and events are accepted again later", () => {
  const correlator = createEventCorrelator();

  const heard = Array.from({ length: 40 }, (_, index) =>
    correlator.correlate("web", created(`pod-${index}`), 0),
  ).filter(({ write }) => write);

  expect(heard).toHaveLength(25);
  expect(correlator.correlate("api", created("a"), 0).write).toBe(true);
  expect(correlator.correlate("web", created("late"), 300_000).write).toBe(true);
});

test("after ten quiet minutes similar events are written individually again", () => {
  const correlator = createEventCorrelator();
  for (let index = 0; index < 12; index++) correlator.correlate("web", created(`pod-${index}`), 0);

  const later = correlator.correlate("web", created("later"), 601_000);

  expect(later).toMatchObject({ event: { message: "Created pod: later" } });
});
