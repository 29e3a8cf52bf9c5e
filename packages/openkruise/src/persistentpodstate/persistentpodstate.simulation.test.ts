/** PersistentPodStates on a simulated member. */
import { afterEach, expect, test } from "vitest";
import { Node, Pod, StatefulSet } from "@flotilla/kubernetes";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { kruiseKinds } from "../openkruise.ts";
import { PersistentPodState } from "./persistentpodstate-kind.ts";

const HOST = "kubernetes.io/hostname";

let member: KruiseMember;
afterEach(() => member.stop());

const makeSet = (annotations?: Record<string, string>, replicas = 2): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", namespace: NAMESPACE, annotations },
  spec: {
    replicas,
    serviceName: "db",
    podManagementPolicy: "Parallel",
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: { containers: [{ name: "main", image: "db:1" }] },
    },
  },
});

const makeState = (spec: Partial<PersistentPodState["spec"]>): PersistentPodState => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "PersistentPodState",
  metadata: { name: "db", namespace: NAMESPACE },
  spec: { targetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "db" }, ...spec },
});

async function start(annotations?: Record<string, string>): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, nodes: 4 });
  await member.pass(1000);
  await member.client.create(StatefulSet, MEMBER, makeSet(annotations));
}

const stateOf = () => member.get(PersistentPodState, "db");
const podOf = (name: string) => member.pods().find(({ metadata }) => metadata.name === name);

test("a pod that is created again returns to the node on which it ran", async () => {
  await start();
  await member.client.create(
    PersistentPodState,
    MEMBER,
    makeState({ requiredPersistentTopology: { nodeTopologyKeys: [HOST] } }),
  );
  await member.pass(10_000);
  const before = podOf("db-1")?.spec.nodeName;
  expect((await stateOf()).status?.podStates?.["db-1"]).toEqual({
    nodeName: before,
    nodeTopologyLabels: { [HOST]: before },
  });

  await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: "db-1" }, {});
  await member.pass(20_000);

  expect(podOf("db-1")?.spec.nodeName).toBe(before);
  expect(podOf("db-1")?.spec.nodeSelector).toEqual({ [HOST]: before });
  expect(podOf("db-1")?.metadata.annotations).toMatchObject({ "kruise.io/injected-persistent-pod-state": "db" });
});

test("a preference leaves the pod free to run elsewhere", async () => {
  await start();
  await member.client.create(
    PersistentPodState,
    MEMBER,
    makeState({ preferredPersistentTopology: [{ weight: 100, preference: { nodeTopologyKeys: [HOST] } }] }),
  );
  await member.pass(10_000);
  const before = podOf("db-0")?.spec.nodeName ?? "";
  await member.client.patch(
    Node,
    { cluster: MEMBER, name: before },
    { spec: { unschedulable: true } },
    { type: "merge" },
  );

  await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: "db-0" }, {});
  await member.pass(20_000);

  expect(podOf("db-0")?.spec.nodeName).toBeDefined();
  expect(podOf("db-0")?.spec.nodeName).not.toBe(before);
});

const retention: Record<string, { policy?: string; want: string[] }> = {
  "scaling in forgets the pods that are gone": { want: ["db-0"] },
  "with WhenDeleted scaling in forgets no pod": { policy: "WhenDeleted", want: ["db-0", "db-1"] },
};
for (const [behaviour, { policy, want }] of Object.entries(retention)) {
  test(behaviour, async () => {
    await start();
    await member.client.create(
      PersistentPodState,
      MEMBER,
      makeState({
        requiredPersistentTopology: { nodeTopologyKeys: [HOST] },
        persistentPodStateRetentionPolicy: policy,
      }),
    );
    await member.pass(10_000);

    await member.change(StatefulSet, "db", (set) => ({ ...set, spec: { ...set.spec, replicas: 1 } }));
    await member.pass(20_000);

    expect(Object.keys((await stateOf()).status?.podStates ?? {}).toSorted()).toEqual(want);
  });
}

test("annotations of a StatefulSet create a PersistentPodState, and their removal deletes it", async () => {
  await start({
    "kruise.io/auto-generate-persistent-pod-state": "true",
    "kruise.io/preferred-persistent-topology": "topology.kubernetes.io/zone",
  });
  await member.pass(10_000);

  expect((await stateOf()).spec).toEqual({
    targetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "db" },
    preferredPersistentTopology: [{ weight: 100, preference: { nodeTopologyKeys: ["topology.kubernetes.io/zone"] } }],
  });

  await member.change(StatefulSet, "db", (set) => ({ ...set, metadata: { ...set.metadata, annotations: undefined } }));
  await member.pass(5000);

  expect((await member.client.list(PersistentPodState, { cluster: MEMBER })).items).toEqual([]);
});

test("a generated PersistentPodState keeps the retention policy of a user", async () => {
  await start({
    "kruise.io/auto-generate-persistent-pod-state": "true",
    "kruise.io/required-persistent-topology": HOST,
  });
  await member.pass(10_000);

  await member.change(PersistentPodState, "db", (state) => ({
    ...state,
    spec: { ...state.spec, persistentPodStateRetentionPolicy: "WhenDeleted" },
  }));
  await member.change(StatefulSet, "db", (set) => ({ ...set, spec: { ...set.spec, replicas: 1 } }));
  await member.pass(20_000);

  expect((await stateOf()).spec.persistentPodStateRetentionPolicy).toBe("WhenDeleted");
  expect(Object.keys((await stateOf()).status?.podStates ?? {})).toHaveLength(2);
});

test("a second PersistentPodState of a StatefulSet is rejected", async () => {
  await start();
  const spec = { requiredPersistentTopology: { nodeTopologyKeys: [HOST] } };
  await member.client.create(PersistentPodState, MEMBER, makeState(spec));

  const second = { ...makeState(spec), metadata: { name: "other", namespace: NAMESPACE } };

  await expect(member.client.create(PersistentPodState, MEMBER, second)).rejects.toThrow(
    "targetReference is in conflict with other PersistentPodState db",
  );
});
