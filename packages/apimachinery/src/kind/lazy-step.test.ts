import { expect, test } from "vitest";
import type { AdmissionStep, Review } from "./admission.ts";
import { lazyStep } from "./lazy-step.ts";
import type { KubernetesObject } from "./meta.ts";
import { makeReview } from "./test-review.ts";

const review: Review<KubernetesObject> = makeReview<KubernetesObject>({
  apiVersion: "v1",
  kind: "Widget",
  metadata: { name: "w" },
});

test("is loaded by its first call, and answers without waiting afterwards", async () => {
  let loads = 0;
  const step = lazyStep<KubernetesObject>({ name: "Lazy", on: ["CREATE"] }, ["warnings"], async () => {
    loads++;
    return { warnings: () => ["seen"] };
  });

  expect(loads).toBe(0);
  expect(await step.warnings?.(review)).toEqual(["seen"]);
  expect(step.warnings?.(review)).toEqual(["seen"]);
  expect(loads).toBe(1);
});

test("has only the methods that it names, and one that the loaded step lacks changes and rejects nothing", async () => {
  const step: AdmissionStep = lazyStep<KubernetesObject>(
    { name: "Lazy", on: ["CREATE"] },
    ["mutate", "validate"],
    async () => ({}),
  );

  expect(Object.keys(step)).toEqual(["name", "on", "mutate", "validate"]);
  expect(await step.mutate?.(review)).toBe(review.object);
  expect(await step.validate?.(review)).toEqual([]);
});

test("a step that cannot be loaded fails the request, and the next one tries again", async () => {
  let loads = 0;
  const step = lazyStep<KubernetesObject>({ name: "Lazy", on: ["CREATE"] }, ["validate"], async () => {
    if (++loads === 1) throw new Error("the disk is gone");
    return { validate: () => [] };
  });

  await expect(step.validate?.(review)).rejects.toThrow("the disk is gone");
  expect(await step.validate?.(review)).toEqual([]);
});
