/**
 * The contract of every `Delivery` for containers of other objects: removing a namespace or a CRD must not delete
 * objects that were not delivered.
 */
import { describe, expect, test } from "vitest";
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, Secret } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { find } from "@flotilla/client";
import { marks } from "@flotilla/flotilla";
import type { ApplyPolicy } from "@flotilla/flotilla";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import type { OpenDelivery } from "./delivery.ts";

const OWNER = "karmada-es-paris/work";
const policy: ApplyPolicy = {
  mode: "apply",
  force: true,
  fieldManager: "flotilla",
  ownership: marks({ owner: OWNER }),
};
const { signal } = new AbortController();
const owned = { "work.karmada.io/namespace": "karmada-es-paris", "work.karmada.io/name": "work" };

export function describeHoldings(get: () => OpenDelivery): void {
  describe("objects that contain others", () => {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", annotations: owned } };
    const widgets = dynamicKind({
      group: "example.dev",
      version: "v1",
      kind: "Widget",
      plural: "widgets",
      scope: "Namespaced",
    });
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.dev", annotations: owned },
      spec: {
        group: "example.dev",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
      },
    };
    async function apply(manifest: KubernetesObject): Promise<void> {
      await get().delivery.apply(manifest, policy, signal);
      await get().settle();
    }
    async function remove(
      { apiVersion, kind, metadata: { name } }: KubernetesObject,
      then: "release" | "leave",
    ): Promise<string[]> {
      const found: string[] = [];
      await get().delivery.remove(
        { apiVersion, kind, name },
        { mode: "delete", ownership: marks({ owner: OWNER }), whenHolding: (held) => (found.push(held), then) },
        signal,
      );
      await get().settle();
      return found;
    }
    const isGone = async (): Promise<boolean> => {
      const left = await find(get().member, Namespace, { cluster: get().cluster, name: "shop" });
      return !left || left.metadata.deletionTimestamp !== undefined;
    };

    test("a namespace with only default objects and their dependents is deleted", async () => {
      const { member, cluster } = get();
      await apply(namespace);
      const settings = await member.create(ConfigMap, cluster, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "shop", name: "going", finalizers: ["example.dev/slow"] },
      });
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "going", uid: settings.metadata.uid ?? "" };
      await member.create(Secret, cluster, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace: "shop", name: "made-by-it", ownerReferences: [owner] },
      });
      await member.delete(ConfigMap, { cluster, namespace: "shop", name: "going" });

      expect(await remove(namespace, "release")).toEqual([]);
      expect(await isGone()).toBe(true);
    });

    test("a namespace with other objects is released, and may be adopted again", async () => {
      const { member, cluster } = get();
      await apply(namespace);
      await member.create(Deployment, cluster, makeDeployment("shop/web").build());

      expect(await remove(namespace, "release")).toEqual(["Deployment web"]);
      expect(await isGone()).toBe(false);
      const { labels = {}, annotations } = (await member.get(Namespace, { cluster, name: "shop" })).metadata;
      expect(labels).not.toHaveProperty("karmada.io/managed");
      expect(annotations).toMatchObject({ "flotilla.dev/released-from": OWNER });
      await apply(namespace);
      expect((await member.get(Namespace, { cluster, name: "shop" })).metadata.labels).toMatchObject({
        "karmada.io/managed": "true",
      });
    });

    test("a namespace whose removal is postponed is not written", async () => {
      const { member, cluster, writes } = get();
      await apply(namespace);
      await member.create(Deployment, cluster, makeDeployment("shop/web").build());
      const before = writes();

      expect(await remove(namespace, "leave")).toEqual(["Deployment web"]);
      expect(writes()).toBe(before);
    });

    test("a CRD with remaining objects is released", async () => {
      const { member, cluster } = get();
      await apply(definition);
      await member.create(widgets, cluster, {
        apiVersion: "example.dev/v1",
        kind: "Widget",
        metadata: { namespace: "default", name: "web" },
      });

      expect(await remove(definition, "release")).toEqual(["Widget default/web"]);
      expect(await find(member, widgets, { cluster, namespace: "default", name: "web" })).toBeDefined();
    });

    test("a CRD without objects is deleted", async () => {
      await apply(definition);

      expect(await remove(definition, "release")).toEqual([]);
      const left = await find(get().member, CustomResourceDefinition, {
        cluster: get().cluster,
        name: "widgets.example.dev",
      });
      expect(!left || left.metadata.deletionTimestamp !== undefined).toBe(true);
    });
  });
}
