/** Services on a simulated member and their addresses. */
import { describe, expect, test } from "vitest";
import { EndpointSlice } from "../endpointslice/endpointslice-kind.ts";
import { Endpoints } from "./endpoints-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import { Service } from "../service/service-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createReplicaSetController } from "../replicaset/replicaset-controller.ts";
import { createEndpointsController } from "./endpoints-controller.ts";

async function startMember(): Promise<TestMember> {
  const member = await startTestMember({
    nodes: 5,
    controllers(deps) {
      indexByController(deps.informers);
      return [createReplicaSetController(deps), createEndpointsController(deps)];
    },
  });
  return endsWithTest(member);
}

function makeService(spec: Partial<Service["spec"]> = {}): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: NAMESPACE, labels: { team: "shop" } },
    spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: "http" }], ...spec },
  };
}

function makeReplicaSet(replicas: number): ReplicaSet {
  const template = {
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "main", image: "web:1", ports: [{ name: "http", containerPort: 8080 }] }] },
  };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "web", namespace: NAMESPACE },
    spec: { replicas, selector: { matchLabels: { app: "web" } }, template },
  };
}

const slices = (member: TestMember): Promise<readonly DeepReadonly<EndpointSlice>[]> => member.list(EndpointSlice);
const endpointsOf = async (member: TestMember) => (await slices(member)).flatMap(({ endpoints }) => endpoints ?? []);

describe("A Service", () => {
  test("lists the addresses of its pods, with node and zone", async () => {
    const member = await startMember();
    await member.client.create(ReplicaSet, MEMBER, makeReplicaSet(2));
    await member.client.create(Service, MEMBER, makeService());
    await member.pass(10_000);

    const [slice] = await slices(member);
    const [pod] = member.pods();
    expect(slice?.metadata.labels).toEqual({
      team: "shop",
      "kubernetes.io/service-name": "web",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    });
    expect(slice).toMatchObject({ addressType: "IPv4", ports: [{ name: "http", port: 8080, protocol: "TCP" }] });
    expect(slice?.endpoints).toHaveLength(2);
    expect(slice?.endpoints?.find(({ targetRef }) => targetRef?.name === pod?.metadata.name)).toMatchObject({
      addresses: [pod?.status?.podIP],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: pod?.spec.nodeName,
      zone: pod?.metadata.labels?.["topology.kubernetes.io/zone"],
      targetRef: { kind: "Pod", namespace: NAMESPACE, uid: pod?.metadata.uid },
    });
    const { subsets, metadata } = await member.get(Endpoints, "web");
    expect(subsets?.[0]?.addresses).toHaveLength(2);
    expect(subsets?.[0]?.ports).toEqual([{ name: "http", port: 8080, protocol: "TCP" }]);
    expect(metadata.labels?.["endpoints.kubernetes.io/managed-by"]).toBe("endpoint-controller");
  });

  test("A Service without pods has an empty slice", async () => {
    const member = await startMember();

    await member.client.create(Service, MEMBER, makeService());
    await member.pass(1_000);

    expect((await slices(member)).map(({ endpoints = [] }) => endpoints.length)).toEqual([0]);
  });

  test("removes a terminating pod", async () => {
    const member = await startMember();
    await member.client.create(ReplicaSet, MEMBER, makeReplicaSet(3));
    await member.client.create(Service, MEMBER, makeService());
    await member.pass(10_000);

    await member.change(ReplicaSet, "web", (set) => ({ ...set, spec: { ...set.spec, replicas: 2 } }));
    await member.pass(500);
    const during = (await endpointsOf(member))
      .map(({ conditions }) => `${conditions?.ready} ${conditions?.terminating}`)
      .toSorted();
    const addresses = (await member.get(Endpoints, "web")).subsets?.[0]?.addresses?.length;
    await member.pass(40_000);

    expect(during).toEqual(["false true", "true false", "true false"]);
    expect(addresses).toBe(2);
    expect(await endpointsOf(member)).toHaveLength(2);
  });

  test("A Service with a hundred and fifty pods needs few writes and two slices", async () => {
    const member = await startMember();
    await member.client.create(Service, MEMBER, makeService());
    await member.client.create(ReplicaSet, MEMBER, makeReplicaSet(150));
    await member.pass(20_000);

    const sizes = (await slices(member)).map(({ endpoints = [] }) => endpoints.length).toSorted((a, b) => b - a);
    expect(sizes).toEqual([100, 50]);
    expect(member.writes.total({ resource: "endpointslices.discovery.k8s.io" })).toBeLessThanOrEqual(6);
    expect(member.writes.total({ resource: "endpoints" })).toBeLessThanOrEqual(3);
  });

  test("A Service with publishNotReadyAddresses lists pods that are not ready", async () => {
    const member = await startMember();
    await member.client.create(Service, MEMBER, makeService({ publishNotReadyAddresses: true, clusterIP: "None" }));
    await member.client.create(ReplicaSet, MEMBER, makeReplicaSet(1));
    await member.pass(10_000);
    const [pod] = member.pods();
    if (!pod) throw new Error("a pod runs");

    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: pod.metadata.name });
    await member.pass(300);

    expect(
      (await endpointsOf(member)).find(({ targetRef }) => targetRef?.name === pod.metadata.name)?.conditions,
    ).toMatchObject({ ready: true, terminating: true });
    expect((await slices(member))[0]?.metadata.labels?.["service.kubernetes.io/headless"]).toBe("");
  });

  test("is deleted together with its addresses", async () => {
    const member = await startMember();
    await member.client.create(Service, MEMBER, makeService());
    await member.pass(1_000);

    await member.client.delete(Service, { cluster: MEMBER, namespace: NAMESPACE, name: "web" });
    await member.pass(5_000);

    expect(await slices(member)).toEqual([]);
    expect(await member.list(Endpoints)).toEqual([]);
  });

  test("writes nothing when nothing changes", async () => {
    const member = await startMember();
    await member.client.create(ReplicaSet, MEMBER, makeReplicaSet(3));
    await member.client.create(Service, MEMBER, makeService());
    await member.pass(20_000);
    member.writes.reset();

    await member.pass(300_000);

    expect(member.writes.counts()).toEqual([]);
  });
});
