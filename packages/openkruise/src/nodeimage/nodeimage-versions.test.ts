import * as fc from "fast-check";
import { count, optional, word, testRoundTrip } from "../api/test-round-trip.ts";
import { NodeImage } from "./nodeimage-kind.ts";

testRoundTrip(
  NodeImage,
  optional({
    spec: fc.record({ images: fc.dictionary(word, fc.record({ tags: fc.array(fc.record({ tag: word })) })) }),
    status: fc.record({ desired: count, pulling: count }),
  }),
);
