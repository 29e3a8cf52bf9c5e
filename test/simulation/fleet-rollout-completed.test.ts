/**
 * Members that completed a release of a CloneSet, for OpenKruise: all pods that they start have the release, whatever
 * their partition. The hub still lets exactly as many pods have it as the partition allows.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startRulesFleet } from "./rules-fleet.ts";
import type { RulesFleet } from "./rules-fleet.ts";

let fleet: RulesFleet;
afterEach(() => fleet.stop());

const SETTLED_MS = 120_000;

async function start(): Promise<void> {
  fleet = await startRulesFleet();
  await release({ image: "web:2", partition: 1 });
  expect(await fleet.podsWith("web:2")).toEqual([5, 4]);
  fleet.record();
}

async function release(step: Parameters<RulesFleet["release"]>[0]): Promise<void> {
  await fleet.release(step);
  await fleet.run(SETTLED_MS);
}

describe("a CloneSet that is scaled during a release starts exactly the requested pods with it", () => {
  test("when its members with all pods updated grow", async () => {
    await start();

    await release({ replicas: 14, partition: 2 });

    expect(fleet.mostPodsWith("web:2")).toBe(12);
    expect(await fleet.podsWith("web:2")).toEqual([6, 6]);
    expect(await fleet.podsWith("web:1")).toEqual([1, 1]);
    expect(fleet.record()).toMatchObject({ created: 4, deleted: 0 });
  });

  test("when it was scaled to zero and back", async () => {
    await start();

    await release({ replicas: 0 });
    fleet.record();
    await release({ replicas: 10 });

    expect(fleet.mostPodsWith("web:2")).toBe(9);
    expect(await fleet.podsWith("web:2")).toEqual([5, 4]);
    expect(await fleet.podsWith("web:1")).toEqual([0, 1]);
    expect(fleet.record()).toMatchObject({ created: 10, deleted: 0 });
  });
});

test("a release that continues slowly after a rollback of some pods sends each member each template at most once", async () => {
  fleet = await startRulesFleet({ maxUnavailable: 2 });
  await release({ image: "web:2", partition: 1 });
  await release({ partition: 0 });
  await release({ partition: 8 });
  expect(await fleet.podsWith("web:2")).toEqual([1, 1]);
  fleet.record();

  await release({ partition: 2 });

  expect(await fleet.podsWith("web:2")).toEqual([4, 4]);
  expect(fleet.mostPodsWith("web:2")).toBe(8);
  // The template before is kept, so that a lost pod is replaced by a pod of the version that it had.
  expect(fleet.record().images).toEqual({ member1: ["web:2", "web:1"], member2: ["web:2", "web:1"] });
  expect(await fleet.workCondition("member1", "Applied")).toMatchObject({ status: "True" });
});
