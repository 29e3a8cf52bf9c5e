import { describe, expect, test } from "vitest";
import { createBodyBudget } from "./body-budget.ts";
import type { BodyBudget, HeldBody } from "./body-budget.ts";

const KIB = 1024;
const LIMITS = { large: 1_000 * KIB, small: 100 * KIB };

function setUp(): {
  budget: BodyBudget;
  rejected: string[];
  open(client: string, kib: number, name?: string): HeldBody;
} {
  const budget = createBodyBudget(LIMITS);
  const rejected: string[] = [];
  return {
    budget,
    rejected,
    open(client, kib, name = client) {
      const body = budget.open(
        () => client,
        () => rejected.push(name),
      );
      body.add(kib * KIB);
      return body;
    },
  };
}

describe("when large bodies use up their budget", () => {
  test("the client that holds the most loses the newest body that it sends", () => {
    const { rejected, open } = setUp();
    open("many", 300, "many 1");
    open("many", 300, "many 2");
    open("few", 300);

    const last = open("few", 200, "few 2");

    expect(rejected).toEqual(["many 2"]);
    last.release();
  });

  test("a client that sends slowly does not keep the others out", () => {
    const { rejected, open } = setUp();
    const slow = Array.from({ length: 9 }, (_, index) => open("slow", 110, `slow ${index}`));

    open("other", 500);

    expect(rejected).toEqual(["slow 8", "slow 7", "slow 6", "slow 5", "slow 4"]);
    for (const body of slow) body.add(KIB);
    expect(rejected).toHaveLength(5);
  });

  test("complete bodies are kept, and count until their request is answered", () => {
    const { budget, rejected, open } = setUp();
    const handled = open("a", 900, "handled");
    handled.complete();
    open("b", 200);
    const whileHandled = [...rejected];

    handled.release();
    open("b", 200, "b again");

    expect(whileHandled).toEqual(["b"]);
    expect(rejected).toEqual(["b"]);
    expect(budget.heldBytes).toBe(200 * KIB);
  });

  test("small bodies are not affected", () => {
    const { rejected, open } = setUp();
    open("a", 1_000).complete();

    open("b", 60);

    expect(rejected).toEqual([]);
  });
});

test("small bodies have a bound of their own", () => {
  const { rejected, open } = setUp();
  open("a", 60);

  open("a", 60, "second");

  expect(rejected).toEqual(["second"]);
});

test("a body that grows large is counted once", () => {
  const { budget, open } = setUp();
  const body = open("a", 60);
  body.add(60 * KIB);
  const held = budget.heldBytes;

  body.complete();
  body.release();
  body.release();

  expect(held).toBe(120 * KIB);
  expect(budget.heldBytes).toBe(0);
});
