import { expect, test } from "vitest";
import { WriteOrder } from "./write-order.ts";

interface Step {
  name: string;
  key: string;
  guards?: string[];
}

/** Which of the writes run at once, in rounds: a round ends when everything that runs has ended. */
async function roundsOf(steps: readonly Step[]): Promise<string[][]> {
  const order = new WriteOrder();
  const running = new Map<string, () => void>();
  const ended = steps.map(({ name, key, guards = [] }) =>
    order.run(key, guards, () => new Promise<void>((resolve) => running.set(name, resolve))),
  );
  const rounds: string[][] = [];
  for (let left = steps.length; left > 0; left -= rounds.at(-1)?.length ?? 0) {
    await new Promise((resolve) => setImmediate(resolve));
    rounds.push([...running.keys()]);
    for (const end of running.values()) end();
    running.clear();
  }
  await Promise.all(ended);
  return rounds;
}

const cases: Record<string, { steps: Step[]; want: string[][] }> = {
  "writes of different keys run together": {
    steps: [
      { name: "a", key: "/a" },
      { name: "b", key: "/b" },
    ],
    want: [["a", "b"]],
  },
  "writes of one key run one after the other": {
    steps: [
      { name: "first", key: "/a" },
      { name: "second", key: "/a" },
      { name: "third", key: "/a" },
    ],
    want: [["first"], ["second"], ["third"]],
  },
  "writes that guard the same key run together": {
    steps: [
      { name: "a", key: "/a", guards: ["/ns"] },
      { name: "b", key: "/b", guards: ["/ns"] },
    ],
    want: [["a", "b"]],
  },
  "a write of a guarded key waits for those that guard it, and later guards wait for it": {
    steps: [
      { name: "a", key: "/a", guards: ["/ns"] },
      { name: "b", key: "/b", guards: ["/ns"] },
      { name: "terminate", key: "/ns" },
      { name: "late", key: "/c", guards: ["/ns"] },
    ],
    want: [["a", "b"], ["terminate"], ["late"]],
  },
  "a write may guard its own key": {
    steps: [
      { name: "first", key: "/a", guards: ["/a"] },
      { name: "second", key: "/a", guards: ["/a"] },
    ],
    want: [["first"], ["second"]],
  },
};
test.each(Object.entries(cases))("%s", async (_behaviour, { steps, want }) => {
  expect(await roundsOf(steps)).toEqual(want);
});

test("a write that fails lets the next one run", async () => {
  const order = new WriteOrder();

  const failed = order.run("/a", [], () => Promise.reject(new Error("no leader")));
  const next = order.run("/a", [], () => Promise.resolve("written"));

  await expect(failed).rejects.toThrow("no leader");
  await expect(next).resolves.toBe("written");
});
