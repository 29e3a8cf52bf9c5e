/** The contract of every `Delivery`, independent of how it reaches the member. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Deployment, HorizontalPodAutoscaler } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import { marks } from "@flotilla/flotilla";
import type { ApplyPolicy, Delivery, Observation } from "@flotilla/flotilla";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { describeHoldings } from "./delivery-containers.ts";
import { describeSharing } from "./delivery-sharing.ts";

export interface OpenDelivery {
  delivery: Delivery;
  /** Another client of the same member: the member's own users. */
  member: Client;
  /** The same, with another field manager. */
  as(fieldManager: string): Client;
  cluster: string;
  /** Resolves when the delivery has processed all events. */
  settle(): Promise<void>;
  /** The number of writes by the delivery. */
  writes(): number;
  close(): Promise<void>;
}

const policy: ApplyPolicy = { mode: "apply", force: true, fieldManager: "flotilla" };
const { signal } = new AbortController();

export function describeDelivery(name: string, open: () => Promise<OpenDelivery>): void {
  describe(`delivery ${name}`, () => {
    let member: OpenDelivery;
    let key: ObjectKey;
    beforeEach(async () => {
      member = await open();
      key = { cluster: member.cluster, namespace: "default", name: "web" };
    });
    afterEach(() => member.close());

    const web = (change: (deployment: Deployment) => void = () => {}): Deployment =>
      makeDeployment("default/web").replicas(3).with(change).build();
    const apply = async (manifest: KubernetesObject, changes: Partial<ApplyPolicy> = {}) => {
      const outcome = await member.delivery.apply(manifest, { ...policy, ...changes }, signal);
      await member.settle();
      return outcome;
    };
    const stored = (): Promise<DeepReadonly<Deployment> | undefined> => find(member.member, Deployment, key);
    const foreign = async (): Promise<void> => {
      await member.member.create(
        Deployment,
        member.cluster,
        web(({ spec }) => (spec.replicas = 9)),
      );
      await member.settle();
    };

    test("creates a missing object and labels it as ours", async () => {
      const outcome = await apply(web());

      expect(outcome.result).toBe("created");
      expect((await stored())?.metadata.labels).toMatchObject({ "karmada.io/managed": "true" });
    });

    test("writes nothing if the member already has the desired state", async () => {
      await apply(web());
      const before = member.writes();

      expect((await apply(web())).result).toBe("unchanged");
      expect(member.writes()).toBe(before);
    });

    test("updates differences, and removes a field that the manifest no longer has", async () => {
      await apply(web(({ spec }) => (spec.minReadySeconds = 5)));

      expect((await apply(web(({ spec }) => (spec.replicas = 4)))).result).toBe("updated");

      const object = await stored();
      expect(object?.spec.replicas).toBe(4);
      expect(object?.spec.minReadySeconds).toBeUndefined();
    });

    test("repairs changes of the member's users, and keeps their additions", async () => {
      await apply(web());
      await member.member.patch(
        Deployment,
        key,
        { metadata: { labels: { theirs: "yes" } }, spec: { replicas: 7 } },
        { type: "merge" },
      );
      await member.settle();

      expect((await apply(web())).result).toBe("updated");

      const object = await stored();
      expect(object?.spec.replicas).toBe(3);
      expect(object?.metadata.labels).toMatchObject({ theirs: "yes" });
    });

    test("leaves an object alone that is not ours, and reports a conflict", async () => {
      await foreign();
      const before = member.writes();

      const outcome = await apply(web());

      expect(outcome).toMatchObject({ result: "conflict", message: expect.stringContaining("already exists") });
      expect(member.writes()).toBe(before);
      expect((await stored())?.spec.replicas).toBe(9);
    });

    test("leaves an object alone that just replaced ours", async () => {
      await apply(web());
      // The delivery has not received any of these events when it decides.
      await member.member.delete(Deployment, key);
      await member.member.create(
        Deployment,
        member.cluster,
        web(({ spec }) => (spec.replicas = 9)),
      );

      const outcome = await member.delivery.apply(
        web(({ spec }) => (spec.replicas = 4)),
        policy,
        signal,
      );

      expect(outcome.result).toBe("conflict");
      expect((await stored())?.spec.replicas).toBe(9);
    });

    test("adopts such an object if allowed", async () => {
      await foreign();

      expect(
        (
          await apply(
            web(({ spec }) => (spec.template.spec = { containers: [{ name: "ours", image: "ours:1" }] } as never)),
            { ownership: marks({ adopt: true }) },
          )
        ).result,
      ).toBe("updated");

      const object = await stored();
      expect(object?.spec.replicas).toBe(3);
      expect(object?.spec.template.spec?.containers.map(({ name }) => name)).toEqual(["ours"]);
    });

    test("never takes over a field that was retained from the member", async () => {
      await apply(web());
      await member.member.patch(Deployment, key, { spec: { replicas: 7 } }, { type: "merge" });
      await member.settle();

      await apply(
        web(({ spec }) => (spec.paused = true)),
        {
          retain: (desired, observed) =>
            ({
              ...desired,
              spec: { ...(desired as Deployment).spec, replicas: (observed as Deployment).spec.replicas },
            }) as never,
        },
      );

      expect((await stored())?.spec).toMatchObject({ replicas: 7, paused: true });
    });

    test("only creates in mode create-only, and only compares in mode read-only", async () => {
      expect((await apply(web(), { mode: "read-only" })).result).toBe("absent");
      expect((await apply(web(), { mode: "create-only" })).result).toBe("created");
      expect(
        (
          await apply(
            web(({ spec }) => (spec.replicas = 5)),
            { mode: "create-only" },
          )
        ).result,
      ).toBe("unchanged");

      expect((await stored())?.spec.replicas).toBe(3);
    });

    test("replaces the whole object in mode update, and keeps the member's own labels", async () => {
      await apply(web(), { mode: "update" });
      await member.member.patch(Deployment, key, { metadata: { labels: { theirs: "yes" } } }, { type: "merge" });
      await member.settle();

      await apply(
        web(({ spec }) => (spec.replicas = 5)),
        { mode: "update" },
      );

      const object = await stored();
      expect(object?.spec.replicas).toBe(5);
      expect(object?.metadata.labels).toMatchObject({ theirs: "yes", "karmada.io/managed": "true" });
    });

    test("leaves ignored fields to the member once the object exists", async () => {
      await apply(web());
      await member.member.patch(Deployment, key, { spec: { replicas: 7 } }, { type: "merge" });
      await member.settle();

      await apply(
        web(({ spec }) => ((spec.replicas = 4), (spec.paused = true))),
        { ignoreFields: ["spec.replicas"] },
      );

      expect((await stored())?.spec).toMatchObject({ replicas: 7, paused: true });
    });

    test("removes objects that are ours and nothing else", async () => {
      await apply(web());
      await member.delivery.remove(web0, { mode: "delete" }, signal);
      expect(await stored()).toBeUndefined();

      await foreign();
      await member.delivery.remove(web0, { mode: "delete" }, signal);
      expect((await stored())?.spec.replicas).toBe(9);
      await expect(member.delivery.remove({ ...web0, name: "absent" }, { mode: "delete" }, signal)).resolves.toBe(
        "gone",
      );
    });

    test("says whether a removed object is gone", async () => {
      const remove = () => member.delivery.remove(web0, { mode: "delete" }, signal);
      await apply(web());
      expect(await remove()).toBe("gone");

      await apply(web(({ metadata }) => (metadata.finalizers = ["example.com/hold"])));
      expect(await remove()).toBe("going");
      expect(await remove()).toBe("going");
      await member.member.patch(Deployment, key, { metadata: { finalizers: null } }, { type: "merge" });
      expect(await remove()).toBe("gone");
    });

    test("releases an object without touching its workload", async () => {
      await apply(web());

      await member.delivery.remove(web0, { mode: "release" }, signal);

      const object = await stored();
      expect(object?.spec.replicas).toBe(3);
      expect(object?.metadata.labels ?? {}).not.toHaveProperty("karmada.io/managed");
    });

    test("shows the member's objects, and emits every change with the version before", async () => {
      await apply(web());
      const subscription = member.delivery.observe([web0]);
      const seen: Observation[] = [];
      subscription.onChange((observation) => seen.push(observation));
      await member.settle();
      expect(subscription.isFresh(web0)).toBe(true);
      expect(subscription.get(web0)).toMatchObject({ spec: { replicas: 3 } });

      await member.member.patch(Deployment, key, { spec: { replicas: 4 } }, { type: "merge" });
      await member.settle();
      expect(seen.at(-1)).toMatchObject({
        ref: web0,
        old: { spec: { replicas: 3 } },
        object: { spec: { replicas: 4 } },
      });

      await member.member.delete(Deployment, key);
      await member.settle();

      expect(seen.at(-1)).toMatchObject({ ref: web0, old: { spec: { replicas: 4 } }, object: undefined });
      expect(subscription.get(web0)).toBeUndefined();
      subscription.close();
    });

    test("reports drift with the field, its manager, and the old and new value", async () => {
      await apply(web());
      await member.member.patch(Deployment, key, { spec: { replicas: 7 } }, { type: "merge" });
      await member.settle();

      const outcome = await apply(web());

      expect(outcome).toMatchObject({
        result: "updated",
        drift: [
          {
            steps: ["f:spec", "f:replicas"],
            ours: 3,
            theirs: 7,
            by: { manager: expect.stringMatching(/./), time: expect.stringMatching(/Z$/) },
          },
        ],
      });
    });

    test("leaves drift alone in report mode, also when the rest changes", async () => {
      await apply(web());
      await member.member.patch(Deployment, key, { spec: { replicas: 7 } }, { type: "merge" });
      await member.settle();
      const before = member.writes();

      expect(await apply(web(), { drift: "report" })).toMatchObject({ result: "unchanged", drift: [{ theirs: 7 }] });
      expect(member.writes()).toBe(before);
      await apply(
        web(({ spec }) => (spec.paused = true)),
        { drift: "report" },
      );

      expect((await stored())?.spec).toMatchObject({ replicas: 7, paused: true });
    });

    test("finds no drift in values that the member normalizes", async () => {
      const manifest = web(({ spec }) =>
        Object.assign(spec.template.spec?.containers[0] ?? {}, { resources: { limits: { cpu: "1000m" } } }),
      );
      await apply(manifest);
      const before = member.writes();

      expect((await apply(manifest)).result).toBe("unchanged");
      expect(member.writes()).toBe(before);
    });

    test("keeps a value that was ours when the field is left to the member", async () => {
      await apply(web());
      await apply(web(({ spec }) => (spec.minReadySeconds = 1)));

      await apply(
        web(({ spec }) => ((spec.replicas = 1), (spec.paused = true))),
        { replicas: "theirs" },
      );
      expect((await stored())?.spec).toMatchObject({ replicas: 3, paused: true });

      await apply(web(({ spec }) => ((spec.replicas = 1), (spec.paused = true))));
      expect((await stored())?.spec.replicas).toBe(1);
    });

    test("leaves replicas to a member's autoscaler while it exists", async () => {
      await apply(web());
      await member.member.create(HorizontalPodAutoscaler, member.cluster, {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { namespace: "default", name: "web" },
        spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 9 },
      });
      await member.member.patch(Deployment, key, { spec: { replicas: 7 } }, { type: "merge" });
      await member.settle();

      expect((await apply(web(), { replicas: "autoscaled" })).result).toBe("unchanged");
      expect((await apply(web(({ spec }) => (spec.replicas = 5)))).result).toBe("updated");

      expect((await stored())?.spec.replicas).toBe(5);
    });

    test("takes over fields that Karmada wrote by PUT, so that those missing from the manifest are removed", async () => {
      const karmada = member.as("karmada-controller-manager");
      await karmada.create(
        Deployment,
        member.cluster,
        web(({ metadata, spec }) => ((metadata.labels = { "karmada.io/managed": "true" }), (spec.minReadySeconds = 5))),
      );
      await member.settle();

      await apply(web());

      const object = await stored();
      expect(object?.spec.minReadySeconds).toBeUndefined();
      expect(object?.metadata.managedFields?.map(({ manager }) => manager)).not.toContain("karmada-controller-manager");
    });

    test("in mode update removes labels that an earlier manifest recorded and this one lacks", async () => {
      const labelled = (labels: Record<string, string>): Deployment =>
        web(({ metadata }) =>
          Object.assign(metadata, {
            labels,
            annotations: { "resourcetemplate.karmada.io/managed-labels": Object.keys(labels).join(",") },
          }),
        );
      await apply(labelled({ colour: "blue", size: "1" }), { mode: "update" });

      await apply(labelled({ colour: "red" }), { mode: "update" });

      expect((await stored())?.metadata.labels).toEqual({ colour: "red", "karmada.io/managed": "true" });
    });

    test("gives up its fields on release, and may adopt the object again only for the same owner", async () => {
      await apply(web(), { ownership: marks({ owner: "works/web" }) });
      await apply(
        web(({ spec }) => (spec.paused = true)),
        { ownership: marks({ owner: "works/web" }) },
      );

      await member.delivery.remove(
        web0,
        { mode: "release", ownership: marks({ owner: "works/web" }), mayReturn: true },
        signal,
      );
      await member.settle();
      expect((await stored())?.metadata.managedFields?.map(({ operation }) => operation) ?? []).not.toContain("Apply");
      expect((await apply(web(), { ownership: marks({ owner: "works/other" }) })).result).toBe("conflict");
      expect((await apply(web(), { ownership: marks({ owner: "works/web" }) })).result).toBe("updated");

      expect((await stored())?.metadata.annotations).not.toHaveProperty("flotilla.dev/released-from");
    });

    test("removes nothing that another owner delivered", async () => {
      await apply(
        web(
          ({ metadata }) =>
            (metadata.annotations = { "work.karmada.io/namespace": "works", "work.karmada.io/name": "web" }),
        ),
      );

      await member.delivery.remove(web0, { mode: "delete", ownership: marks({ owner: "works/other" }) }, signal);
      expect(await stored()).toBeDefined();

      await member.delivery.remove(web0, { mode: "delete", ownership: marks({ owner: "works/web" }) }, signal);
      expect(await stored()).toBeUndefined();
    });

    describeSharing(() => member);
    describeHoldings(() => member);

    test("returns how the member serves a kind", async () => {
      expect(await member.delivery.kindOf(web0, {})).toMatchObject({ plural: "deployments", scope: "Namespaced" });
    });

    test("calls beforeRequest before its first request, and not at all if none is needed", async () => {
      const beforeRequest = (): void => {
        throw new Error("not now");
      };
      await expect(apply(web(), { beforeRequest })).rejects.toThrow("not now");
      expect(await stored()).toBeUndefined();
      await apply(web());
      const subscription = member.delivery.observe([web0]);
      await member.settle();

      expect((await apply(web(), { beforeRequest })).result).toBe("unchanged");
      subscription.close();
    });

    test("rejects a kind that the member does not serve, by name", async () => {
      await expect(
        apply({ apiVersion: "example.dev/v1", kind: "Widget", metadata: { namespace: "default", name: "a" } }),
      ).rejects.toThrow("does not serve Widget in example.dev/v1");
    });
  });
}

const web0 = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" };
