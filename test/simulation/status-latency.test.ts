/** How long the hub takes to show a status of a member, on a virtual clock: only what it waits for is counted. */
import { expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { PropagationPolicy } from "@flotilla/karmada";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";

const web = { namespace: "default", name: "web" };
/** Two writers, of the Work and of the template, gather 20 ms each. */
const TWO_PAUSES_MS = 40;
const healthy = (availableReplicas: number) => ({
  observedGeneration: 1,
  replicas: 2,
  updatedReplicas: 2,
  readyReplicas: 2,
  updatedReadyReplicas: 2,
  availableReplicas,
});

test.each([
  { what: "of a healthy workload", status: healthy(7), shown: { availableReplicas: 7 } },
  { what: "of a workload in progress", status: { ...healthy(7), updatedReplicas: 1 }, shown: { updatedReplicas: 1 } },
])("a change of status $what waits for two short pauses", async ({ status, shown }) => {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1"] }));
  const policy = makePolicy("default/all")
    .selects("apps.kruise.io/v1alpha1", "CloneSet")
    .weights({ member1: 1 })
    .build();
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(CloneSet, "hub", makeCloneSet("default/web").replicas(2).build());
  await fleet.run(10_000);
  const report = (reported: object): Promise<unknown> =>
    fleet.client.patch(CloneSet, { cluster: "member1", ...web }, { status: reported } as never, {
      type: "merge",
      subresource: "status",
    });
  await report(healthy(2));
  await fleet.run(10_000);

  await report(status);
  await fleet.run(TWO_PAUSES_MS + 2);

  expect((await fleet.client.get(CloneSet, { cluster: "hub", ...web })).status).toMatchObject(shown);
});
