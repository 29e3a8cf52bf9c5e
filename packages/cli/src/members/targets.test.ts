import { expect, test } from "vitest";
import { UsageError } from "@flotilla/base";
import { readOne, readTargets } from "./targets.ts";

const cases: Record<string, { args: string[]; want: unknown }> = {
  "a type alone selects all of its objects": { args: ["pods"], want: [{ words: ["pods"], names: [] }] },
  "types are separated by commas": { args: ["deploy,svc"], want: [{ words: ["deploy", "svc"], names: [] }] },
  "names follow a type, each once": { args: ["pod", "a", "b", "a"], want: [{ words: ["pod"], names: ["a", "b"] }] },
  "TYPE/NAME pairs are accepted": {
    args: ["deploy/web", "svc/web"],
    want: [
      { words: ["deploy"], names: ["web"] },
      { words: ["svc"], names: ["web"] },
    ],
  },
};
for (const [behaviour, { args, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(readTargets(args, "usage")).toEqual(want);
  });
}

for (const args of [[""], [","], ["pod", "svc/web"], ["pod/"], ["/web"], ["pod/web/c"], ["pod/web", "svc"]]) {
  test(`'${args.join(" ")}' is a usage error`, () => {
    expect(() => readTargets(args, "usage")).toThrow(UsageError);
  });
}

test("readOne accepts one type and one name", () => {
  expect(readOne(["deploy/web"], "usage")).toEqual({ word: "deploy", name: "web" });
  expect(readOne(["deploy", "web"], "usage")).toEqual({ word: "deploy", name: "web" });
  for (const args of [["deploy"], ["deploy,svc", "web"], ["deploy/a", "deploy/b"]])
    expect(() => readOne(args, "usage")).toThrow("specify one object");
});
