import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createScaleDisputes } from "./scale-disputes.ts";

const cron = (name: string, generation = 1) => ({
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind: "CronFederatedHPA",
  metadata: { namespace: "shop", name, uid: name, generation },
});

function setUp() {
  const clock = createFakeClock();
  const objects = new Map(["up", "down"].map((name) => [name, cron(name)]));
  const disputes = createScaleDisputes({ clock, current: ({ metadata }) => objects.get(metadata.name) });
  let replicas = 3;
  /** What a minute changes. */
  const scale = (name: string, to: number): string => {
    clock.advance(60_000);
    try {
      disputes.beforeChange(
        { text: "spec.replicas of Deployment shop/web", from: replicas, to },
        objects.get(name) ?? cron(name),
      );
      replicas = to;
      return String(to);
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  return { clock, objects, disputes, scale };
}

const STOPPED =
  "CronFederatedHPA shop/down and CronFederatedHPA shop/up changed spec.replicas of Deployment shop/web back " +
  "and forth 3 times within ten minutes; it stays at 6 until one of them is changed or deleted";

test("two autoscalers that set different numbers are stopped at the third turn, and continue when one is changed", () => {
  const { objects, disputes, scale } = setUp();
  const turns: string[] = [];
  for (const [name, to] of [
    ["up", 6],
    ["down", 3],
    ["up", 6],
    ["down", 3],
    ["up", 6],
  ] as const)
    turns.push(scale(name, to));
  const stopped = disputes.stopped();
  objects.set("down", cron("down", 2));

  expect(turns).toEqual(["6", "3", "6", STOPPED, STOPPED]);
  expect([stopped, disputes.stopped()]).toEqual([1, 0]);
  expect(scale("down", 3)).toBe("3");
});

test("the other one continues when one is deleted", () => {
  const { objects, scale } = setUp();
  for (const [name, to] of [
    ["up", 6],
    ["down", 3],
    ["up", 6],
    ["down", 3],
  ] as const)
    scale(name, to);
  objects.delete("up");

  expect(scale("down", 3)).toBe("3");
});

test("one autoscaler that follows its load, two that agree, and two that meet rarely do not count as a dispute", () => {
  const { clock, disputes, scale } = setUp();
  for (const to of [6, 3, 6, 3, 6, 3]) expect(scale("up", to)).toBe(String(to));
  for (const [name, to] of [
    ["up", 4],
    ["down", 5],
    ["up", 7],
    ["down", 9],
    ["up", 12],
  ] as const)
    expect(scale(name, to)).toBe(String(to));
  for (const to of [6, 12, 6, 12, 6, 12]) {
    clock.advance(5 * 60_000);
    expect(scale(to === 6 ? "down" : "up", to)).toBe(String(to));
  }

  expect(disputes.stopped()).toBe(0);
});
