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

    open("b", 40);

    expect(rejected).toEqual([]);
  });
});

describe("small bodies", () => {
  test("small bodies of one client take half of their budget at most", () => {
    const { rejected, open } = setUp();
    open("a", 40);

    open("a", 20, "second");
    open("a", 10, "third");

    expect(rejected).toEqual(["second"]);
  });

  test("small bodies of one client that uses up its share are rejected alone, also while all of them are being handled", () => {
    const { rejected, open } = setUp();
    for (let index = 0; index < 10; index++) open("greedy", 10, `greedy ${index}`).complete();
    const before = rejected.length;

    open("other", 20).complete();
    open("third", 10);

    expect(before).toBe(5);
    expect(rejected).toHaveLength(5);
  });

  test("small bodies of many greedy clients leave room for the next one", () => {
    const { budget, rejected, open } = setUp();
    for (let index = 0; index < 50; index++)
      for (let client = 0; client < 9; client++) open(`greedy ${client}`, 1).complete();
    rejected.length = 0;

    open("other", 5);

    expect(rejected).toEqual([]);
    expect(budget.heldBytes).toBeLessThanOrEqual(100 * KIB);
  });

  test("no longer count once they are released", () => {
    const { budget, rejected, open } = setUp();
    const bodies = Array.from({ length: 5 }, () => open("a", 10));
    for (const body of bodies) body.release();

    open("a", 50);

    expect(rejected).toEqual([]);
    expect(budget.heldBytes).toBe(50 * KIB);
  });
});

test("a body that grows large is counted once", () => {
  const { budget, open } = setUp();
  const body = open("a", 40);
  body.add(80 * KIB);
  const held = budget.heldBytes;

  body.complete();
  body.release();
  body.release();

  expect(held).toBe(120 * KIB);
  expect(budget.heldBytes).toBe(0);
});
