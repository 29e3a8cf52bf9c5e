/** Holds a function against recorded cases. For tests alone. */
import { expect, test } from "vitest";
import { equalJson } from "../../../base/index.ts";
import type { RecordedCase } from "./read-cases.ts";

/**
 * One test for a kind: the cases that differ tell more than hundreds of green lines. Outputs are compared without what Go leaves
 * empty. Cases that are meant to differ are named, and must.
 */
export function checkCases<I, W>(kind: string, cases: readonly RecordedCase<I, W>[], run: (input: I, want: W) => unknown, differing: readonly string[] = []): void {
  test(`${kind}, ${cases.length} recorded cases`, () => {
    expect(cases.length).toBeGreaterThan(0);

    const different = cases.flatMap(({ name, input, want }) => {
      const got = run(input, want);
      return equalJson(plain(got), plain(want)) !== differing.includes(name) ? [] : [{ name, got, want }];
    });

    expect(different).toEqual([]);
  });
}

/** Fields that Go writes although nobody set them. */
const ALWAYS_WRITTEN = ["resources", "status", "securityContext"];

/** As JSON has it, without empty fields of that sort. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, item: unknown) => {
      if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
      return Object.fromEntries(Object.entries(item).filter(([key, part]) => !(ALWAYS_WRITTEN.includes(key) && typeof part === "object" && part !== null && Object.keys(part as object).length === 0)));
    }),
  );
}
