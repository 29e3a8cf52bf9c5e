/** Every target with a few thousand inputs of one seed. `npm run fuzz` runs more. */
import { describe, expect, test } from "vitest";
import { runs } from "@flotilla/testing/runs.ts";
import { Chance, seedOf } from "./chance.ts";
import { defineTarget, fuzz, show } from "./target.ts";
import { targets } from "./targets.ts";

const SEED = 20_241_101;
/** Whole requests cost more than single functions, and bodies of megabytes the most. */
const INPUTS: Readonly<Record<string, number>> = {
  create: 1000,
  "round-trip": 500,
  patch: 1000,
  "list-options": 1000,
  "protobuf-create": 1000,
  definition: 500,
  "cel-rules": 500,
  yaml: 1000,
  apply: 1000,
  "managed-fields": 1000,
  "strategic-merge-patch": 1000,
  "lua-programs": 500,
  "lua-differential": 1000,
  "pki-differential": 50,
  "large-body": 2,
};
const USUAL_INPUTS = 2000;

describe("parsers satisfy their contracts", () => {
  for (const target of targets) {
    test(target.name, async () => {
      const findings = await fuzz(target, { seed: SEED, inputs: runs(INPUTS[target.name] ?? USUAL_INPUTS) });

      expect(findings.map(({ problem, shown, input }) => `input ${input}: ${problem}\n${shown}`)).toEqual([]);
    });
  }
});

describe("the fuzzer itself", () => {
  const found = (
    run: (input: number) => string | undefined,
    declares = (_error: unknown): boolean => false,
  ): Promise<{ input: number; problem: string }[]> =>
    fuzz(defineTarget({ name: "t", boundMs: 20, generate: (chance) => chance.below(100), run, declares }), {
      seed: 1,
      inputs: 50,
    });

  test("the same seed gives the same input, and another seed a different one", () => {
    for (const target of targets) {
      if (target.name === "large-body") continue;
      const inputOf = (seed: number): string => show(target.generate(new Chance(seedOf(seed, 3))));

      expect(inputOf(1)).toBe(inputOf(1));
    }
  });

  test("finds undeclared errors", async () => {
    const fail = (input: number): undefined => {
      if (input > 90) throw new TypeError("broken");
    };

    expect((await found(fail)).every(({ problem }) => problem.includes("TypeError: broken"))).toBe(true);
    expect((await found(fail)).length).toBeGreaterThan(0);
    expect(await found(fail, (error) => error instanceof TypeError)).toEqual([]);
  });

  test("finds inputs that take too long", async () => {
    const [finding] = await found((input) => {
      const end = process.threadCpuUsage().user + (input > 90 ? 30_000 : 0);
      while (process.threadCpuUsage().user < end);
      return undefined;
    });

    expect(finding?.problem).toMatch(/took \d+ ms of CPU time, more than 20/);
  });

  test("finds a changed prototype", async () => {
    const [finding] = await found((input) => {
      if (input > 90) Reflect.set(Object.prototype, "polluted", true);
      return undefined;
    });
    Reflect.deleteProperty(Object.prototype, "polluted");

    expect(finding?.problem).toBe("changed a JavaScript prototype");
  });

  test("stops at the maximum number of findings", async () => {
    expect(await found(() => "always")).toHaveLength(10);
  });
});
