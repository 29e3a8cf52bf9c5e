import { describe, expect, test } from "vitest";
import { simulationProblems } from "./problems.ts";

const PREFIX = "simulation.flotilla.dev/";

describe("an annotation that means nothing is named with its value and what is allowed", () => {
  const cases: Record<string, { annotation: [name: string, value: string]; want: string }> = {
    "a fault with a typing error": {
      annotation: [`${PREFIX}fault`, "crashloop"],
      want: '"crashloop" is ignored: allowed are crash-loop, image-pull-error, never-ready',
    },
    "a fault of nodes on a pod": {
      annotation: [`${PREFIX}fault`, "lost"],
      want: '"lost" is ignored: allowed are crash-loop, image-pull-error, never-ready',
    },
    "seconds that are no number": {
      annotation: [`${PREFIX}start-seconds`, "abc"],
      want: '"abc" is ignored: allowed are seconds from 0 to 86400 with up to three decimals',
    },
    "seconds below zero": {
      annotation: [`${PREFIX}start-seconds`, "-5"],
      want: '"-5" is ignored: allowed are seconds from 0 to 86400 with up to three decimals',
    },
    "seconds with too many decimals": {
      annotation: [`${PREFIX}run`, "0.0000001"],
      want: '"0.0000001" is ignored: allowed are seconds from 0 to 86400 with up to three decimals, or forever',
    },
    "a code that no process ends with": {
      annotation: [`${PREFIX}exit-code`, "99999"],
      want: '"99999" is ignored: allowed are whole numbers from 0 to 255',
    },
    "the same under its other name": {
      annotation: ["sim/exit-code", "-1"],
      want: '"-1" is ignored: allowed are whole numbers from 0 to 255',
    },
    "an amount that is none": {
      annotation: [`${PREFIX}cpu-usage`, "much"],
      want: '"much" is ignored: allowed are quantities such as 250m or 64Mi',
    },
    "a name that does not exist": {
      annotation: [`${PREFIX}exitcode`, "1"],
      want: '"1" is ignored: annotations of the simulation are fault, exit-code, run, start-seconds, cpu-usage, memory-usage',
    },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { annotation: [name, value], want }) => {
    expect(simulationProblems({ metadata: { name: "p", annotations: { [name]: value } } }, "Pod")).toEqual([
      `annotation ${name}: ${want}`,
    ]);
  });
});

test("annotations that mean something, and those of others, are no problem", () => {
  const annotations = {
    [`${PREFIX}fault`]: "never-ready",
    [`${PREFIX}run`]: "forever",
    "sim/run": "3",
    [`${PREFIX}start-seconds`]: "0.25",
    [`${PREFIX}exit-code`]: "255",
    [`${PREFIX}memory-usage`]: "64Mi",
    "example.com/fault": "x",
  };

  expect(simulationProblems({ metadata: { name: "p", annotations } }, "Pod")).toEqual([]);
});

test("nodes have a fault of their own", () => {
  expect(
    simulationProblems({ metadata: { name: "n", annotations: { [`${PREFIX}fault`]: "crash-loop" } } }, "Node"),
  ).toEqual([`annotation ${PREFIX}fault: "crash-loop" is ignored: allowed is lost`]);
});

test("clusters have a fault of their own, and no other annotation", () => {
  const annotations = { [`${PREFIX}fault`]: "lost", [`${PREFIX}run`]: "3" };

  expect(simulationProblems({ metadata: { name: "c", annotations } }, "Cluster")).toEqual([
    `annotation ${PREFIX}fault: "lost" is ignored: allowed is unreachable`,
    `annotation ${PREFIX}run: "3" is ignored: clusters have only fault`,
  ]);
  expect(
    simulationProblems({ metadata: { name: "c", annotations: { [`${PREFIX}fault`]: "unreachable" } } }, "Cluster"),
  ).toEqual([]);
});

test("a value of any length is shown in part", () => {
  const [problem = ""] = simulationProblems(
    { metadata: { name: "p", annotations: { [`${PREFIX}fault`]: "x".repeat(10_000) } } },
    "Pod",
  );

  expect(problem.length).toBeLessThan(300);
});
