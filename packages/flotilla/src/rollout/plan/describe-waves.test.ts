import { expect, test } from "vitest";
import { describeWaves } from "./describe-waves.ts";
import { planWaves } from "./plan-waves.ts";
import type { Entry } from "./release.ts";
import { makeEntry, makeRelease } from "./test-release.ts";
import type { TestRelease } from "./test-release.ts";

const weights = [
  { name: "first", weight: 1 },
  { name: "second", weight: 2 },
  { name: "rest", weight: 7 },
];
const given = (name: string, more: Partial<Entry>): Entry =>
  makeEntry(name, { revision: "web-2", wave: "first", replicas: 3, ...more });
const waiting = (name: string): Entry => makeEntry(name, { replicas: 3 });
const plan = [
  { name: "first", updated: 1, clusters: ["oslo"] },
  { name: "second", updated: 3, clusters: ["oslo"] },
  { name: "rest", updated: 9, clusters: ["paris", "rome"] },
];

function describeOf(entries: Entry[], status: TestRelease["status"], waves = weights) {
  const release = makeRelease({ entries, status, strategy: { waves, order: "Ordered" } });
  const members = entries.map(({ name, replicas, revision, target, wave }) => ({
    name,
    labels: {},
    size: replicas,
    floor: revision === "web-2" ? (target ?? replicas) : undefined,
    wave,
  }));
  return describeWaves(release, planWaves(release.strategy, members, false));
}

test("a wave that is over keeps the number that it had while the next one gives its member more", () => {
  const entries = [given("oslo", { updated: 1 }), waiting("paris"), waiting("rome")];

  expect(describeOf(entries, { plan, total: 9, waveIndex: 1, waveState: "Open" })).toEqual(plan);
});

test("a release that has succeeded has the numbers that its waves had", () => {
  const entries = [given("oslo", {}), given("paris", { wave: "rest" }), given("rome", { wave: "rest" })];

  expect(describeOf(entries, { phase: "Succeeded", plan, total: 9, waveIndex: 2, waveState: "After" })).toEqual(plan);
});

test("a wave that is over has the number that it stands for after scaling", () => {
  const entries = ["oslo", "paris", "rome"].map((name) =>
    name === "oslo" ? given(name, { replicas: 10, target: 3 }) : makeEntry(name, { replicas: 10 }),
  );

  const waves = describeOf(entries, { plan, total: 9, waveIndex: 2, waveState: "Before" });

  expect(waves.map(({ name, updated }) => [name, updated])).toEqual([
    ["first", 3],
    ["second", 9],
    ["rest", 30],
  ]);
});

test("members that leave are no longer named, and the number of the wave stays", () => {
  const entries = [given("oslo", { replicas: 5, target: 3 }), makeEntry("paris", { replicas: 4 })];
  const before = [
    { name: "first", updated: 3, clusters: ["oslo"] },
    { name: "all", updated: 9, clusters: ["oslo", "paris", "rome"] },
  ];

  const waves = describeOf(entries, { plan: before, total: 9, waveIndex: 1, waveState: "Before" }, [
    { name: "first", pods: 3 },
    { name: "all" },
  ] as never);

  expect(waves).toEqual([
    { name: "first", updated: 3, clusters: ["oslo"] },
    { name: "all", updated: 9, clusters: ["oslo", "paris"] },
  ]);
});
