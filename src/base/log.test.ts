import { expect, test } from "vitest";
import { createFakeClock } from "./clock.ts";
import { FlotillaError, messageOf } from "./errors.ts";
import { createLog } from "./log.ts";

const setUp = (level: "debug" | "warn") => {
  const lines: unknown[] = [];
  return { log: createLog({ level, clock: createFakeClock(0), write: (line) => void lines.push(JSON.parse(line)) }), lines };
};

test("a line is one JSON object with its time, level, message and fields, those of the part included", () => {
  const { log, lines } = setUp("debug");

  log.with({ part: "hub" }).info("works dispatched", { clusters: 3 });

  expect(lines).toEqual([{ time: "1970-01-01T00:00:00.000Z", level: "info", message: "works dispatched", part: "hub", clusters: 3 }]);
});

test("what is below the level is not written", () => {
  const { log, lines } = setUp("warn");

  log.debug("a");
  log.info("b");
  log.warn("c");

  expect(lines).toMatchObject([{ message: "c" }]);
});

test("an error is written as its message and causes, without a stack", () => {
  const { log, lines } = setUp("warn");

  log.error("failed", { error: new FlotillaError("Store", "writing", { cause: new Error("disk full") }) });

  expect(lines).toMatchObject([{ error: "writing: disk full" }]);
  expect(messageOf("text")).toBe("text");
});
