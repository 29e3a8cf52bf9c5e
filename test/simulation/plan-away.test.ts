/** `flotilla plan` while a member has stopped answering: it shows what members end with, as dispatch decides it. */
import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import { Cluster, PropagationPolicy, RESPONDING } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { CloneSet, partitionOf } from "@flotilla/openkruise";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";

const MEMBERS = ["member1", "member2", "member3"];

test("the step of a partition leaves out a member that has just stopped answering, in the plan as in the fleet", async () => {
  const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 2 }));
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/game").selects("apps.kruise.io/v1beta1", "CloneSet");
  await client.create(
    PropagationPolicy,
    "hub",
    policy.weights(Object.fromEntries(MEMBERS.map((name) => [name, 1]))).build(),
  );
  const game = (image: string, partition: number): CloneSet =>
    makeCloneSet("shop/game")
      .replicas(9)
      .image(image)
      .with(({ spec }) => (spec.updateStrategy = { rollingUpdate: { partition } }))
      .build();
  await client.create(CloneSet, "hub", game("game:1", 0));
  await fleet.run(30_000);
  const key = { cluster: "hub", namespace: "shop", name: "game" };
  await client.patch(CloneSet, key, { spec: game("game:2", 6).spec } as never, { type: "merge" });
  await fleet.run(30_000);
  await client.patch(
    Cluster,
    { cluster: "hub", name: "member2" },
    { metadata: { annotations: { "simulation.flotilla.dev/fault": "unreachable" } } },
    { type: "merge" },
  );
  await fleet.run(3_000);
  const { status } = await client.get(Cluster, { cluster: "hub", name: "member2" });
  expect(findCondition(status?.conditions, "Ready")?.status).toBe("True");
  expect(findCondition(status?.conditions, RESPONDING)?.status).toBe("False");

  const input = { manifests: [game("game:2", 3) as unknown as JsonObject], without: [], namespace: "shop" };
  const { changes } = await planInput(client, input, fleet.clock, new AbortController().signal);
  await client.patch(CloneSet, key, { spec: game("game:2", 3).spec } as never, { type: "merge" });
  await fleet.run(6_000);

  const partitions = MEMBERS.map(async (cluster) =>
    partitionOf((await client.get(CloneSet, { ...key, cluster })) as never),
  );
  expect(await Promise.all(partitions)).toEqual([0, 2, 1]);
  expect(
    changes.map(({ cluster, fields }) => [cluster, fields.map(({ path, before, after }) => [path, before, after])]),
  ).toEqual([
    ["member1", [["spec.updateStrategy.rollingUpdate.partition", 2, 0]]],
    ["member3", [["spec.updateStrategy.rollingUpdate.partition", 2, 1]]],
  ]);
});
