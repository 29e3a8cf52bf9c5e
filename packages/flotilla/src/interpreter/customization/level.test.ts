import { describe, expect, test } from "vitest";
import { createFakeClock, deepFreeze, MetricsText } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createLevel, InterpretError } from "@flotilla/kubernetes";
import type { StatusItem } from "@flotilla/kubernetes";
import { createInterpreter } from "../interpreter.ts";
import type { AnyObject, Interpreter } from "../interpreter.ts";
import { createLuaEngine, LuaRuntimeError } from "../scripts/index.ts";
import type { LuaEngine } from "../scripts/index.ts";
import { createCustomizationLevel } from "./level.ts";
import type { CustomizationLevel } from "./level.ts";
import { makeCustomization, TARGET } from "./test-customization.ts";

const web = (fields: object = {}): AnyObject =>
  deepFreeze({ ...TARGET, metadata: { name: "shop", namespace: "prod" }, ...fields });

interface Made {
  level: CustomizationLevel;
  engine: LuaEngine;
  interpreter: Interpreter;
  changed: string[];
}

function make(...customizations: Parameters<CustomizationLevel["set"]>[0][]): Made {
  const engine = createLuaEngine({ clock: createFakeClock() });
  const level = createCustomizationLevel({ engine });
  for (const customization of customizations) level.set(customization);
  const changed: string[] = [];
  level.onChange(({ group, kind }) => changed.push(`${group}/${kind}`));
  return { level, engine, interpreter: createInterpreter([level]), changed };
}

const counts = (replicas: number): string => `function GetReplicas(o) return ${replicas} end`;
const depends = (...names: string[]): string =>
  `function GetDependencies(o) return {${names.map((name) => `{apiVersion="v1", kind="ConfigMap", namespace="prod", name="${name}"}`).join(",")}} end`;

describe("selecting the customization", () => {
  test("a customization applies only to the exact version and kind of its target", () => {
    const { level } = make(makeCustomization("a", { replicaResource: counts(1) }));

    expect(level.rulesFor("example.com/v1", "Web")?.replicas).toBeDefined();
    expect(level.rulesFor("example.com/v2", "Web")).toBeUndefined();
    expect(level.rulesFor("example.com/v1", "Site")).toBeUndefined();
  });

  test("for each operation the first script by name wins, regardless of creation order", async () => {
    const { interpreter } = make(
      makeCustomization("b", {
        replicaResource: counts(2),
        healthInterpretation: "function InterpretHealth(o) return false end",
      }),
      makeCustomization("a", { replicaResource: counts(1) }),
    );

    expect(await interpreter.replicas(web())).toEqual({ replicas: 1 });
    expect(await interpreter.health(web())).toBe("Unhealthy");
  });

  test("an empty script counts as no script", async () => {
    const { level, interpreter } = make(
      makeCustomization("a", { replicaResource: "", dependencyInterpretation: "" }),
      makeCustomization("b", { replicaResource: counts(2) }),
    );

    expect(await interpreter.replicas(web())).toEqual({ replicas: 2 });
    expect(level.rulesFor(TARGET.apiVersion, TARGET.kind)?.dependencies).toBeUndefined();
  });

  test("an operation without a script falls through to the next level", async () => {
    const { level } = make(
      makeCustomization("a", { healthInterpretation: "function InterpretHealth(o) return false end" }),
    );
    const interpreter = createInterpreter([
      createLevel("native", [
        { group: "example.com", kind: "Web", replicas: () => ({ replicas: 7 }), isHealthy: () => true },
      ]),
      level,
    ]);

    expect(await interpreter.replicas(web())).toEqual({ replicas: 7 });
    expect(await interpreter.health(web())).toBe("Unhealthy");
    expect([interpreter.levelOf("replicas", web()), interpreter.levelOf("isHealthy", web())]).toEqual([
      "native",
      "customization",
    ]);
  });

  test("merges dependencies of all scripts into one sorted list without duplicates", async () => {
    const { interpreter } = make(
      makeCustomization("a", { dependencyInterpretation: depends("z", "b") }),
      makeCustomization("b", { dependencyInterpretation: depends("a", "b") }),
    );

    const found = await interpreter.dependencies(web());

    expect(found.map(({ name }) => name)).toEqual(["a", "b", "z"]);
  });
});

