import { expect, test } from "vitest";
import { startParts, stopParts } from "./process-parts.ts";
import type { Part } from "./process-parts.ts";

test("parts start in order, each after the one before it has started, and stop in reverse", async () => {
  const seen: string[] = [];
  const part = (name: string): Part => ({
    async start() {
      seen.push(`${name} starts`);
      await Promise.resolve();
      seen.push(`${name} has started`);
    },
    stop: () => void seen.push(`${name} stops`),
  });
  const parts = [part("store"), {}, part("controllers")];

  await startParts(parts, new AbortController().signal);
  await stopParts(parts);

  expect(seen).toEqual([
    "store starts",
    "store has started",
    "controllers starts",
    "controllers has started",
    "controllers stops",
    "store stops",
  ]);
});

test("a part that fails to stop does not keep the others from stopping", async () => {
  const stopped: string[] = [];
  const parts: Part[] = [
    { stop: () => void stopped.push("store") },
    { stop: () => Promise.reject(new Error("stuck")) },
    { stop: () => void stopped.push("agent") },
  ];

  await expect(stopParts(parts)).rejects.toThrow("stuck");

  expect(stopped).toEqual(["agent", "store"]);
});
