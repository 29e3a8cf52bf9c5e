import { expect, test } from "vitest";
import { isNewer } from "./resource-version.ts";

const cases: Record<string, { a: string; b: string; want: boolean; uid?: string }> = {
  "a greater number is newer": { a: "12", b: "11", want: true },
  "an equal number is not newer": { a: "12", b: "12", want: false },
  "a longer number is newer, regardless of its digits": { a: "100", b: "99", want: true },
  "numbers beyond 2^53 are distinguished": { a: "9007199254740993", b: "9007199254740992", want: true },
  "a version that is not a number is never newer": { a: "v2", b: "1", want: false },
  "a version of another object with the same name is never newer": { a: "12", b: "11", uid: "another", want: false },
};
for (const [behaviour, { a, b, want, uid = "one" }] of Object.entries(cases)) {
  // oxlint-disable-next-line vitest/valid-title -- The name of the case is the title.
  test(behaviour, () => {
    const make = (resourceVersion: string, uid: string) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", uid, resourceVersion },
    });

    expect(isNewer(make(a, uid), make(b, "one"))).toBe(want);
  });
}
