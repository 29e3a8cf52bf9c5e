import * as fc from "fast-check";
import { optional, share, template, word, testRoundTrip } from "../api/test-round-trip.ts";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";

testRoundTrip(
  AdvancedCronJob,
  optional({
    spec: optional({
      schedule: fc.constant("0 * * * *"),
      paused: fc.boolean(),
      template: fc.oneof(
        fc.record({ jobTemplate: fc.record({ spec: fc.record({ template }) }) }),
        fc.record({ broadcastJobTemplate: fc.record({ spec: fc.record({ parallelism: share, template }) }) }),
      ),
    }),
    status: fc.record({ type: word, lastScheduleTime: fc.constant("2024-05-01T12:00:00Z") }),
  }),
);
