import { expect, test } from "vitest";
import { review } from "../../../apimachinery/src/kind/test-review.ts";
import type { CronJob } from "./cronjob-kind.ts";
import { rules } from "./cronjob-rules.ts";
import { scheduleProblem } from "./cron-schedule.ts";

const jobTemplate = {
  spec: { template: { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } } },
};
const make = (spec: object = {}, name = "a"): CronJob =>
  ({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name, namespace: "shop" },
    spec: { schedule: "*/5 * * * *", jobTemplate, ...spec },
  }) as CronJob;

test("a CronJob defaults to concurrencyPolicy Allow and keeps three successful and one failed job", () => {
  expect(review(rules, make()).object.spec).toMatchObject({
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
});

const schedules: Record<string, [schedule: string, want: string | undefined]> = {
  "five fields": ["0 12 1-5/2 jan,feb MON", undefined],
  "a descriptor such as @daily": ["@daily", undefined],
  "a fixed interval": ["@every 1h30m", undefined],
  "four fields": ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
  "an hour out of range": ["0 24 * * *", "end of range (24) above maximum (23): 24"],
  "a reversed range": ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
  "a step of zero": ["*/0 * * * *", "step of range should be a positive number: */0"],
  "a word instead of a number": ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  "an unknown descriptor": ["@never", "unrecognized descriptor: @never"],
};
for (const [behaviour, [schedule, want]] of Object.entries(schedules)) {
  test(`a schedule with ${behaviour} is ${want === undefined ? "followed" : "refused"}`, () => {
    expect(scheduleProblem(schedule)).toBe(want);
  });
}

const refusals: Record<string, [cronJob: CronJob, want: string[]]> = {
  "a time zone in the schedule": [
    make({ schedule: "TZ=UTC * * * * *" }),
    [
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  "an unknown time zone": [
    make({ timeZone: "Europe/Nowhere" }),
    ['spec.timeZone: Invalid value: "Europe/Nowhere": unknown time zone Europe/Nowhere'],
  ],
  "a time zone in the wrong case": [
    make({ timeZone: "europe/prague" }),
    ['spec.timeZone: Invalid value: "europe/prague": unknown time zone europe/prague'],
  ],
  "a name too long for the names of its jobs": [
    make({}, "a".repeat(53)),
    [`metadata.name: Invalid value: "${"a".repeat(53)}": must be no more than 52 characters`],
  ],
  "a selector in the job template": [
    make({ jobTemplate: { spec: { ...jobTemplate.spec, selector: { matchLabels: { a: "b" } } } } }),
    ['spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated'],
  ],
};
for (const [behaviour, [cronJob, want]] of Object.entries(refusals)) {
  test(`rejects ${behaviour}`, () => {
    expect(review(rules, cronJob).problems).toEqual(want);
  });
}