describe("changes", () => {
  test("a new script replaces the previous one and reports the kind as changed", async () => {
    const { level, interpreter, changed } = make(makeCustomization("a", { replicaResource: counts(1) }));

    level.set(makeCustomization("a", { replicaResource: counts(5) }));

    expect(await interpreter.replicas(web())).toEqual({ replicas: 5 });
    expect(changed).toEqual(["example.com/Web"]);
  });

  test("an update that leaves the rules unchanged is not reported", () => {
    const { level, changed } = make(makeCustomization("a", { replicaResource: counts(1) }));
    const relabelled = makeCustomization("a", { replicaResource: counts(1) });

    level.set({ ...relabelled, metadata: { ...relabelled.metadata, labels: { team: "shop" } } });
    level.remove("b");

    expect(changed).toEqual([]);
  });

  test("a customization that changes its target leaves the old one, and both kinds are reported as changed", () => {
    const { level, changed } = make(makeCustomization("a", { replicaResource: counts(1) }));

    level.set(makeCustomization("a", { replicaResource: counts(1) }, { apiVersion: "v1", kind: "Pod" }));

    expect(level.rulesFor(TARGET.apiVersion, TARGET.kind)).toBeUndefined();
    expect(level.rulesFor("v1", "Pod")?.replicas).toBeDefined();
    expect(changed).toEqual(["example.com/Web", "/Pod"]);
  });

  test("a corrected script is not reported with the failures of the former one", async () => {
    const broken = "function GetReplicas(o) error('no') end";
    const { level, interpreter, engine } = make(makeCustomization("a", { replicaResource: broken }));
    await expect(interpreter.replicas(web())).rejects.toThrow("no");

    level.set(makeCustomization("a", { replicaResource: counts(1) }));

    const metrics = new MetricsText();
    engine.writeMetrics(metrics);
    expect(metrics.finish()).not.toContain('customization="a"');
  });

  test("when the first of two is deleted, the second is used, and the metrics of the first are dropped", async () => {
    const { level, interpreter, engine, changed } = make(
      makeCustomization("a", { replicaResource: counts(1) }),
      makeCustomization("b", { replicaResource: counts(2) }),
    );
    await interpreter.replicas(web());

    level.remove("a");
    const replicas = await interpreter.replicas(web());

    const metrics = new MetricsText();
    engine.writeMetrics(metrics);
    const text = metrics.finish();
    expect(replicas).toEqual({ replicas: 2 });
    expect(changed).toEqual(["example.com/Web"]);
    expect(text).toContain('customization="b"');
    expect(text).not.toContain('customization="a"');
  });
});

describe("inputs and results of scripts", () => {
  const items: StatusItem[] = [
    { clusterName: "m1", status: { n: 1, gone: null }, applied: true, health: "Healthy" },
    { clusterName: "m2", applied: false, appliedMessage: "" },
  ];
  const sums =
    "function AggregateStatus(o, items) local n = 0 for _, item in ipairs(items) do n = n + 1 end " +
    "o.metadata.name = 'other' o.status = {n = n, applied = items[2].applied == nil, message = " +
    "items[2].appliedMessage == nil, gone = items[1].status.gone == nil} return o end";

  test("nulls and zero values of statuses are passed as nil, and only the status of the result is used", async () => {
    const { interpreter } = make(makeCustomization("a", { statusAggregation: sums }));

    expect(await interpreter.aggregateStatus(web({ spec: { a: null } }), items)).toEqual(
      web({ spec: { a: null }, status: { n: 2, applied: true, message: true, gone: true } }),
    );
  });

  test("an aggregation that changes nothing returns the identical object", async () => {
    const { interpreter } = make(makeCustomization("a", { statusAggregation: sums }));
    const object = web({ status: { applied: true, gone: true, message: true, n: 2 } });

    expect(await interpreter.aggregateStatus(object, items)).toBe(object);
  });

  test("takes a bare status as the status of the object", async () => {
    const { interpreter } = make(
      makeCustomization("a", {
        statusAggregation: "function AggregateStatus(o, items) return {replicas = #items} end",
      }),
    );

    expect(await interpreter.aggregateStatus(web({ spec: { b: 1 } }), items)).toEqual(
      web({ spec: { b: 1 }, status: { replicas: 2 } }),
    );
  });

  test("fills fields missing from a bare status from the next level; takes a whole object unchanged", async () => {
    const next = createLevel("native", [
      {
        group: "example.com",
        kind: "Web",
        aggregateStatus: (object) => ({ ...object, status: { replicas: 7, revision: "web-1" } }),
      },
    ]);
    const asked = async (script: string): Promise<unknown> => {
      const { level } = make(
        makeCustomization("a", { statusAggregation: `function AggregateStatus(o, items) ${script} end` }),
      );
      return createInterpreter([level, next]).aggregateStatus(web(), items);
    };

    expect(await asked("return {replicas = #items}")).toEqual(web({ status: { replicas: 2, revision: "web-1" } }));
    expect(await asked("o.status = {replicas = #items} return o")).toEqual(web({ status: { replicas: 2 } }));
  });

  test("components use the interpreter's field names, and nil means none", async () => {
    const script =
      "function GetComponents(o) if o.empty then return nil end return {{name='driver', replicas=1, " +
      "replicaRequirements={resourceRequest={cpu='1'}}}, {name='worker', replicas=2}} end";
    const { interpreter } = make(makeCustomization("a", { componentResource: script }));

    expect(await interpreter.components(web())).toEqual([
      { name: "driver", replicas: 1, requirements: { resourceRequest: { cpu: "1" } } },
      { name: "worker", replicas: 2 },
    ]);
    expect(await interpreter.components(web({ empty: true }))).toEqual([]);
  });

  test("the result shares unchanged parts with its input", async () => {
    const { interpreter } = make(
      makeCustomization("a", { replicaRevision: "function ReviseReplica(o, n) o.spec.replicas = n return o end" }),
    );
    const object = web({ spec: { replicas: 1, template: { deep: { list: [1] } } } });

    const revised = (await interpreter.reviseReplicas(object, 3)) as unknown as { spec: JsonObject };

    expect(revised.spec["replicas"]).toBe(3);
    expect(revised.spec["template"]).toBe((object as unknown as { spec: JsonObject }).spec["template"]);
  });
});

