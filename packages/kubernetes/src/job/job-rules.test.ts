import { expect, test } from "vitest";
import { review, UID } from "../../../apimachinery/src/kind/test-review.ts";
import type { Job } from "./job-kind.ts";
import { rules } from "./job-rules.ts";

const template = { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } };
const make = (spec: object = {}): Job =>
  ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "a", namespace: "shop" },
    spec: { template, ...spec },
  }) as Job;
const problems = (spec: object): string[] => review(rules, make(spec)).problems;

test("a job defaults to one completion and selects its pods by its own uid", () => {
  const { object, problems: found } = review(rules, make());
  const labels = {
    "controller-uid": UID,
    "batch.kubernetes.io/controller-uid": UID,
    "job-name": "a",
    "batch.kubernetes.io/job-name": "a",
  };

  expect(found).toEqual([]);
  expect(object.spec).toMatchObject({
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: "TerminatingOrFailed",
    manualSelector: false,
    selector: { matchLabels: { "batch.kubernetes.io/controller-uid": UID } },
    template: { metadata: { labels } },
  });
  expect(object.metadata.labels).toEqual(labels);
});

const refusals: Record<string, [spec: object, want: string[]]> = {
  "pods with restartPolicy Always": [
    { template: { spec: { ...template.spec, restartPolicy: "Always" } } },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  "a backoffLimitPerIndex without Indexed completion mode": [
    { backoffLimitPerIndex: 1 },
    ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
  ],
  "a pod failure rule without conditions": [
    { podFailurePolicy: { rules: [{ action: "Ignore" }] } },
    ["spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"],
  ],
  "unordered exit codes": [
    { podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [2, 1] } }] } },
    ["spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1]: must be ordered"],
  ],
  "a success policy that needs more indexes than it lists": [
    {
      completionMode: "Indexed",
      completions: 3,
      successPolicy: { rules: [{ succeededIndexes: "0-1", succeededCount: 3 }] },
    },
    [
      "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the " +
        "number of indexes in the specified succeededIndexes field)",
    ],
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(refusals)) {
  test(`rejects ${behaviour}`, () => {
    expect(problems(spec)).toEqual(want);
  });
}

test("the template of a running job is immutable; scheduling fields may change while the job is suspended", () => {
  const running = review(rules, make()).object;
  const suspended = review(rules, make({ suspend: true })).object;
  const moved = (job: Job): string[] => {
    const spec = {
      ...job.spec,
      template: {
        ...job.spec?.template,
        spec: {
          ...job.spec?.template.spec,
          containers: job.spec?.template.spec?.containers ?? [],
          nodeSelector: { a: "b" },
        },
      },
    };
    return review(rules, { ...job, spec }, { old: job }).problems;
  };

  expect(moved(suspended)).toEqual([]);
  expect(moved(running)).toHaveLength(1);
  expect(moved(running)[0]).toBe(
    "spec.template: Invalid value: field is immutable; changed: `spec.template.spec.nodeSelector`",
  );
});

const status = (next: object, before: object = {}): string[] => {
  const old = { ...review(rules, make()).object, status: before } as Job;
  return review(rules, { ...old, status: next }, { old, subresource: "status" }).problems;
};
const condition = (type: string, value = "True"): object => ({ type, status: value });

test("a complete job needs a completionTime and the SuccessCriteriaMet condition", () => {
  expect(status({ conditions: [condition("Complete")], startTime: "2024-05-01T12:00:00Z" })).toEqual([
    "status.completionTime: Required value: completionTime is required for Complete jobs",
    "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
  ]);
});

test("counters must not decrease", () => {
  expect(status({ failed: 1, succeeded: 0 }, { failed: 2, succeeded: 3 })).toEqual([
    "status.failed: Invalid value: 1: cannot decrease the failed counter",
    "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter",
  ]);
});
