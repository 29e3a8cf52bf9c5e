import { expect, test } from "vitest";
import { createKruiseAdmissions } from "@flotilla/openkruise";
import { createKindAdmissions } from "./kind-admissions.ts";

test("the steps of a kind have different names", () => {
  const steps = [...createKindAdmissions(), ...createKruiseAdmissions({ appliesTo: () => true, nowMs: () => 0 })];

  const names = steps.map((step) => `${step.for.kind}.${step.for.group} ${step.name}`);

  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("of the steps that add to pods, none runs again after a policy changed the pod", () => {
  const steps = createKruiseAdmissions({ appliesTo: () => true, nowMs: () => 0 });

  const adding = steps.filter(({ mutate }) => mutate);

  expect(adding.length).toBeGreaterThan(5);
  expect(adding.filter(({ isReinvoked }) => isReinvoked)).toEqual([]);
});