describe("failures", () => {
  const DOING = (operation: string): string =>
    `running ${operation} of ResourceInterpreterCustomization a on Web prod/shop: `;
  const cases: Record<
    string,
    { scripts: Parameters<typeof makeCustomization>[1]; ask(interpreter: Interpreter): Promise<unknown>; want: string }
  > = {
    "name the customization, the operation, the object and the line": {
      scripts: { replicaResource: "function GetReplicas(o)\n  return o.spec.replicas\nend" },
      ask: (interpreter) => interpreter.replicas(web()),
      want: `${DOING("InterpretReplica")}line 2: attempt to index a non-table object(nil) with key 'replicas'`,
    },
    "state the expected type of the result": {
      scripts: { healthInterpretation: "function InterpretHealth(o) return 'yes' end" },
      ask: (interpreter) => interpreter.health(web()),
      want: `${DOING("InterpretHealth")}result type 3 is not bool`,
    },
    "include a stored script that does not compile": {
      scripts: { healthInterpretation: "function (" },
      ask: (interpreter) => interpreter.health(web()),
      want: `${DOING("InterpretHealth")}<string> line:1(column:10) near '(':   syntax error`,
    },
    "include negative replicas": {
      scripts: { replicaResource: counts(-1) },
      ask: (interpreter) => interpreter.replicas(web()),
      want: `${DOING("InterpretReplica")}the script returned -1 replicas`,
    },
    "include a revision that returns a different object": {
      scripts: { replicaRevision: "function ReviseReplica(o, n) o.metadata.namespace = 'kube-system' return o end" },
      ask: (interpreter) => interpreter.reviseReplicas(web(), 1),
      want: `${DOING("ReviseReplica")}the script returned a different object: its namespace changed`,
    },
    "include a dependency without a name": {
      scripts: {
        dependencyInterpretation: "function GetDependencies(o) return {{apiVersion='v1', kind='Secret'}} end",
      },
      ask: (interpreter) => interpreter.dependencies(web()),
      want: `${DOING("InterpretDependency")}dependencies[0]: dependency can not leave name and labelSelector all empty`,
    },
    "include a script that never ends": {
      scripts: { retention: "function Retain(d, o) while true do end end" },
      ask: (interpreter) => interpreter.retain(web(), web()),
      want: `${DOING("Retain")}line 1: context deadline exceeded`,
    },
  };
  for (const [behaviour, { scripts, ask, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { interpreter } = make(makeCustomization("a", scripts));

      await expect(ask(interpreter)).rejects.toThrow(new InterpretError(want));
    });
  }

  test("keep their cause", async () => {
    const { interpreter } = make(
      makeCustomization("a", { replicaResource: "function GetReplicas(o) error('no') end" }),
    );

    const error: unknown = await interpreter.replicas(web()).catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(InterpretError);
    expect((error as InterpretError).cause).toBeInstanceOf(LuaRuntimeError);
  });
});
