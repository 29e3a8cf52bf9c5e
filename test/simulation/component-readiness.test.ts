/** Components on a hub whose controllers are processes of their own. */
import { expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { formatMicroTime, silentLog } from "@flotilla/base";
import { CONTROLLER_GROUPS, controllersLease } from "@flotilla/flotilla";
import { Deployment, Lease, Pod } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { createComponentReadiness } from "../../packages/server/src/roles/component-readiness.ts";
import { CONTROLLERS_LEASE_KEY, renewUnelected } from "../../packages/server/src/roles/controllers-lease.ts";

const NAMESPACE = "karmada-system";

async function readyOf({ client }: TestFleet, namespace = NAMESPACE): Promise<string[]> {
  const { items } = await client.list(Deployment, { cluster: HUB, namespace });
  return items.filter(({ status }) => status?.readyReplicas === 1).map(({ metadata }) => metadata.name);
}

test("components of controllers are ready exactly while a process renews their Leases", async () => {
  const fleet = await startTestFleet({ members: [] });
  const { client, clock } = fleet;
  const [processEnds, stopping] = [new AbortController(), new AbortController()];
  const readiness = createComponentReadiness({ client, clock, log: silentLog });
  await client.create(Lease, HUB, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: NAMESPACE, name: CONTROLLERS_LEASE_KEY.name },
  });

  void readiness.start?.(stopping.signal);
  await fleet.run(3_000);
  expect(await readyOf(fleet)).toEqual(["karmada-aggregated-apiserver", "karmada-webhook"]);
  expect(await readyOf(fleet, "open-cluster-management-hub")).toEqual([]);

  const renewing = Promise.all(
    CONTROLLER_GROUPS.map((group) => {
      const lease = { ...CONTROLLERS_LEASE_KEY, name: controllersLease(group) };
      return renewUnelected({ client, clock, log: silentLog, identity: "a", lease }, processEnds.signal);
    }),
  );
  await fleet.run(20_000);
  expect(await readyOf(fleet)).toHaveLength(4);
  expect(await readyOf(fleet, "open-cluster-management-hub")).toHaveLength(4);

  processEnds.abort();
  await renewing;
  await fleet.run(14_000);
  expect(await readyOf(fleet)).toEqual(["karmada-aggregated-apiserver", "karmada-webhook"]);
  const pods = (await client.list(Pod, { cluster: HUB, namespace: NAMESPACE })).items;
  const scheduler = pods.find(({ metadata }) => metadata.labels?.["app"] === "karmada-scheduler");
  expect(scheduler?.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
    status: "False",
    reason: "ControllersNotRunning",
  });

  await readiness.stop?.();
  await fleet.stop();
});

test("a Lease that was renewed just before the API server started counts", async () => {
  const fleet = await startTestFleet({ members: [] });
  const { client, clock } = fleet;
  const readiness = createComponentReadiness({ client, clock, log: silentLog });
  for (const group of CONTROLLER_GROUPS)
    await client.create(Lease, HUB, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: NAMESPACE, name: controllersLease(group) },
      spec: { holderIdentity: "a", renewTime: formatMicroTime(clock.now()) },
    });

  void readiness.start?.(new AbortController().signal);
  await fleet.run(1_000);

  expect(await readyOf(fleet)).toHaveLength(4);
  await readiness.stop?.();
  await fleet.stop();
});
