/** Compares a function with recorded cases. Only for tests. */
import { expect, test } from "vitest";
import { equalJson } from "@flotilla/base";
import { plain } from "./plain.ts";
import type { RecordedCase } from "./read-cases.ts";

;

/**
 * One test per kind: a list of the differing cases is more useful than hundreds of passing lines. Outputs are compared
 * without Go's empty fields. Cases that differ on purpose are listed, and must differ.
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
