/**
 * Members with other versions of OpenKruise's kinds than the template, and SidecarSets that name their version: what is
 * delivered, and what is rejected.
 */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet, SidecarSet } from "@flotilla/openkruise";
import { ClusterPropagationPolicy, PropagationPolicy, Work } from "@flotilla/karmada";
import { CustomResourceDefinition, Namespace, Pod } from "@flotilla/kubernetes";
import { inVersion } from "@flotilla/apimachinery";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 60_000;
const web = { cluster: "hub", namespace: "shop", name: "web" };
let fleet: TestFleet;
afterEach(() => fleet.stop());

/** A fleet whose member1 serves only one version of CloneSet. */
async function start(served: string): Promise<void> {
  fleet = await startTestFleet({ members: ["member1"] });
  const definition = { cluster: "member1", name: "clonesets.apps.kruise.io" };
  const { spec } = await fleet.client.get(CustomResourceDefinition, definition);
  await fleet.client.patch(
    CustomResourceDefinition,
    definition,
    { spec: { versions: spec.versions.map((version) => ({ ...version, served: version.name === served })) as never } },
    { type: "merge" },
  );
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.run(SETTLED_MS);
}
const propagate = (version: string): Promise<unknown> =>
  fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects(`apps.kruise.io/${version}`, "CloneSet").duplicates("member1").build(),
  );
const applied = async (): Promise<unknown> =>
  (await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" })).items
    .find(({ metadata }) => metadata.name.startsWith("web-"))
    ?.status?.conditions?.find(({ type }) => type === "Applied");

describe("a CloneSet on a member that serves only one version", () => {
  test.each([
    { template: "v1beta1", served: "v1alpha1", want: { updateStrategy: { type: "InPlaceIfPossible", partition: 2 } } },
    {
      template: "v1alpha1",
      served: "v1beta1",
      want: { updateStrategy: { rollingUpdate: { podUpdatePolicy: "InPlaceIfPossible", partition: 2 } } },
    },
  ])(
    "is scheduled there and delivered as $served, if the policy selects $template",
    async ({ template, served, want }) => {
      await start(served);
      await propagate(template);
      await fleet.client.create(
        CloneSet,
        "hub",
        makeCloneSet("shop/web")
          .replicas(3)
          .with(
            ({ spec }) =>
              (spec.updateStrategy = {
                type: "RollingUpdate",
                rollingUpdate: { podUpdatePolicy: "InPlaceIfPossible", partition: 2 },
              }),
          )
          .build(),
      );
      await fleet.run(SETTLED_MS);

      expect(await fleet.client.get(inVersion(CloneSet, served), { ...web, cluster: "member1" })).toMatchObject({
        apiVersion: `apps.kruise.io/${served}`,
        spec: { replicas: 3, ...want },
      });
      expect(await applied()).toMatchObject({ status: "True" });
      fleet.resetWrites();
      await fleet.run(600_000);
      expect(fleet.writes()).toEqual([]);
    },
  );

  test("is rejected with the fields that this version lacks, and delivered when they are removed", async () => {
    await start("v1alpha1");
    await propagate("v1beta1");
    await fleet.client.create(
      CloneSet,
      "hub",
      makeCloneSet("shop/web")
        .with(({ spec }) => (spec.scaleStrategy = { excludePreparingDelete: true }))
        .build(),
    );
    await fleet.run(SETTLED_MS);

    expect(await applied()).toMatchObject({
      status: "False",
      reason: "AppliedFailed",
      message: expect.stringContaining("which lacks the fields spec.scaleStrategy.excludePreparingDelete"),
    });
    await fleet.client.patch(
      CloneSet,
      web,
      { spec: { scaleStrategy: { excludePreparingDelete: null } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
    expect(await applied()).toMatchObject({ status: "True" });
  });
});

test("a SidecarSet that requests its own version, as users write it, reaches the members' pods", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const everywhere = { clusterAffinity: { clusterNames: ["member1", "member2"] } };
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "sidecars" },
    spec: { resourceSelectors: [{ apiVersion: "apps.kruise.io/v1alpha1", kind: "SidecarSet" }], placement: everywhere },
  });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet").duplicates("member1", "member2").build(),
  );
  const set = {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "SidecarSet",
    metadata: { name: "logs" },
    spec: {
      selector: { matchLabels: { app: "web" } },
      containers: [{ name: "sidecar", image: "sidecar:v1.0.0", command: ["sleep", "3600"] }],
      injectionStrategy: { revision: { customVersion: "v1", policy: "Always" } },
    },
  };
  await fleet.client.create(inVersion(SidecarSet, "v1alpha1"), "hub", set);
  await fleet.run(SETTLED_MS);

  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").build());
  await fleet.run(SETTLED_MS);

  for (const cluster of ["member1", "member2"]) {
    expect(
      (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items.map(({ spec }) =>
        spec?.containers.map(({ name }) => name).sort(),
      ),
    ).toEqual([["sidecar", "web"]]);
  }
});
