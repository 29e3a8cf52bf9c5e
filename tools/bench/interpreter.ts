/**
 * The cost of interpreting a CloneSet, per operation: with the native rules and with an equivalent Lua script.
 * References are the figures of the study that led to the engine, measured on another day with Karmada's own script.
 */
import { systemClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createLuaEngine, knownKinds } from "@flotilla/flotilla";
import type { AnyObject, LuaProgram } from "@flotilla/flotilla";
import type { KindInterpreter, Operation, StatusItem } from "@flotilla/kubernetes";
import type { Benchmark, Figure } from "./benchmark.ts";
import { CLONE_SET_SCRIPTS } from "./cloneset-scripts.ts";

/** Different objects of one shape, so that caches do not hold a single one. */
const SHAPES = 32;
const WARM_UP_MS = 300;
const ROUNDS = 2000;
/** Long enough for the clock's resolution, short enough to fit between two interruptions on a busy machine. */
const ROUND_US = 50;
const MOST_PER_ROUND = 50;
const SINGLE_CALLS = 20_000;
const LONGEST_MS = 1500;

interface Times {
  p50: number;
  p99: number;
  perSecond: number;
}

/**
 * The median in µs of a round's mean, because one call is shorter than the clock's resolution; and the 99th percentile
 * of single calls.
 */
function measure(run: (round: number) => void): Times {
  let call = 0;
  const until = (limitMs: number, most: number, step: () => void): void => {
    const end = performance.now() + limitMs;
    for (let count = 0; count < most && performance.now() < end; count++) step();
  };
  const before = performance.now();
  until(WARM_UP_MS, Infinity, () => run(call++));
  const perRound = Math.max(
    1,
    Math.min(MOST_PER_ROUND, Math.ceil((ROUND_US * call) / ((performance.now() - before) * 1000))),
  );
  const rounds: number[] = [];
  until(LONGEST_MS, ROUNDS, () => {
    const start = performance.now();
    for (let count = 0; count < perRound; count++) run(call++);
    rounds.push(((performance.now() - start) * 1000) / perRound);
  });
  const singles: number[] = [];
  until(LONGEST_MS, SINGLE_CALLS, () => {
    const start = performance.now();
    run(call++);
    singles.push((performance.now() - start) * 1000);
  });
  const p50 = percentile(rounds, 0.5);
  return { p50, p99: percentile(singles, 0.99), perSecond: 1e6 / p50 };
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function makeCloneSet(index: number, containers: number): JsonObject {
  const container = (number: number): JsonObject => ({
    name: `c${number}`,
    image: "nginx:1.27",
    ports: [{ name: "http", containerPort: 80 }],
    env: [
      { name: "A", value: "1" },
      { name: "B", valueFrom: { configMapKeyRef: { name: "settings", key: "b" } } },
    ],
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "1", memory: "1Gi" } },
  });
  return {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    metadata: {
      name: `web-${index}`,
      namespace: "shop",
      generation: 3,
      labels: { app: "web" },
      annotations: { "resourcetemplate.karmada.io/generation": "3" },
    },
    spec: {
      replicas: 3 + index,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: Array.from({ length: containers }, (_, number) => container(number)) },
      },
    },
    status: statusOf(index, 3),
  };
}

const statusOf = (index: number, replicas: number): JsonObject => ({
  replicas,
  updatedReplicas: replicas,
  readyReplicas: replicas,
  availableReplicas: replicas,
  updatedReadyReplicas: replicas,
  expectedUpdatedReplicas: replicas,
  updateRevision: `web-${index}`,
  currentRevision: `web-${index}`,
  labelSelector: "app=web",
  observedGeneration: 3,
});

const makeItems = (count: number): StatusItem[] =>
  Array.from({ length: count }, (_, index) => ({
    clusterName: `member${index}`,
    applied: true,
    health: "Healthy",
    status: { ...statusOf(index, 1 + (index % 5)), generation: 3, resourceTemplateGeneration: 3 },
  }));

