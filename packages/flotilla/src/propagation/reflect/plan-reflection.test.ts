import { omitZero } from "@flotilla/base";
import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createInterpreter } from "../../interpreter/interpreter.ts";
import { InterpretError } from "@flotilla/kubernetes";
import { makeDeployment, makeWork } from "@flotilla/testing/builders.ts";
import { planReflection, readObject } from "./plan-reflection.ts";

const NOW = "2024-05-01T12:00:00Z";
const ref = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const object = makeDeployment("shop/web")
  .replicas(2)
  .with((deployment) => {
    deployment.metadata.generation = 1;
    deployment.metadata.annotations = { "resourcetemplate.karmada.io/generation": "1" };
    deployment.status = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
  })
  .build();
const seen = { ref, resource: "deployments", reading: await readObject(object, createInterpreter()) };

test("a Work contains the status and health of its member's object", () => {
  const work = planReflection(makeWork("paris", "web").build(), [seen], NOW);

  expect(work.status?.manifestStatuses).toEqual([
    {
      identifier: {
        ordinal: 0,
        group: "apps",
        version: "v1",
        kind: "Deployment",
        resource: "deployments",
        namespace: "shop",
        name: "web",
      },
      status: {
        replicas: 2,
        updatedReplicas: 2,
        availableReplicas: 2,
        observedGeneration: 1,
        generation: 1,
        resourceTemplateGeneration: 1,
      },
      health: "Healthy",
    },
  ]);
});

const failing = async (): Promise<never> => {
  throw new InterpretError("no such field");
};

test("an object whose health rule fails still reports its status", async () => {
  const reported: string[] = [];

  const reading = await readObject(object, { ...createInterpreter(), health: failing }, (reason, error) =>
    reported.push(`${reason}: ${error.message}`),
  );

  expect(reading).toMatchObject({ status: { replicas: 2 }, health: "Unknown" });
  expect(reported).toEqual(["InterpretHealthFailed: no such field"]);
});

test("an object whose status rule fails keeps its last status, and its Work names the rule", async () => {
  const before = planReflection(makeWork("paris", "web").build(), [seen], NOW);
  const reading = await readObject(short(1), { ...createInterpreter(), reflectStatus: failing });

  const after = planReflection(before, [{ ...seen, reading }], NOW);

  expect(after.status?.manifestStatuses?.[0]?.status).toEqual(before.status?.manifestStatuses?.[0]?.status);
  expect(after.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Healthy", status: "False", message: "1 of 2 pods is not ready; no such field" }),
  );
  expect(interpretedOf(after)).toMatchObject({
    status: "False",
    reason: "ReflectStatusFailed",
    message: "no such field",
  });
});

test("a Work whose rules work again says so, and one whose rules never failed says nothing", async () => {
  const reading = await readObject(object, { ...createInterpreter(), reflectStatus: failing });
  const never = planReflection(makeWork("paris", "web").build(), [seen], NOW);
  const failed = planReflection(never, [{ ...seen, reading }], NOW);

  const again = planReflection(failed, [seen], NOW);

  expect(interpretedOf(never)).toBeUndefined();
  expect(interpretedOf(planReflection(failed, [undefined], NOW))).toMatchObject({ status: "False" });
  expect(interpretedOf(again)).toMatchObject({ status: "True", reason: "RulesSucceeded" });
  expect(planReflection(again, [seen], NOW)).toBe(again);
});

test("an unobservable object keeps its last known status", () => {
  const work = planReflection(makeWork("paris", "web").build(), [seen], NOW);

  expect(planReflection(work, [undefined], NOW)).toBe(work);
});

test("an unchanged status returns the same Work, so that nothing is written", () => {
  const work = planReflection(makeWork("paris", "web").build(), [seen], NOW);

  expect(planReflection(work, [seen], NOW)).toBe(work);
});

test("a deleted object is no longer reported", () => {
  const work = planReflection(makeWork("paris", "web").build(), [seen], NOW);

  expect(planReflection(work, ["absent"], NOW).status?.manifestStatuses).toEqual([]);
});

