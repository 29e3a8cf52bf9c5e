/** Holds a function against recorded cases. For tests alone. */
import { expect, test } from "vitest";
import { equalJson } from "../../../base/index.ts";
import { plain } from "./plain.ts";
import type { RecordedCase } from "./read-cases.ts";

export { plain } from "./plain.ts";

/**
 * One test for a kind: the cases that differ tell more than hundreds of green lines. Outputs are compared without what
 * Go leaves empty. Cases that are meant to differ are named, and must.
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
