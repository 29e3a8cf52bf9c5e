/**
 * A release that begins while another is not complete: pods of three templates run. Raising its partition rolls back
 * exactly the pods asked for, to what they ran before, and changes no other pod.
 */
import { afterEach, describe, expect, test } from "vitest";
import { Explanation } from "@flotilla/flotilla";
import { AdvancedStatefulSet, CloneSet } from "@flotilla/openkruise";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Namespace, Pod } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";
import { startRulesFleet } from "./rules-fleet.ts";

const MEMBERS = ["member1", "member2", "member3"];
const web = { cluster: "hub", namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(podUpdatePolicy: "ReCreate" | "InPlaceIfPossible", rollingUpdate: object = {}): Promise<void> {
  fleet = await startTestFleet({ members: MEMBERS, nodes: 3 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps.kruise.io/v1beta1", "CloneSet")
      .weights({ member1: 1, member2: 1, member3: 1 })
      .build(),
  );
  const cloneSet = makeCloneSet("shop/web")
    .replicas(12)
    .with(({ spec }) => {
      spec.updateStrategy = {
        type: "RollingUpdate",
        rollingUpdate: { podUpdatePolicy, maxUnavailable: "50%", ...rollingUpdate },
      };
    })
    .build();
  await fleet.client.create(CloneSet, "hub", cloneSet);
  await fleet.run(30_000);
}

async function release(version: number, partition: number): Promise<void> {
  await fleet.client.patch(
    CloneSet,
    web,
    {
      spec: {
        template: { spec: { containers: [{ name: "web", image: `web:${version}` }] } },
        updateStrategy: { rollingUpdate: { partition } },
      },
    },
    { type: "merge" },
  );
  await fleet.run(60_000);
}

/** The images of the pods of each member, in the order of the pods' names. */
async function images(): Promise<string[][]> {
  return Promise.all(
    MEMBERS.map(async (cluster) =>
      (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items
        .filter(({ metadata }) => !metadata.deletionTimestamp)
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
        .map(({ spec }) => (spec?.containers[0]?.image ?? "").replace("web:", "")),
    ),
  );
}
/** For example `1×3 2×8 3×1`: pods by version. */
const versions = async (): Promise<string> => {
  const all = (await images()).flat();
  return [...new Set(all)]
    .sort()
    .map((version) => `${version}×${all.filter((each) => each === version).length}`)
    .join(" ");
};
const updated = async (): Promise<number | undefined> =>
  (await fleet.client.get(CloneSet, web)).status?.updatedReplicas;

describe.each(["InPlaceIfPossible", "ReCreate"] as const)("a release during another one, %s,", (podUpdatePolicy) => {
  test("is rolled back pod by pod, and with the highest partition the pods run what they ran before it", async () => {
    await start(podUpdatePolicy);
    await release(2, 3);
    expect(await versions()).toBe("1×3 2×9");
    await release(3, 9);
    expect(await updated()).toBe(3);
    const before = await versions();

    await release(3, 10);
    expect(await versions()).toBe("1×3 2×7 3×2");
    expect(before).toBe("1×3 2×6 3×3");
    expect(await updated()).toBe(2);

    await release(3, 12);
    expect(await versions()).toBe("1×3 2×9");
    expect(await updated()).toBe(0);
    fleet.resetWrites();
    await fleet.run(600_000);
    expect(fleet.writes()).toEqual([]);
  });

  test("returns pods of both earlier versions, also after it was completed, and continues afterwards", async () => {
    await start(podUpdatePolicy);
    await release(2, 9);
    await release(3, 1);
    await release(3, 0);
    expect(await versions()).toBe("3×12");

    await release(3, 4);
    expect(await versions()).toBe("1×1 2×3 3×8");
    await release(3, 12);
    expect(await versions()).toBe("1×9 2×3");
    await release(3, 6);
    expect(await updated()).toBe(6);
    expect((await versions()).endsWith(" 3×6")).toBe(true);
    await release(3, 0);
    expect(await versions()).toBe("3×12");
  });
});

test("changes the pods of the release even if others are not ready or come first by the user's priorities", async () => {
  await start("InPlaceIfPossible", {
    priorityStrategy: { orderPriority: [{ orderedKey: "controller-revision-hash" }] },
    scatterStrategy: [{ key: "app", value: "web" }],
  });
  await release(2, 6);
  await release(3, 9);
  const before = await images();

  await release(3, 11);

  const after = await images();
  const changed = before.flatMap((pods, member) =>
    pods.flatMap((image, index) => (after[member]?.[index] === image ? [] : [image])),
  );
  expect(changed).toEqual(["3", "3"]);
  const { status } = await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" });
  expect(status?.conditions?.find(({ type }) => type === "Dispatched")?.status ?? "True").toBe("True");
});

test("a rollback of a release is shown by a plan, with the number of pods, and by `why` while it is rolled back", async () => {
  const rules = await startRulesFleet();
  fleet = rules;
  await rules.release({ image: "web:2", partition: 4 });
  await rules.run(60_000);
  await rules.release({ image: "web:3", partition: 8 });
  await rules.run(60_000);
  expect(await rules.podsWith("web:3")).toEqual([1, 1]);

  const { notes, changes } = await rules.plan({ partition: 9 });

  expect(notes).toEqual([
    "CloneSet shop/web: this rolls back 1 pod on member2 to the templates that the pods ran before; pods of " +
      "several earlier templates run there, so the first step only counts them, and the other steps follow as " +
      "members report",
  ]);
  expect(changes.map(({ cluster }) => cluster)).toContain("member2");
  await rules.release({ partition: 9 });
  await rules.run(60_000);
  expect([await rules.podsWith("web:3"), await rules.podsWith("web:2")]).toEqual([
    [1, 0],
    [2, 3],
  ]);
  expect((await rules.why()).problems).toEqual([]);
});

describe("a raised partition that does not roll pods back", () => {
  const db = { cluster: "hub", namespace: "shop", name: "db" };

  test(
    "a raised partition that does not roll pods back of an Advanced StatefulSet is reported by the binding, " +
      "`why` and `status`, also after a complete release",
    async () => {
      fleet = await startTestFleet({ members: MEMBERS, nodes: 3 });
      await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
      const policy = makePolicy("shop/all")
        .selects("apps.kruise.io/v1beta1", "StatefulSet")
        .weights({ member1: 1, member2: 1, member3: 1 });
      await fleet.client.create(PropagationPolicy, "hub", policy.build());
      await fleet.client.create(AdvancedStatefulSet, "hub", {
        apiVersion: "apps.kruise.io/v1beta1",
        kind: "StatefulSet",
        metadata: { namespace: "shop", name: "db" },
        spec: {
          replicas: 6,
          serviceName: "db",
          selector: { matchLabels: { app: "db" } },
          template: { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "db", image: "db:1" }] } },
          updateStrategy: { rollingUpdate: { partition: 6 } },
        },
      });
      await fleet.run(60_000);
      const set = async (image: string, partition: number): Promise<void> => {
        const spec = {
          template: { spec: { containers: [{ name: "db", image }] } },
          updateStrategy: { rollingUpdate: { partition } },
        };
        await fleet.client.patch(AdvancedStatefulSet, db, { spec }, { type: "merge" });
        await fleet.run(60_000);
      };
      const notRolledBack = async (): Promise<string | undefined> => {
        const { status } = await fleet.client.get(ResourceBinding, { ...db, name: "db-statefulset" });
        const condition = status?.conditions?.find(({ type }) => type === "PodsRolledBack");
        return condition?.status === "False" ? condition.message : undefined;
      };
      expect(await notRolledBack()).toBeUndefined();

      await set("db:2", 2);
      expect(await notRolledBack()).toBeUndefined();
      await set("db:2", 5);
      const said =
        "3 pods are not rolled back from the release on member2, member3, where 4 have it instead of 1: an " +
        "Advanced StatefulSet is updated from its highest ordinal down, and cannot roll pods back";
      expect(await notRolledBack()).toBe(`${said}; release the previous template to replace them`);
      const { problems } = await fleet.client.get(Explanation, { ...db, name: "db-statefulset" });
      expect(problems).toEqual([{ what: said, try: "release the previous template to replace them" }]);
      expect((await runCommand(fleet, "status", "-n", "shop")).text).toContain("3 pods are not rolled back");

      await set("db:2", 0);
      expect(await notRolledBack()).toBeUndefined();
      await set("db:2", 4);
      expect(await notRolledBack()).toContain("4 pods are not rolled back");
      await set("db:1", 0);
      expect(await notRolledBack()).toBeUndefined();
    },
  );

  test("a raised partition that does not roll pods back of a CloneSet is reported if the release began without a partition", async () => {
    await start("InPlaceIfPossible");
    await release(2, 0);

    await release(2, 9);

    expect(await versions()).toBe("2×12");
    const { status } = await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" });
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "PodsRolledBack",
        status: "False",
        reason: "NotPossible",
        message: expect.stringContaining("the release began without a partition") as string,
      }),
    );
  });
});
