import { describe, expect, test } from "vitest";
import { simulationProblems } from "./annotation-problems.ts";

const PREFIX = "simulation.flotilla.dev/";

describe("reports an invalid annotation with its value and the allowed values", () => {
  const cases: Record<string, { annotation: [name: string, value: string]; want: string }> = {
    "a misspelled fault": {
      annotation: [`${PREFIX}fault`, "crashloop"],
      want: '"crashloop" is ignored: allowed are crash-loop, image-pull-error, never-ready',
    },
    "a node fault on a pod": {
      annotation: [`${PREFIX}fault`, "lost"],
      want: '"lost" is ignored: allowed are crash-loop, image-pull-error, never-ready',
    },
    "seconds that are not a number": {
      annotation: [`${PREFIX}start-seconds`, "abc"],
      want: '"abc" is ignored: use seconds from 0 to 86400 with up to three decimals',
    },
    "negative seconds": {
      annotation: [`${PREFIX}start-seconds`, "-5"],
      want: '"-5" is ignored: use seconds from 0 to 86400 with up to three decimals',
    },
    "seconds with too many decimals": {
      annotation: [`${PREFIX}run`, "0.0000001"],
      want: '"0.0000001" is ignored: use seconds from 0 to 86400 with up to three decimals, or forever',
    },
    "an impossible exit code": {
      annotation: [`${PREFIX}exit-code`, "99999"],
      want: '"99999" is ignored: use an integer from 0 to 255',
    },
    "an impossible exit code under the alias": {
      annotation: ["sim/exit-code", "-1"],
      want: '"-1" is ignored: use an integer from 0 to 255',
    },
    "an invalid quantity": {
      annotation: [`${PREFIX}cpu-usage`, "much"],
      want: '"much" is ignored: use a quantity such as 250m or 64Mi',
    },
    "an unknown annotation name": {
      annotation: [`${PREFIX}exitcode`, "1"],
      want: '"1" is ignored: supported annotations are fault, exit-code, run, start-seconds, cpu-usage, memory-usage, failing-probes',
    },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { annotation: [name, value], want }) => {
    expect(simulationProblems({ metadata: { name: "p", annotations: { [name]: value } } }, "Pod")).toEqual([
      `annotation ${name}: ${want}`,
    ]);
  });
});

test("valid annotations and those of other tools are not reported", () => {
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

test("accepts the node fault on nodes", () => {
  expect(
    simulationProblems({ metadata: { name: "n", annotations: { [`${PREFIX}fault`]: "crash-loop" } } }, "Node"),
  ).toEqual([`annotation ${PREFIX}fault: "crash-loop" is ignored: allowed is lost`]);
});

test("accepts the cluster fault on clusters, and no other annotation", () => {
  const annotations = { [`${PREFIX}fault`]: "lost", [`${PREFIX}run`]: "3" };

  expect(simulationProblems({ metadata: { name: "c", annotations } }, "Cluster")).toEqual([
    `annotation ${PREFIX}fault: "lost" is ignored: allowed is unreachable`,
    `annotation ${PREFIX}run: "3" is ignored: clusters support only fault`,
  ]);
  expect(
    simulationProblems({ metadata: { name: "c", annotations: { [`${PREFIX}fault`]: "unreachable" } } }, "Cluster"),
  ).toEqual([]);
});

test("truncates a long value", () => {
  const [problem = ""] = simulationProblems(
    { metadata: { name: "p", annotations: { [`${PREFIX}fault`]: "x".repeat(10_000) } } },
    "Pod",
  );

  expect(problem.length).toBeLessThan(300);
});
