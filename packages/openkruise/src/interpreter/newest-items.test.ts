import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { makeCloneSet } from "@flotilla/testing/builders.ts";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { cloneSetInterpreter } from "../cloneset/cloneset-interpreter.ts";
import { deploymentInterpreter } from "@flotilla/kubernetes";
import { digestOf } from "../divide/release.ts";
import { newestItems, summingNewest } from "./newest-items.ts";

const template = makeCloneSet("shop/web")
  .replicas(8)
  .with(({ metadata }) => (metadata.generation = 5))
  .build();
const fresh = { resourceTemplateGeneration: 5, generation: 3, observedGeneration: 3 };
const done = {
  replicas: 4,
  updatedReplicas: 4,
  updatedReadyReplicas: 4,
  expectedUpdatedReplicas: 4,
  currentRevision: "web-2",
  updateRevision: "web-2",
};
const item = (clusterName: string, status: JsonObject): StatusItem => ({ clusterName, status, applied: true });
const sum = (...items: StatusItem[]): unknown =>
  (
    summingNewest(cloneSetInterpreter as KindInterpreter).aggregateStatus?.(template, items) as
      | { status?: unknown }
      | undefined
  )?.status;

describe("the status of a CloneSet", () => {
  test("is the sum of the members that have observed the newest template", () => {
    const items = [item("oslo", { ...fresh, ...done }), item("paris", { ...fresh, ...done })];

    expect(newestItems(template, items)).toBe(items);
    expect(sum(...items)).toMatchObject({
      replicas: 8,
      updatedReplicas: 8,
      currentRevision: "web-2",
      updateRevision: "web-2",
      observedGeneration: 5,
    });
  });

  const late: Record<string, JsonObject> = {
    "has an older copy": { ...fresh, resourceTemplateGeneration: 4 },
    "has not observed its copy": { ...fresh, observedGeneration: 2 },
    "has never observed any": { resourceTemplateGeneration: 5, generation: 1 },
  };
  for (const [reason, generations] of Object.entries(late)) {
    test(`counts no pod as updated on a member that ${reason}`, () => {
      const items = [
        item("oslo", { ...fresh, ...done }),
        item("paris", { ...generations, ...done, currentRevision: "web-1", updateRevision: "web-1" }),
      ];

      expect(sum(...items)).toMatchObject({
        replicas: 8,
        updatedReplicas: 4,
        updatedReadyReplicas: 4,
        expectedUpdatedReplicas: 4,
        updateRevision: "web-2",
        currentRevision: "web-1",
      });
    });
  }

  test("counts the updated pods of a member that still has a higher partition of the same release", () => {
    const release = digestOf(template.spec.template);
    const late = { ...fresh, ...done, resourceTemplateGeneration: 4, updatedReplicas: 2 };

    expect(sum(item("oslo", { ...fresh, ...done }), item("paris", { ...late, release }))).toMatchObject({
      updatedReplicas: 6,
    });
    expect(sum(item("oslo", { ...fresh, ...done }), item("paris", { ...late, release: "another" }))).toMatchObject({
      updatedReplicas: 4,
    });
  });

  test("keeps the current revision of a member that has not advanced, whichever member reports last", () => {
    const behind = { ...fresh, ...done, updatedReplicas: 1, currentRevision: "web-1" };

    expect(sum(item("oslo", behind), item("paris", { ...fresh, ...done }))).toMatchObject({
      currentRevision: "web-1",
      updateRevision: "web-2",
    });
    expect(sum(item("oslo", { ...fresh, ...done }), item("paris", behind))).toMatchObject({
      currentRevision: "web-1",
      updateRevision: "web-2",
    });
  });

  test("names the newest revision only if members agree on its name", () => {
    const other = { ...fresh, ...done, currentRevision: "web-3", updateRevision: "web-3" };

    expect(sum(item("oslo", { ...fresh, ...done }), item("paris", other))).not.toHaveProperty("updateRevision");
    expect(sum(item("oslo", { ...fresh, ...done }), item("paris", other))).toMatchObject({
      updatedReplicas: 8,
      observedGeneration: 5,
    });
  });

  test("has no updated pods while no member has observed the newest template", () => {
    const old = { ...fresh, ...done, resourceTemplateGeneration: 4 };

    expect(sum(item("oslo", old), item("paris", old))).toMatchObject({
      replicas: 8,
      updatedReplicas: 0,
      updateRevision: "web-2",
      currentRevision: "web-2",
    });
  });

  test("shows updated and available pods if members count them", () => {
    expect(
      sum(item("oslo", { ...fresh, ...done, updatedAvailableReplicas: 3 }), item("paris", { ...fresh, ...done })),
    ).toMatchObject({ updatedAvailableReplicas: 3 });
    expect(sum(item("oslo", { ...fresh, ...done }))).not.toHaveProperty("updatedAvailableReplicas");
  });
});

test("third-party kinds sum the reported values unchanged", () => {
  expect(summingNewest(deploymentInterpreter as KindInterpreter)).toBe(deploymentInterpreter);
});
