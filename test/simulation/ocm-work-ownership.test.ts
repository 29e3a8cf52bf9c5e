/**
 * An object has one owner: a Karmada Work and a ManifestWork with the same object, in both orders. And members do not
 * delay each other.
 */
import { expect, test } from "vitest";
import { Cluster, PropagationPolicy, Work } from "@flotilla/karmada";
import { ConfigMap, Namespace } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { find, UnreachableError } from "@flotilla/client";
import { findCondition, HUB } from "@flotilla/apimachinery";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { createLastingEngine } from "@flotilla/testing/fleet/fleet.ts";
import { configMap, MEMBER, startWorkFleet, type WorkFleet } from "./ocm-work-fleet.ts";

async function propagate({ fleet }: WorkFleet, data: Record<string, string>): Promise<void> {
  await fleet.client.create(
    PropagationPolicy,
    HUB,
    makePolicy("default/all").selects("v1", "ConfigMap", "settings").build(),
  );
  await fleet.client.create(ConfigMap, HUB, configMap("settings", data) as never);
  await fleet.run(5_000);
}
const workApplied = async ({ fleet }: WorkFleet): Promise<string> => {
  const { items } = await fleet.client.list(Work, { cluster: HUB, namespace: `karmada-es-${MEMBER}` });
  const condition = findCondition(
    items.find(({ metadata }) => metadata.name.includes("settings"))?.status?.conditions,
    "Applied",
  );
  return `${condition?.status} ${condition?.message}`;
};

test("an object of a Work is not taken over by a ManifestWork, which reports it, and gets it when the Work releases it", async () => {
  const works = await startWorkFleet();
  await propagate(works, { from: "karmada" });
  await works.create("settings", [configMap("settings", { from: "ocm" })]);

  expect((await works.onMember(ConfigMap, "settings"))?.data).toEqual({ from: "karmada" });
  expect(await works.manifestCondition("settings", 0, "Applied")).toMatch(
    /^False AppliedManifestConflict Failed to apply manifest: ConfigMap default\/settings is delivered by the Karmada Work karmada-es-member1\/.*, and an object has one owner/,
  );
  expect(await workApplied(works)).toMatch(/^True/);

  await works.fleet.client.delete(PropagationPolicy, { cluster: HUB, namespace: "default", name: "all" });
  await works.fleet.client.delete(ConfigMap, { cluster: HUB, namespace: "default", name: "settings" });
  await works.fleet.run(5_000);

  expect((await works.onMember(ConfigMap, "settings"))?.data).toEqual({ from: "ocm" });
  expect(await works.condition("settings", "Applied")).toBe("True AppliedManifestWorkComplete");
});

test("an object of a ManifestWork is not taken over by a Work, even with Overwrite, and stays when the Work is deleted", async () => {
  const works = await startWorkFleet();
  await works.create("settings", [configMap("settings", { from: "ocm" })]);
  const { fleet } = works;
  await fleet.client.create(
    PropagationPolicy,
    HUB,
    makePolicy("default/all")
      .selects("v1", "ConfigMap", "settings")
      .with(({ spec }) => (spec.conflictResolution = "Overwrite"))
      .build(),
  );
  await fleet.client.create(ConfigMap, HUB, configMap("settings", { from: "karmada" }) as never);
  await fleet.run(5_000);

  expect((await works.onMember(ConfigMap, "settings"))?.data).toEqual({ from: "ocm" });
  expect(await workApplied(works)).toMatch(/^False .*belongs to a ManifestWork, and an object has one owner/);
  expect(await works.condition("settings", "Applied")).toBe("True AppliedManifestWorkComplete");

  await fleet.client.delete(ConfigMap, { cluster: HUB, namespace: "default", name: "settings" });
  await fleet.run(5_000);
  expect((await works.onMember(ConfigMap, "settings"))?.data).toEqual({ from: "ocm" });
});

test("a namespace created for a Work is usable by a ManifestWork, and stays when that is deleted", async () => {
  const works = await startWorkFleet();
  await works.fleet.client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await works.fleet.run(2_000);
  await works.create("shop", [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }]);
  expect(await works.condition("shop", "Applied")).toBe("True AppliedManifestWorkComplete");

  await works.remove("shop");

  expect(await works.onMember(Namespace, "shop")).toBeDefined();
});

test("a restarted fleet writes nothing for converged works", async () => {
  const engine = createLastingEngine();
  const before = await startWorkFleet({ engine });
  await before.create("settings", [configMap("settings")]);
  await before.fleet.stop();

  const after = await startWorkFleet({ engine });
  await after.fleet.run(60_000);

  expect(
    after.fleet
      .writes()
      .filter(({ resource }) => resource === "configmaps" || resource.endsWith("work.open-cluster-management.io")),
  ).toEqual([]);
  expect(await after.condition("settings", "Applied")).toBe("True AppliedManifestWorkComplete");
});

test("an unreachable member delays only its own works", async () => {
  let isAway = false;
  const works = await startWorkFleet({
    members: [MEMBER, "member2"],
    wrap: (transport, part) => ({
      ...transport,
      async send(request, signal) {
        if (isAway && (part === "execute" || part === "work") && request.path.cluster === MEMBER)
          throw new UnreachableError("no route to member1");
        return transport.send(request, signal);
      },
    }),
  });
  isAway = true;
  await works.create("here", [configMap("settings")]);
  await works.create("there", [configMap("settings")], {}, { namespace: "member2" });
  expect(await works.condition("there", "Applied", "member2")).toBe("True AppliedManifestWorkComplete");
  expect(await works.condition("here", "Applied")).not.toMatch(/^True/);

  isAway = false;
  await works.fleet.run(120_000);

  expect(await works.condition("here", "Applied")).toBe("True AppliedManifestWorkComplete");
});

test("a work of an unreachable member is not deleted before its objects are", async () => {
  let isAway = false;
  const works = await startWorkFleet({
    wrap: (transport, part) => ({
      ...transport,
      async send(request, signal) {
        if (isAway && (part === "execute" || part === "work") && request.path.cluster === MEMBER)
          throw new UnreachableError("no route to member1");
        return transport.send(request, signal);
      },
    }),
  });
  await works.create("settings", [configMap("settings")]);
  isAway = true;

  await works.remove("settings");
  expect(await works.condition("settings", "Deleting")).toBe("True WorkDeleting");

  isAway = false;
  await works.fleet.run(120_000);
  expect((await works.fleet.client.list(ManifestWork, { cluster: HUB })).items).toEqual([]);
  expect(await works.onMember(ConfigMap, "settings")).toBeUndefined();
});

test("a leaving member keeps the objects of works, without the AppliedManifestWorks of this hub", async () => {
  const works = await startWorkFleet();
  await works.create("settings", [configMap("settings")]);

  await works.fleet.client.delete(Cluster, { cluster: HUB, name: MEMBER });
  await works.fleet.run(120_000);

  expect(await find(works.fleet.client, Cluster, { cluster: HUB, name: MEMBER })).toBeUndefined();
  expect((await works.onMember(ConfigMap, "settings"))?.metadata.ownerReferences ?? []).toEqual([]);
  expect((await works.fleet.client.list(ManifestWork, { cluster: HUB })).items).toEqual([]);
});
