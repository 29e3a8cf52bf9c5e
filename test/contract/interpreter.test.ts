import { expect, test } from "vitest";
import { knownKinds } from "../../src/interpreter/index.ts";
import { makeCloneSet, makeDeployment } from "../../src/testing/index.ts";
import { describeInterpreter } from "./interpreter.ts";
import type { InterpreterSample } from "./interpreter.ts";

const running = (n: number) => ({ observedGeneration: 1, replicas: n, readyReplicas: n, updatedReplicas: n, availableReplicas: n });

/** A new interpreter adds a line here and gets the whole suite. */
const samples: Record<string, InterpreterSample> = {
  "apps/Deployment": { template: makeDeployment("shop/web").replicas(4).build(), status: running },
  "apps.kruise.io/CloneSet": { template: makeCloneSet("shop/web").replicas(4).build(), status: (n) => ({ ...running(n), updatedReadyReplicas: n, expectedUpdatedReplicas: n, updateRevision: "web-1" }) },
};

for (const kind of knownKinds) {
  const sample = samples[`${kind.group}/${kind.kind}`];
  if (sample) describeInterpreter(kind, sample);
}

test("every known kind is held to the contract", () => {
  expect(knownKinds.map(({ group, kind }) => `${group}/${kind}`).toSorted()).toEqual(Object.keys(samples).toSorted());
});