interface Case {
  name: string;
  native(object: AnyObject): unknown;
  lua(object: JsonObject): unknown;
  /** The p50 of the study for 2 and 20 KB. */
  references: readonly (number | undefined)[];
}

function makeCases(
  native: KindInterpreter,
  program: (operation: keyof typeof CLONE_SET_SCRIPTS) => LuaProgram,
): Case[] {
  const [health, replicas, revise, reflect, dependencies, aggregate] = (
    [
      "InterpretHealth",
      "InterpretReplica",
      "ReviseReplica",
      "InterpretStatus",
      "InterpretDependency",
      "AggregateStatus",
    ] as const
  ).map(program) as [LuaProgram, LuaProgram, LuaProgram, LuaProgram, LuaProgram, LuaProgram];
  const aggregation = (count: number, references: readonly number[]): Case => {
    const items = makeItems(count);
    return {
      name: `AggregateStatus, ${count} items`,
      native: (object) => native.aggregateStatus?.(object, items),
      lua: (object) => aggregate.aggregateStatus(object, items as unknown as JsonObject[]),
      references,
    };
  };
  return [
    {
      name: "InterpretHealth",
      native: (object) => native.isHealthy?.(object),
      lua: (object) => health.interpretHealth(object),
      references: [0.2, 0.19],
    },
    {
      name: "InterpretReplica",
      native: (object) => native.replicas?.(object),
      lua: (object) => replicas.getReplicas(object),
      references: [1.6, 2.4],
    },
    {
      name: "ReviseReplica",
      native: (object) => native.reviseReplicas?.(object, 7),
      lua: (object) => revise.reviseReplica(object, 7),
      references: [0.52, 0.64],
    },
    {
      name: "InterpretStatus",
      native: (object) => native.reflectStatus?.(object),
      lua: (object) => reflect.reflectStatus(object),
      references: [1.7, undefined],
    },
    {
      name: "InterpretDependency",
      native: (object) => native.dependencies?.(object),
      lua: (object) => dependencies.getDependencies(object),
      references: [0.66, undefined],
    },
    aggregation(2, [4.9, 18]),
    aggregation(20, [18, 31]),
    aggregation(200, [155, 168]),
  ];
}

export const interpreter: Benchmark = {
  name: "interpreter",
  summary:
    "operations on a CloneSet with native rules and with a script, including conversion and result rules; Lua compared with the figures of its study",
  async run({ progress }) {
    const native = knownKinds.find(
      ({ group, kind }) => group === "apps.kruise.io" && kind === "CloneSet",
    ) as KindInterpreter;
    const engine = createLuaEngine({ clock: systemClock });
    const cases = makeCases(native, (operation: Operation & keyof typeof CLONE_SET_SCRIPTS) =>
      engine.prepare(CLONE_SET_SCRIPTS[operation], { customization: "cloneset", operation }),
    );
    const figures: Figure[] = [];
    for (const [index, { size, containers }] of [
      { size: "2 KB", containers: 5 },
      { size: "20 KB", containers: 70 },
    ].entries()) {
      const objects = Array.from({ length: SHAPES }, (_, shape) => makeCloneSet(shape, containers));
      const object = (round: number): JsonObject => objects[round % SHAPES] as JsonObject;
      for (const { name, native: byNative, lua, references } of cases) {
        for (const [kind, run] of [
          ["native", (round: number) => byNative(object(round) as unknown as AnyObject)],
          ["Lua", (round: number) => lua(object(round))],
        ] as const) {
          progress(`${kind} ${name} ${size}`);
          const { p50, p99, perSecond } = measure(run);
          const reference = kind === "Lua" ? references[index] : undefined;
          figures.push(
            { name: `${kind} ${name}, ${size}: p50`, value: p50, unit: "µs", better: "less", reference },
            { name: `${kind} ${name}, ${size}: p99`, value: p99, unit: "µs", better: "less" },
            { name: `${kind} ${name}, ${size}: rate`, value: perSecond, unit: "per second", better: "more" },
          );
        }
      }
    }
    await engine.close();
    return figures;
  },
};
