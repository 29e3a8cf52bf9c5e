/** A Job that a member has already is taken over, although each member generates its selector and labels. */
import { afterEach, expect, test } from "vitest";
import { findCondition } from "@flotilla/apimachinery";
import { PropagationPolicy, Work } from "@flotilla/karmada";
import { Job, Namespace } from "@flotilla/kubernetes";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

const job = (): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { namespace: "jo", name: "once" },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "once", image: "busybox" }] } } },
});

test("an Overwrite policy takes a Job over, and keeps its selector and labels", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "jo" } });
  await fleet.run(5_000);
  await client.create(Job, "member2", job());
  await fleet.run(5_000);
  const before = await client.get(Job, { cluster: "member2", namespace: "jo", name: "once" });
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("jo/p")
      .selects("batch/v1", "Job")
      .duplicates("member2")
      .with(({ spec }) => (spec.conflictResolution = "Overwrite"))
      .build(),
  );
  await client.create(Job, "hub", job());
  await fleet.run(30_000);

  const after = await client.get(Job, { cluster: "member2", namespace: "jo", name: "once" });
  const { items } = await client.list(Work, { cluster: "hub", namespace: "karmada-es-member2" });
  expect(items.map(({ status }) => findCondition(status?.conditions, "Applied")?.status)).toEqual(["True", "True"]);
  expect(after.metadata.labels).toMatchObject({ "karmada.io/managed": "true" });
  expect([after.metadata.uid, after.spec?.selector, after.spec?.template.metadata]).toEqual([
    before.metadata.uid,
    before.spec?.selector,
    before.spec?.template.metadata,
  ]);
});
