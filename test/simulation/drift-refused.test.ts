/** Rejections by members: they are reported verbatim, retried with backoff, and immediately when the cause is fixed. */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ConfigMap, CustomResourceDefinition, Namespace, ResourceQuota } from "@flotilla/kubernetes";
import { dynamicKind, inVersion } from "@flotilla/apimachinery";
import { PropagationPolicy, Work } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 10_000;
const HOUR_MS = 3_600_000;
const web = { namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(kruise: "installed" | "none", apiVersion: string, kind: string): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], kruise });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects(apiVersion, kind).duplicates("member1", "member2").build(),
  );
  await fleet.run(SETTLED_MS);
}
const definition = (
  cluster: string,
  group: string,
  kind: string,
  plural: string,
  ...versions: string[]
): Promise<unknown> =>
  fleet.client.create(CustomResourceDefinition, cluster, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      })),
    },
  });
async function appliedOf(
  cluster: string,
  name: string,
): Promise<DeepReadonly<{ status: string; reason?: string; message?: string }> | undefined> {
  const { items } = await fleet.client.list(Work, { cluster: "hub", namespace: `karmada-es-${cluster}` });
  return items
    .find(({ metadata }) => metadata.name.startsWith(`${name}-`))
    ?.status?.conditions?.find(({ type }) => type === "Applied");
}
const attempts = (cluster: string): number =>
  fleet
    .writes()
    .filter((write) => write.part === "execute" && write.cluster === cluster)
    .reduce((sum, { count }) => sum + count, 0);

/** A Work as dispatch would create it, for a member that the scheduler would not have chosen, or that changed since. */
const work = (cluster: string, manifest: KubernetesObject): Promise<unknown> =>
  fleet.client.create(Work, "hub", {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { namespace: `karmada-es-${cluster}`, name: "web-by-hand" },
    spec: { workload: { manifests: [manifest as unknown as JsonObject] } },
  });

describe("a kind that the member does not serve", () => {
  const Widget = dynamicKind({
    group: "example.dev",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    scope: "Namespaced",
  });

  test("is reported on the Work, and delivered as soon as it is served", async () => {
    await start("none", "v1", "ConfigMap");
    await definition("member2", "example.dev", "Widget", "widgets", "v1");
    await fleet.run(SETTLED_MS);
    for (const cluster of ["member1", "member2"])
      await work(cluster, { apiVersion: "example.dev/v1", kind: "Widget", metadata: web });
    await fleet.run(HOUR_MS);

    expect(await appliedOf("member1", "web")).toMatchObject({
      status: "False",
      reason: "KindNotServed",
      message: expect.stringContaining("member1 does not serve Widget in example.dev/v1"),
    });
    expect(await appliedOf("member2", "web")).toMatchObject({ status: "True" });

    await definition("member1", "example.dev", "Widget", "widgets", "v1");
    await fleet.run(1_000);
    expect(await find(fleet.client, Widget, { cluster: "member1", ...web })).toBeDefined();
  });

  test("a kind that the member does not serve in this version is delivered in another served version, and watched there", async () => {
    await start("none", "v1", "ConfigMap");
    await definition("member1", "apps.kruise.io", "CloneSet", "clonesets", "v1alpha1");
    await fleet.run(SETTLED_MS);

    await work(
      "member1",
      makeCloneSet("shop/web")
        .replicas(2)
        .with(({ spec }) => (spec.updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } }))
        .build(),
    );
    await fleet.run(SETTLED_MS);
    const v1alpha1 = inVersion(CloneSet, "v1alpha1");
    const key = { cluster: "member1", ...web };
    expect(await find(fleet.client, v1alpha1, key)).toMatchObject({
      apiVersion: "apps.kruise.io/v1alpha1",
      spec: { replicas: 2, updateStrategy: { partition: 1 } },
    });
    expect(await appliedOf("member1", "web")).toMatchObject({ status: "True" });
    fleet.resetWrites();
    await fleet.run(HOUR_MS);
    expect(attempts("member1")).toBe(0);

    await fleet.client.patch(v1alpha1, key, { spec: { replicas: 9 } }, { type: "merge" });
    await fleet.run(SETTLED_MS);
    expect(await fleet.client.get(v1alpha1, key)).toMatchObject({ spec: { replicas: 2 } });

    await fleet.client.delete(Work, { cluster: "hub", namespace: "karmada-es-member1", name: "web-by-hand" });
    await fleet.run(SETTLED_MS);
    expect(await find(fleet.client, v1alpha1, key)).toBeUndefined();
  });
});

test("a rejection is reported verbatim, retried with backoff, and retried at once when the Work changes", async () => {
  await start("none", "v1", "ConfigMap");
  const quota: ResourceQuota = {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { namespace: "shop", name: "tight" },
    spec: { hard: { configmaps: "0" } },
  };
  await fleet.client.create(ResourceQuota, "member1", quota);
  await fleet.run(SETTLED_MS);
  fleet.resetWrites();

  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: web,
    data: { colour: "blue" },
  });
  await fleet.run(HOUR_MS);
  expect(await appliedOf("member1", "web")).toMatchObject({
    status: "False",
    reason: "AppliedFailed",
    message: expect.stringContaining("exceeded quota: tight"),
  });
  expect(attempts("member1")).toBeLessThan(25);

  await fleet.client.delete(ResourceQuota, { cluster: "member1", namespace: "shop", name: "tight" });
  await fleet.client.patch(ConfigMap, { cluster: "hub", ...web }, { data: { colour: "red" } }, { type: "merge" });
  await fleet.run(1_000);
  expect((await find(fleet.client, ConfigMap, { cluster: "member1", ...web }))?.data).toEqual({ colour: "red" });
});
