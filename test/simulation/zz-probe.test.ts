import { afterEach, expect, test } from "vitest";
import { CloneSet, Deployment, Namespace, PropagationPolicy } from "../../src/api/index.ts";
import { copy } from "../../src/base/index.ts";
import { startTestFleet } from "../../src/testing/fleet/index.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "../../src/testing/index.ts";
for (const [name, kind, make] of [["d", Deployment, makeDeployment], ["c", CloneSet, makeCloneSet]] as const) test("probe " + name, async () => {
  const fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 3 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all").selects("apps/v1", "Deployment").selects("apps.kruise.io/v1beta1", "CloneSet").weights({ member1: 2, member2: 1 });
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  await fleet.run(60000);
  await fleet.client.create(kind as never, "hub", make("shop/web").replicas(6).build() as never);
  await fleet.run(20000);
  for (const replicas of [12, 9]) {
  fleet.resetWrites();
  const now = await fleet.client.get(kind as never, { cluster: "hub", namespace: "shop", name: "web" }) as any;
  await fleet.client.update(kind as never, "hub", { ...copy(now), spec: { ...now.spec, replicas } } as never);
  await fleet.run(20000);
  console.log(replicas, fleet.writes().filter(w => w.part !== "member").map(({ part, cluster, verb, resource, subresource, count }) => `${count} × ${part} ${verb} ${resource}${subresource && `/${subresource}`} on ${cluster}`).join("\n"));
  }
  await fleet.stop();
});
