import { expect, test } from "vitest";
import type { GracefulEvictionTask, ResourceBindingSpec } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import { leftDirectly, leftGracefully, targetsOf } from "./target-clusters.ts";

const task = (fromCluster: string, purgeMode?: GracefulEvictionTask["purgeMode"]): GracefulEvictionTask => ({
  fromCluster,
  reason: "Test",
  producer: "test",
  purgeMode,
});
const on = (...names: string[]): { name: string }[] => names.map((name) => ({ name }));

const cases: Record<
  string,
  { spec: Partial<ResourceBindingSpec>; targets: string[]; gracefully?: string[]; directly?: string[] }
> = {
  "the clusters that the scheduler chose": { spec: { clusters: on("a", "b") }, targets: ["a", "b"] },
  "the clusters of the bindings that require it, each once": {
    spec: {
      clusters: on("a"),
      requiredBy: [
        { name: "x", clusters: on("a", "b") },
        { name: "y", clusters: on("b", "c") },
      ],
    },
    targets: ["a", "b", "c"],
  },
  "a cluster under graceful eviction keeps its copy": {
    spec: { clusters: on("b"), gracefulEvictionTasks: [task("a", "Gracefully")] },
    targets: ["b"],
    gracefully: ["a"],
  },
  "a task without a purge mode, or with Never, is graceful": {
    spec: { clusters: on("c"), gracefulEvictionTasks: [task("a"), task("b", "Never")] },
    targets: ["c"],
    gracefully: ["a", "b"],
  },
  "no graceful eviction starts before the scheduler found another cluster": {
    spec: { clusters: on("a"), gracefulEvictionTasks: [task("a", "Gracefully")] },
    targets: ["a"],
  },
  "a cluster with purge mode Directly is immediately not a target any more": {
    spec: { clusters: on("a", "b"), gracefulEvictionTasks: [task("a", "Directly")] },
    targets: ["b"],
    directly: ["a"],
  },
  "a copy that another binding requires stays": {
    spec: { requiredBy: [{ name: "x", clusters: on("a") }], gracefulEvictionTasks: [task("a", "Immediately")] },
    targets: ["a"],
  },
};
for (const [behaviour, { spec, targets, gracefully = [], directly = [] }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(targetsOf(spec).map(({ name }) => name)).toEqual(targets);
    expect([...leftGracefully(spec)]).toEqual(gracefully);
    expect([...leftDirectly(spec)]).toEqual(directly);
  });
}
