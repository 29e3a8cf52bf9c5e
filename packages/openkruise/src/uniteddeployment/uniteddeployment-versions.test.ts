import * as fc from "fast-check";
import { optional, word, cloneSetSpec, testRoundTrip } from "../api/test-round-trip.ts";
import { UnitedDeployment } from "./uniteddeployment-kind.ts";

const subsets = fc.uniqueArray(
  fc.record({ name: word, replicas: fc.integer({ min: 1, max: 9 }), partition: fc.integer({ min: 1, max: 9 }) }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
);
const unitedStatus = fc.tuple(subsets, word).map(([subsetStatuses, updatedRevision]) => ({
  replicas: 3,
  updatedReplicas: 3,
  currentRevision: "r",
  subsetStatuses,
  subsetReplicas: Object.fromEntries(subsetStatuses.map(({ name, replicas }) => [name, replicas])),
  updateStatus: {
    updatedRevision,
    currentPartitions: Object.fromEntries(subsetStatuses.map(({ name, partition }) => [name, partition])),
  },
}));

testRoundTrip(
  UnitedDeployment,
  optional({
    spec: fc.record({ template: fc.record({ cloneSetTemplate: fc.record({ spec: cloneSetSpec }) }) }),
    status: unitedStatus,
  }),
);
