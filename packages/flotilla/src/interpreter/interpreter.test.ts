import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createLevel, InterpretError } from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { createInterpreter, knownLevels } from "./interpreter.ts";

const widget: KubernetesObject = { apiVersion: "example.io/v1", kind: "Widget", metadata: { name: "w" } };
const counting = (replicas: number, more: Partial<KindInterpreter> = {}): KindInterpreter => ({
  group: "example.io",
  kind: "Widget",
  replicas: () => ({ replicas }),
  ...more,
});

test("asks levels in order for each operation, and reports the level of a result", async () => {
  const interpreter = createInterpreter([
    createLevel("native", [counting(1, { isHealthy: () => false })]),
    createLevel("customization", [counting(2)]),
  ]);

  expect(await interpreter.replicas(widget)).toEqual({ replicas: 2 });
  expect(interpreter.levelOf("replicas", widget)).toBe("customization");
  expect(await interpreter.health(widget)).toBe("Unhealthy");
  expect(interpreter.levelOf("isHealthy", widget)).toBe("native");
  expect(interpreter.levelOf("dependencies", widget)).toBeUndefined();
});

test("rules apply to every version of a kind unless they name versions", async () => {
  const interpreter = createInterpreter([
    createLevel("native", [counting(1, { versions: ["v2"] }), counting(3, { versions: ["v1"] })]),
  ]);

  expect(await interpreter.replicas(widget)).toEqual({ replicas: 3 });
  expect(await interpreter.replicas({ ...widget, apiVersion: "example.io/v3" })).toBeUndefined();
});

test("a level that revises replicas wins over a lower level that divides", async () => {
  const divides = counting(1, { divide: () => new Map() });
  const revises = counting(2, {
    reviseReplicas: (object, replicas) => ({ ...object, metadata: { ...object.metadata, name: `w-${replicas}` } }),
  });
  const interpreter = createInterpreter([createLevel("native", [divides]), createLevel("webhook", [revises])]);

  const copies = await interpreter.divide(widget, [{ cluster: "a", replicas: 5 }]);

  expect(copies.get("a")?.metadata.name).toBe("w-5");
});

test("a kind without rules reflects its whole status, which must be an object", async () => {
  const interpreter = createInterpreter(knownLevels);

  expect(await interpreter.reflectStatus({ ...widget, status: { ready: true } } as KubernetesObject)).toEqual({
    ready: true,
  });
  await expect(interpreter.reflectStatus({ ...widget, status: "text" } as KubernetesObject)).rejects.toThrow(
    "it is not an object",
  );
});

test("a rule that throws is reported as failed, with the object", async () => {
  const interpreter = createInterpreter([
    createLevel("native", [
      counting(1, {
        isHealthy: (object) => (object as unknown as { status: { phase: string } }).status.phase === "Ready",
      }),
    ]),
  ]);

  await expect(interpreter.health(widget)).rejects.toThrow(/^isHealthy of Widget w: Cannot read/);
  await expect(interpreter.health(widget)).rejects.toBeInstanceOf(InterpretError);
});

test("the interpreter does not divide replicas that no rule counts", async () => {
  const revises: KindInterpreter = {
    group: "example.io",
    kind: "Widget",
    reviseReplicas: () => ({ ...widget, kind: "Revised" }),
  };

  const copies = await createInterpreter([createLevel("native", [revises])]).divide(widget, [
    { cluster: "a", replicas: 0 },
  ]);

  expect(copies.get("a")).toBe(widget);
});

test("a user rule that revises like the kind's own rule leaves division to the kind", async () => {
  const revise = (): KubernetesObject => ({ ...widget, metadata: { name: "revised" } });
  const divides = counting(1, {
    reviseReplicas: revise,
    divide: () => new Map([["a", { ...widget, kind: "Divided" }]]),
  });
  const revises = counting(2, { reviseReplicas: revise });

  const copies = await createInterpreter([
    createLevel("native", [divides]),
    createLevel("customization", [revises]),
  ]).divide(widget, [{ cluster: "a", replicas: 5 }]);

  expect(copies.get("a")?.kind).toBe("Divided");
});