const short = (readyReplicas: number) => ({
  ...object,
  status: { ...object.status, availableReplicas: readyReplicas, readyReplicas },
});
const interpretedOf = (work: ReturnType<typeof planReflection>) =>
  work.status?.conditions?.find(({ type }) => type === "Interpreted");
const healthOf = (work: ReturnType<typeof planReflection>) =>
  work.status?.conditions?.find(({ type }) => type === "Healthy");

test("a Work whose object was never unhealthy has no condition about it", () => {
  expect(healthOf(planReflection(makeWork("paris", "web").build(), [seen], NOW))).toBeUndefined();
});

test("a Work is unhealthy since the last progress, and healthy again when its pods are ready", async () => {
  const times = ["2024-05-01T12:00:00Z", "2024-05-01T12:01:00Z", "2024-05-01T12:02:00Z", "2024-05-01T12:03:00Z"];
  let work: ReturnType<typeof planReflection> = makeWork("paris", "web").build();
  const conditions = [];
  for (const [index, ready] of [0, 1, 1, 2].entries()) {
    const reading = await readObject(short(ready), createInterpreter());
    work = planReflection(work, [{ ...seen, reading }], times[index] ?? "");
    conditions.push(healthOf(work));
  }

  expect(conditions).toMatchObject([
    { status: "False", message: "2 of 2 pods are not ready", lastTransitionTime: times[0] },
    { status: "False", message: "1 of 2 pods is not ready", lastTransitionTime: times[1] },
    { status: "False", message: "1 of 2 pods is not ready", lastTransitionTime: times[1] },
    { status: "True", lastTransitionTime: times[3] },
  ]);
});

test("a Work whose health rule fails says so", async () => {
  const reading = await readObject(object, { ...createInterpreter(), health: failing });

  expect(healthOf(planReflection(makeWork("paris", "web").build(), [{ ...seen, reading }], NOW))).toMatchObject({
    status: "Unknown",
    reason: "InterpretHealthFailed",
    message: "no such field",
  });
});

test("updated pods are those of the report before until the member has observed its copy", () => {
  const report = (
    release: string | undefined,
    generation: number,
    observedGeneration: number,
    updatedReplicas: number,
  ) => ({
    ...seen,
    reading: {
      status: { ...omitZero({ release }), generation, observedGeneration, updatedReplicas },
      health: "Healthy" as const,
    },
  });
  const counted = ({ status }: ReturnType<typeof planReflection>): unknown => {
    const reported = status?.manifestStatuses?.[0]?.status as
      | { release?: string; updatedReplicas?: number }
      | undefined;
    return `${reported?.updatedReplicas} of ${reported?.release}`;
  };

  const first = planReflection(makeWork("paris", "web").build(), [report("one", 1, 1, 3)], NOW);
  const unobserved = planReflection(first, [report("two", 2, 1, 1)], NOW);
  const unnamed = planReflection(first, [report(undefined, 2, 1, 1)], NOW);
  const observed = planReflection(unobserved, [report("two", 2, 2, 0)], NOW);

  expect([first, unobserved, unnamed, observed].map(counted)).toEqual(["3 of one", "3 of one", "3 of one", "0 of two"]);
});

test("an integer of the member that the hub cannot keep exactly is omitted and reported", async () => {
  const reported: string[] = [];
  const status = JSON.parse('{"phase":"Ready","startedNanoseconds":1700000000000000001}') as JsonObject;

  const reading = await readObject(
    object,
    { ...createInterpreter(), reflectStatus: async () => status },
    (reason, error) => reported.push(`${reason}: ${error.message}`),
  );

  expect(reading).toMatchObject({ health: "Healthy", verdict: undefined });
  expect(reading.status).toEqual({ phase: "Ready" });
  expect(reported).toEqual([
    "ReflectStatusFailed: the fields startedNanoseconds of the status are not reflected: each must be between " +
      "-9007199254740991 and 9007199254740991: larger integers cannot be kept exactly",
  ]);
});
