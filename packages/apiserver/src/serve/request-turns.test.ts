import { describe, expect, test } from "vitest";
import { createRequestTurns } from "./request-turns.ts";

const MIB = 1024 * 1024;
const signal = (): AbortSignal => new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const turnsOf = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index++) await turn();
};

test("one step runs per turn of the event loop, and others run between two of them", async () => {
  const turns = createRequestTurns();
  const order: string[] = [];
  const run = async (name: string): Promise<void> => {
    await turns.next(name, signal());
    order.push(name);
    setImmediate(() => order.push("other"));
  };

  await Promise.all([run("a"), run("b"), run("c")]);

  expect(order).toEqual(["a", "other", "b", "other", "c"]);
});

test("clients take turns, however many requests each has", async () => {
  const turns = createRequestTurns();
  const order: string[] = [];

  await Promise.all(
    ["a", "a", "a", "a", "b"].map(async (client) => {
      const end = await turns.begin(client, MIB, signal());
      order.push(client);
      end();
    }),
  );

  expect(order.indexOf("b")).toBeLessThanOrEqual(2);
});

test("steps of requests that have begun take turns, and others run between two of them", async () => {
  const turns = createRequestTurns();
  const order: string[] = [];
  const run = async (client: string): Promise<void> => {
    await turns.begin(client, MIB, signal());
    for (const step of ["decode", "validate"]) {
      order.push(`${client} ${step}`);
      setImmediate(() => order.push("other"));
      await turns.pause(client);
    }
  };

  await Promise.all([run("a"), run("b")]);

  expect(order.filter((entry) => entry !== "other")).toEqual(["a decode", "b decode", "a validate", "b validate"]);
  expect(order.some((entry, index) => entry !== "other" && order[index + 1] === entry)).toBe(false);
  expect(order.filter((entry) => entry === "other")).toHaveLength(4);
});

describe("the bytes of bodies that are decoded at the same time are bounded", () => {
  /** Requests that stay until they are ended. */
  async function beginAll(
    requests: readonly (readonly [client: string, mib: number])[],
  ): Promise<{ begun: string[]; ends: (() => void)[] }> {
    const turns = createRequestTurns();
    const [begun, ends]: [string[], (() => void)[]] = [[], []];
    for (const [client, mib] of requests)
      void turns.begin(client, mib * MIB, signal()).then((end) => {
        begun.push(client);
        ends.push(end);
      });
    await turnsOf(3 * requests.length);
    return { begun, ends };
  }

  test("one client holds half of them, and others are decoded meanwhile", async () => {
    const { begun, ends } = await beginAll(["a", "a", "a", "a", "a", "a", "b", "c"].map((client) => [client, 3]));

    const atFirst = [...begun];
    ends[0]?.();
    await turnsOf(6);

    expect(atFirst).toEqual(["a", "a", "b", "c", "a", "a"]);
    expect(begun.slice(6)).toEqual(["a"]);
  });

  test("a short body counts as one of a mebibyte: it may have as many values", async () => {
    const { begun } = await beginAll(Array.from({ length: 40 }, (_, index) => [index < 20 ? "a" : "b", 0.1]));

    expect(begun.filter((client) => client === "a")).toHaveLength(12);
    expect(begun.filter((client) => client === "b")).toHaveLength(12);
  });

  test("when too many wait, the client with the most is rejected with 429, and others are not", async () => {
    const turns = createRequestTurns();
    const outcomes: string[] = [];
    for (let index = 0; index < 100; index++)
      turns.begin("a", 3 * MIB, signal()).catch((error: unknown) => outcomes.push(`a ${codeOf(error)}`));
    await turnsOf(10);
    const rejected = outcomes.length;

    const end = await turns.begin("b", 3 * MIB, signal());
    end();

    // Four are decoded and 64 wait.
    expect(rejected).toBe(100 - 4 - 64);
    expect(new Set(outcomes)).toEqual(new Set(["a 429"]));
  });
});

const codeOf = (error: unknown): number => (error as { status?: { code?: number } }).status?.code ?? 0;

describe("small requests", () => {
  /** A step takes 50 ms of a clock that only steps move. */
  function setUp(): { order: string[]; turns: ReturnType<typeof createRequestTurns>; step(): Promise<void> } {
    let nowMs = 0;
    const turns = createRequestTurns(() => nowMs);
    const order: string[] = [];
    return {
      order,
      turns,
      async step() {
        await turns.pause("large");
        order.push("large");
        nowMs += 50;
      },
    };
  }

  test("one that needs several turns of the event loop ends before the next step of a large one", async () => {
    const { order, turns, step } = setUp();
    const small = async (): Promise<void> => {
      const end = turns.countSmall();
      await turnsOf(5);
      order.push("small");
      end();
    };
    await step();

    await Promise.all([small(), step(), step()]);

    expect(order).toEqual(["large", "small", "large", "large"]);
  });

  test("ones that never end do not stop large ones", async () => {
    const { order, turns, step } = setUp();
    turns.countSmall();

    await step();
    await step();

    expect(order).toEqual(["large", "large"]);
  });
});

test("a client has one dry run at a time, and others have theirs meanwhile", async () => {
  const turns = createRequestTurns();
  const begun: string[] = [];
  const begin = (client: string): Promise<() => void> =>
    turns.beginDryRun(client, signal()).then((end) => (begun.push(client), end));

  const first = begin("a");
  const second = begin("a");
  const other = begin("b");
  await turnsOf(10);
  const atFirst = [...begun];
  (await first)();
  (await second)();
  (await other)();

  expect(atFirst).toEqual(["a", "b"]);
  expect(begun).toEqual(["a", "b", "a"]);
});
