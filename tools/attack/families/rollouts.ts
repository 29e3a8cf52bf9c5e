/** Workloads that move while a member is away (B1). */
import { setTimeout as delay } from "node:timers/promises";
import { notTried, verdictOf, type Attack } from "../attack.ts";
import { eventually, must, type World } from "../world.ts";

const FAULT = "simulation.flotilla.dev/fault";
const CLUSTER = "/apis/cluster.karmada.io/v1alpha1/clusters/member2";
const REPLICAS = 2;

const policy = (name: string, member: string): object => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name },
  spec: {
    resourceSelectors: [
      { apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet", labelSelector: { matchLabels: { p: name } } },
    ],
    placement: { clusterAffinity: { clusterNames: [member] }, replicaScheduling: { replicaSchedulingType: "Divided" } },
  },
});
const statefulSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "StatefulSet",
  metadata: { name: "db", labels: { p: "one" } },
  spec: {
    replicas: REPLICAS,
    serviceName: "db",
    selector: { matchLabels: { app: "db" } },
    template: { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "main", image: "db:1" }] } },
  },
};

const moveBeforeDelivery: Attack = {
  name: "rollouts/move-before-delivery",
  claim: "an Advanced StatefulSet that moves before its first delivery gets all its replicas (B1)",
  async run(world) {
    const { admin } = world;
    const namespace = await world.namespace("stuck");
    const sets = `/apis/apps.kruise.io/v1beta1/namespaces/${namespace}/statefulsets`;
    const policies = `/apis/policy.karmada.io/v1alpha1/namespaces/${namespace}/propagationpolicies`;
    await setFault(world, "unreachable");
    world.onEnd(() => setFault(world, null));
    world.onEnd(() => admin.delete(`/api/v1/namespaces/${namespace}`));
    await must(admin.create(policies, policy("one", "member2")));
    await must(admin.create(policies, policy("two", "member1")));
    await must(admin.create(sets, statefulSet));
    const isPlaced = await eventually(() => bindingOn(world, namespace, "member2"), 10_000);
    if (!isPlaced) return notTried("a StatefulSet that moves", "it was not placed on the first member");
    await must(admin.patch("merge", `${sets}/db`, { metadata: { labels: { p: "two" } } }));
    await delay(500);
    await setFault(world, null);
    const there = world.api({ token: await world.memberToken("member1") }, { cluster: "member1" });
    const readyReplicas = async (): Promise<number | undefined> => {
      const { status, body } = await there.get(`${sets}/db`);
      const ready = status === 200 ? (body.status as { readyReplicas?: number } | undefined)?.readyReplicas : 0;
      return ready === REPLICAS ? ready : undefined;
    };
    const ready = await eventually(readyReplicas, world.isShort ? 20_000 : 90_000);
    return verdictOf(
      "a StatefulSet that moves to another member while its first one is away",
      ready === undefined ? ["its replicas do not run on the second member"] : [],
      `${ready ?? 0} replicas are ready on the second member`,
    );
  },
};

const setFault = ({ admin }: World, value: string | null): Promise<unknown> =>
  must(admin.patch("merge", CLUSTER, { metadata: { annotations: { [FAULT]: value } } }));

async function bindingOn({ admin }: World, namespace: string, member: string): Promise<true | undefined> {
  const { text } = await admin.get(`/apis/work.karmada.io/v1alpha2/namespaces/${namespace}/resourcebindings`);
  return text.includes(`"name":"${member}"`) ? true : undefined;
}

export const rollouts: readonly Attack[] = [moveBeforeDelivery];
