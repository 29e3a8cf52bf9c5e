import * as fc from "fast-check";
import { count, optional, selector, share, word, testRoundTrip } from "../api/test-round-trip.ts";
import { ImageListPullJob } from "./imagelistpulljob-kind.ts";

testRoundTrip(
  ImageListPullJob,
  optional({
    spec: fc.record({ images: fc.array(word), parallelism: share, selector }),
    status: fc.record({ desired: count, completed: count }),
  }),
);
