/**
 * Two objects of one kind and name in different API groups need the same binding name: the first keeps it, the other
 * reports the conflict and waits.
 */
import { omitZero } from "@flotilla/base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
} from "@flotilla/karmada";
import { CustomResourceDefinition, Event, Namespace } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { PolicyStatus } from "@flotilla/karmada";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const GROUPS = ["first.example.dev", "second.example.dev"] as const;

let fleet: TestFleet;
beforeEach(async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
});
afterEach(() => fleet.stop());

const scopes: Record<string, { scope: "Namespaced" | "Cluster"; namespace?: string; bindings: Kind; policies: Kind }> =
  {
    "in a namespace": {
      scope: "Namespaced",
      namespace: "shop",
      bindings: ResourceBinding,
      policies: PropagationPolicy,
    },
    "in no namespace": { scope: "Cluster", bindings: ClusterResourceBinding, policies: ClusterPropagationPolicy },
  };
for (const [where, { scope, namespace, bindings, policies }] of Object.entries(scopes)) {
  describe(`two widgets of one name ${where}`, () => {
    const place = { cluster: "hub", ...omitZero({ namespace }) };
    const kindOf = (group: string) => dynamicKind({ group, version: "v1", kind: "Widget", plural: "widgets", scope });
    const policyFor = (group: string) => {
      const policy = makePolicy(`shop/${group}`).selects(`${group}/v1`, "Widget").duplicates("member1").build();
      return namespace ? policy : { ...policy, kind: "ClusterPropagationPolicy", metadata: { name: group } };
    };
    const create = async (group: string): Promise<void> => {
      await fleet.client.create(kindOf(group), "hub", {
        apiVersion: `${group}/v1`,
        kind: "Widget",
        metadata: { name: "web", ...omitZero({ namespace }) },
        spec: { of: group },
      });
      await fleet.run(SETTLED_MS);
    };
    const owner = async () =>
      ((await fleet.client.get(bindings, { ...place, name: "web-widget" })) as ResourceBinding).spec.resource
        .apiVersion;
    const problemsOf = async (group: string) =>
      ((await fleet.client.get(policies, { ...place, name: group })) as { status?: PolicyStatus }).status?.problems ??
      [];
    const onMember = async (group: string) =>
      (await fleet.client.list(kindOf(group), { cluster: "member1" })).items.map(({ metadata }) => metadata.name);
    const reported = async () => {
      const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: namespace ?? "default" });
      return items
        .filter(({ involvedObject }) => involvedObject.kind === "Widget")
        .map(({ involvedObject, reason, count }) => `${involvedObject.apiVersion} ${reason} ${count}`);
    };

    beforeEach(async () => {
      for (const group of GROUPS) {
        const definition = {
          apiVersion: "apiextensions.k8s.io/v1",
          kind: "CustomResourceDefinition",
          metadata: { name: `widgets.${group}` },
          spec: {
            group,
            scope,
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
        } as unknown as CustomResourceDefinition;
        for (const cluster of ["hub", "member1"])
          await fleet.client.create(CustomResourceDefinition, cluster, definition);
        await fleet.client.create(policies, "hub", policyFor(group));
      }
      await fleet.run(SETTLED_MS);
      for (const group of GROUPS) await create(group);
    });

    test("the first keeps the binding; the conflict is reported once, on the second and on its policy", async () => {
      expect(await owner()).toBe("first.example.dev/v1");
      expect(await onMember("first.example.dev")).toEqual(["web"]);
      expect(await onMember("second.example.dev")).toEqual([]);
      expect(await problemsOf("first.example.dev")).toEqual([]);
      expect(await problemsOf("second.example.dev")).toMatchObject([
        {
          kind: "Widget",
          name: "web",
          reason: "BindingNameTaken",
          message:
            "binding web-widget belongs to Widget web of first.example.dev/v1, because binding names do not " +
            "contain the API group; rename one of the two objects",
        },
      ]);

      await fleet.client.patch(
        kindOf("second.example.dev"),
        { ...place, name: "web" },
        { spec: { of: "missing" } },
        { type: "merge" },
      );
      await fleet.run(SETTLED_MS);

      expect(await owner()).toBe("first.example.dev/v1");
      expect(await reported()).toEqual(["second.example.dev/v1 ApplyPolicyFailed 1"]);
    });

    test("the second gets the binding when the first is deleted, and nothing of the first is left", async () => {
      await fleet.client.delete(
        kindOf("first.example.dev"),
        { ...place, name: "web" },
        { propagationPolicy: "Background" },
      );
      await fleet.run(SETTLED_MS);

      expect(await owner()).toBe("second.example.dev/v1");
      expect(await onMember("first.example.dev")).toEqual([]);
      expect(await onMember("second.example.dev")).toEqual(["web"]);
      expect(await problemsOf("second.example.dev")).toEqual([]);
      expect(await reported()).toEqual([
        "second.example.dev/v1 ApplyPolicyFailed 1",
        "second.example.dev/v1 ApplyPolicySucceed 1",
      ]);
    });

    test("the second does not adopt preserved workloads of the first", async () => {
      await fleet.client.delete(
        kindOf("first.example.dev"),
        { ...place, name: "web" },
        { propagationPolicy: "Orphan" },
      );
      await fleet.run(SETTLED_MS);
      expect(await owner()).toBe("first.example.dev/v1");
      expect(await onMember("first.example.dev")).toEqual(["web"]);

      await fleet.client.delete(bindings, { ...place, name: "web-widget" });
      await fleet.run(SETTLED_MS);

      expect(await owner()).toBe("second.example.dev/v1");
      expect(await onMember("second.example.dev")).toEqual(["web"]);
    });

    test("a second that is deleted before the first leaves no problem behind", async () => {
      await fleet.client.delete(kindOf("second.example.dev"), { ...place, name: "web" });
      await fleet.run(SETTLED_MS);
      expect(await problemsOf("second.example.dev")).toEqual([]);

      await fleet.client.delete(
        kindOf("first.example.dev"),
        { ...place, name: "web" },
        { propagationPolicy: "Background" },
      );
      await fleet.run(SETTLED_MS);

      expect((await fleet.client.list(bindings, { cluster: "hub" })).items).toEqual([]);
    });
  });
}
