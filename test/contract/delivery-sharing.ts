/** The contract of every `Delivery` for objects shared by several owners, as in Open Cluster Management. */
import { beforeEach, describe, expect, test } from "vitest";
import { AppliedManifestWork } from "@flotilla/ocm";
import { Deployment } from "@flotilla/kubernetes";
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import { marks, references } from "@flotilla/flotilla";
import type { ApplyOutcome, ApplyPolicy } from "@flotilla/flotilla";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import type { OpenDelivery } from "./delivery.ts";

const { signal } = new AbortController();
const marked: ApplyPolicy = { mode: "apply", force: true, fieldManager: "flotilla" };
const web0 = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" };
const web = (change: (deployment: Deployment) => void = () => {}): Deployment =>
  makeDeployment("default/web").replicas(3).with(change).build();

export function describeSharing(opened: () => OpenDelivery): void {
  describe("an object shared by several owners", () => {
    let member: OpenDelivery;
    let key: { cluster: string; namespace: string; name: string };
    beforeEach(() => {
      member = opened();
      key = { cluster: member.cluster, namespace: "default", name: "web" };
    });
    const stored = (): Promise<DeepReadonly<Deployment> | undefined> => find(member.member, Deployment, key);
    const apply = async (manifest: KubernetesObject, changes: Partial<ApplyPolicy>): Promise<ApplyOutcome> => {
      const outcome = await member.delivery.apply(manifest, { ...marked, ...changes }, signal);
      await member.settle();
      return outcome;
    };
    const uids = new Map<string, string>();
    const holder = (name: string): OwnerReference => ({
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "AppliedManifestWork",
      name,
      uid: uids.get(name) ?? "",
    });
    const held = (name: string, changes: Partial<ApplyPolicy> = {}): Partial<ApplyPolicy> => ({
      mode: "update",
      fieldManager: "work-agent",
      ownership: references({ reference: holder(name), isHeld: true, isDelivered: false }),
      ...changes,
    });
    const holders = async (): Promise<string[]> =>
      ((await stored())?.metadata.ownerReferences ?? []).map(({ name: each }) => each);
    const letGo = async (name: string, mode: "delete" | "release" = "delete"): Promise<string> => {
      const { uid = "" } = (await stored())?.metadata ?? {};
      return member.delivery.disown(
        { group: "apps", version: "v1", resource: "deployments", namespace: "default", name: "web", uid },
        { reference: holder(name), mode },
        signal,
      );
    };
    // A garbage collector deletes objects whose owners do not exist.
    beforeEach(async () => {
      for (const holding of ["a", "b"]) {
        const { metadata } = await member.member.create(AppliedManifestWork, member.cluster, {
          apiVersion: "work.open-cluster-management.io/v1",
          kind: "AppliedManifestWork",
          metadata: { name: holding },
          spec: { hubHash: "h", agentID: "h", manifestWorkName: holding },
        });
        uids.set(holding, metadata.uid ?? "");
      }
    });

    test("has owner references instead of our label, and is written once", async () => {
      expect((await apply(web(), held("a"))).result).toBe("created");
      expect((await apply(web(), held("b"))).result).toBe("updated");
      const before = member.writes();
      expect((await apply(web(), held("a"))).result).toBe("unchanged");

      expect(await holders()).toEqual(["a", "b"]);
      expect((await stored())?.metadata.labels ?? {}).not.toHaveProperty("karmada.io/managed");
      expect(member.writes()).toBe(before);
    });

    test("is taken over if it existed before, and keeps its other owners", async () => {
      await member.member.create(
        Deployment,
        member.cluster,
        web(({ spec }) => (spec.replicas = 9)),
      );
      await member.settle();

      expect((await apply(web(), held("a"))).result).toBe("updated");

      expect((await stored())?.spec.replicas).toBe(3);
      expect(await holders()).toEqual(["a"]);
    });

    test("loses the owner reference of an owner that applies but does not own it", async () => {
      await apply(web(), held("a"));
      await apply(
        web(),
        held("a", { ownership: references({ reference: holder("a"), isHeld: false, isDelivered: true }) }),
      );

      expect(await holders()).toEqual([]);
      expect(await letGo("a")).toBe("gone");
      expect(await stored()).toBeDefined();
    });

    test("is deleted with its last owner", async () => {
      await apply(web(), held("a"));
      await apply(web(), held("b"));

      expect(await letGo("a")).toBe("gone");
      expect(await holders()).toEqual(["b"]);
      expect(await letGo("a")).toBe("gone");
      expect(await stored()).toBeDefined();
      expect(await letGo("b")).toBe("gone");
      expect(await stored()).toBeUndefined();
      expect(await letGo("b")).toBe("gone");
    });

    test("stays if its owner releases it, and if its uid is not the recorded one", async () => {
      await apply(web(), held("a"));
      expect(
        await member.delivery.disown(
          { group: "apps", version: "v1", resource: "deployments", namespace: "default", name: "web", uid: "another" },
          { reference: holder("a"), mode: "delete" },
          signal,
        ),
      ).toBe("gone");
      expect(await holders()).toEqual(["a"]);

      expect(await letGo("a", "release")).toBe("gone");

      expect(await holders()).toEqual([]);
    });

    test("is left as another owner wrote it if it was delivered before", async () => {
      await apply(web(), held("a"));
      await apply(
        web(({ spec }) => (spec.replicas = 5)),
        held("b"),
      );

      const outcome = await apply(
        web(),
        held("a", { ownership: references({ reference: holder("a"), isHeld: true, isDelivered: true }) }),
      );

      expect(outcome).toMatchObject({ result: "conflict", message: expect.stringContaining("also held by b") });
      expect((await stored())?.spec.replicas).toBe(5);
    });

    test("conflicts with an object delivered for a Karmada Work, in both directions", async () => {
      const delivered = web(
        ({ metadata }) =>
          (metadata.annotations = { "work.karmada.io/namespace": "works", "work.karmada.io/name": "web" }),
      );
      await apply(delivered, { ownership: marks({ owner: "works/web" }) });
      expect(await apply(web(), held("a"))).toMatchObject({
        result: "conflict",
        message: expect.stringContaining("Karmada Work works/web"),
      });
      await member.delivery.remove(web0, { mode: "delete", ownership: marks({ owner: "works/web" }) }, signal);
      await member.settle();

      await apply(web(), held("a"));
      expect(await apply(delivered, { ownership: marks({ owner: "works/web", adopt: true }) })).toMatchObject({
        result: "conflict",
        message: expect.stringContaining("belongs to a ManifestWork"),
      });
      expect(await holders()).toEqual(["a"]);
    });

    test("is applied under its own field manager, and a field of another manager is a conflict", async () => {
      await apply(web(), held("a", { mode: "apply", force: false }));
      await member.as("kubectl").patch(Deployment, key, { spec: { replicas: 7 } }, { type: "merge" });
      await member.settle();

      await expect(apply(web(), held("a", { mode: "apply", force: false }))).rejects.toThrow(/conflict with "kubectl"/);
      expect((await apply(web(), held("a", { mode: "apply", force: true }))).result).toBe("updated");

      expect((await stored())?.spec.replicas).toBe(3);
    });

    test("is authorized before it is written, and not if nothing has to be written", async () => {
      const beforeWrite = (): Promise<void> => Promise.reject(new Error("not allowed"));
      await expect(apply(web(), held("a", { beforeWrite }))).rejects.toThrow("not allowed");
      expect(await stored()).toBeUndefined();
      await apply(web(), held("a"));

      expect((await apply(web(), held("a", { beforeWrite }))).result).toBe("unchanged");
    });
  });
}
