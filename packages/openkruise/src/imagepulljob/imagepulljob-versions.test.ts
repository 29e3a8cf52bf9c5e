import * as fc from "fast-check";
import { count, optional, selector, share, word, testRoundTrip } from "../api/test-round-trip.ts";
import { ImagePullJob } from "./imagepulljob-kind.ts";

testRoundTrip(
  ImagePullJob,
  optional({
    spec: fc.record({ image: word, parallelism: share, selector }),
    status: fc.record({ desired: count, succeeded: count }),
  }),
);