test("the interpreter does not copy counted replicas that no rule sets to several members", async () => {
  const interpreter = createInterpreter([createLevel("native", [counting(6)])]);
  const all = [{ cluster: "a", replicas: 6 }];

  await expect(
    interpreter.divide(widget, [
      { cluster: "a", replicas: 4 },
      { cluster: "b", replicas: 2 },
    ]),
  ).rejects.toThrow("its 6 replicas are counted but no rule sets them");
  expect((await interpreter.divide(widget, all)).get("a")).toBe(widget);
  expect((await interpreter.divide(widget, [{ cluster: "a", replicas: 4, isWhole: true }])).get("a")).toBe(widget);
});

test("a rule that leaves the replicas unchanged fails", async () => {
  const interpreter = createInterpreter([
    createLevel("webhook", [counting(6, { reviseReplicas: (object) => ({ ...object }) })]),
  ]);

  await expect(interpreter.divide(widget, [{ cluster: "a", replicas: 4 }])).rejects.toThrow(
    "ReviseReplica to 4 of 6 replicas for a changes nothing",
  );
});

test("a user rule that returns more replicas than requested fails", async () => {
  const sized = (replicas: number): KubernetesObject => ({ ...widget, spec: { replicas } }) as KubernetesObject;
  const doubling: KindInterpreter = {
    group: "example.io",
    kind: "Widget",
    replicas: (object) => ({ replicas: (object as unknown as { spec: { replicas: number } }).spec.replicas }),
    reviseReplicas: (_object, replicas) => sized(replicas * 2),
  };
  const level = { ...createLevel("customization", [doubling]), ownerOf: () => "ResourceInterpreterCustomization a" };
  const interpreter = createInterpreter([level]);

  await expect(interpreter.divide(sized(6), [{ cluster: "a", replicas: 4 }])).rejects.toThrow(
    "ReviseReplica of ResourceInterpreterCustomization a to 4 replicas for a returns a copy with 8",
  );
  expect(await interpreter.divide(sized(6), [{ cluster: "a", replicas: 4, isWhole: true }])).toEqual(
    new Map([["a", sized(8)]]),
  );
});

test("replicas that a user's rule counts instead of the kind's are known with those of the kind", async () => {
  const native = createLevel("native", [counting(10)]);
  const users = { ...createLevel("customization", [counting(4)]), ownerOf: () => "rules" };

  expect(await createInterpreter([users, native]).replacedReplicas(widget)).toBe(10);
  expect(await createInterpreter([native]).replacedReplicas(widget)).toBeUndefined();
});

test("a user's ReviseReplica must not take the partition of a release away", async () => {
  const object = { ...widget, spec: { replicas: 10, updateStrategy: { partition: 4 } } } as KubernetesObject;
  const revising = (spec: object) => ({
    ...createLevel("customization", [
      counting(10, {
        replicas: (given) => ({ replicas: (given as unknown as { spec: { replicas: number } }).spec.replicas }),
        reviseReplicas: (given, replicas) => ({ ...given, spec: { ...spec, replicas } }) as KubernetesObject,
      }),
    ]),
    ownerOf: () => "rules",
  });
  const shares = [{ cluster: "a", replicas: 5 }];

  await expect(createInterpreter([revising({})]).divide(object, shares)).rejects.toThrow(
    "ReviseReplica of rules takes spec.updateStrategy.partition away from the copy of a, so that a release would reach all its pods",
  );
  const kept = createInterpreter([revising({ updateStrategy: { partition: 2 } })]);
  expect((await kept.divide(object, shares)).get("a")).toMatchObject({ spec: { replicas: 5 } });
});

test("while a user's GetReplicas fails, a template that asks for other replicas than before is not divided", async () => {
  const native = createLevel("native", [
    counting(6, { divide: (object, shares) => new Map(shares.map(({ cluster }) => [cluster, object])) }),
  ]);
  const failing = counting(0, {
    replicas: () => {
      throw new InterpretError("no count");
    },
  });
  const users = { ...createLevel("customization", [failing]), ownerOf: () => "rules" };
  const interpreter = createInterpreter([users, native]);

  await expect(interpreter.divide(widget, [{ cluster: "a", replicas: 10 }])).rejects.toThrow(
    "GetReplicas of rules fails, and the template asks for 6 replicas instead of 10, so members keep their copies: no count",
  );
  expect((await interpreter.divide(widget, [{ cluster: "a", replicas: 6 }])).size).toBe(1);
});
