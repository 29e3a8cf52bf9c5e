import { expect, test } from "vitest";
import { divideCompletions } from "./job-completions.ts";

test("completions follow the parallelism of the members", () => {
  const job = { metadata: {}, spec: { completions: 100 } };

  expect(
    divideCompletions(job, [
      { name: "oslo", replicas: 5 },
      { name: "paris", replicas: 1 },
    ]),
  ).toEqual([
    { name: "oslo", replicas: 83 },
    { name: "paris", replicas: 17 },
  ]);
});

test("a Job without completions has nothing to divide", () => {
  expect(divideCompletions({ metadata: {}, spec: {} }, [{ name: "oslo", replicas: 5 }])).toBeUndefined();
});
