/** AdvancedCronJobs across a fleet: members run the schedule, and the hub shows the runs of all of them. */
import { expect, test } from "vitest";
import { PropagationPolicy } from "@flotilla/karmada";
import { Job, Namespace } from "@flotilla/kubernetes";
import { AdvancedCronJob } from "@flotilla/openkruise";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const MINUTE_MS = 60_000;
const MEMBERS = ["member1", "member2"];
const report = { cluster: "hub", namespace: "shop", name: "report" };

async function start(spec: Partial<AdvancedCronJob["spec"]>): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 1 }));
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "AdvancedCronJob").build(),
  );
  await fleet.client.create(AdvancedCronJob, "hub", {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "AdvancedCronJob",
    metadata: { name: "report", namespace: "shop" },
    spec: { schedule: "*/10 * * * *", template: {}, ...spec },
  });
  return fleet;
}

const jobs = (annotations: Record<string, string>): AdvancedCronJob["spec"]["template"] => ({
  jobTemplate: {
    spec: {
      template: {
        metadata: { annotations },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "report:1" }] },
      },
    },
  },
});

const jobsOn = async (fleet: TestFleet, cluster: string): Promise<number> =>
  (await fleet.client.list(Job, { cluster, namespace: "shop" })).items.length;

test("every member runs the schedule, and the hub lists the active runs of all", async () => {
  const fleet = await start({ template: jobs({ "sim/run": "forever" }) });

  await fleet.run(12 * MINUTE_MS);

  expect(await Promise.all(["hub", ...MEMBERS].map((cluster) => jobsOn(fleet, cluster)))).toEqual([0, 1, 1]);
  const { status } = await fleet.client.get(AdvancedCronJob, report);
  expect(status).toMatchObject({ type: "Job", lastScheduleTime: "2024-05-01T12:10:00Z" });
  expect(status?.active).toHaveLength(2);
});

test("pausing it on the hub pauses it on every member", async () => {
  const fleet = await start({ template: jobs({}) });
  await fleet.run(12 * MINUTE_MS);

  await fleet.client.patch(AdvancedCronJob, report, { spec: { paused: true } }, { type: "merge" });
  await fleet.run(30 * MINUTE_MS);

  expect(await Promise.all(MEMBERS.map((cluster) => jobsOn(fleet, cluster)))).toEqual([1, 1]);
});
