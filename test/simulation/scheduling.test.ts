/**
 * Scheduling features of a policy: priorities, workload affinity groups, multi-component workloads. From policy to
 * member.
 */
import { afterEach, describe, expect, test } from "vitest";
import { CustomResourceDefinition, Deployment, Event, Namespace, PriorityClass } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Explanation } from "@flotilla/flotilla";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(options: Partial<TestFleetOptions> = {}): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
}
const bindingOf = (name: string) =>
  fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: `${name}-deployment` });
const where = async (name: string) => (await bindingOf(name)).spec.clusters?.map((target) => target.name) ?? [];

describe("a workload affinity group", () => {
  const grouped = (
    workloadAffinity: NonNullable<NonNullable<PropagationPolicy["spec"]["placement"]>["workloadAffinity"]>,
  ) =>
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .with(
        ({ spec }) =>
          (spec.placement = {
            workloadAffinity,
            spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
          }),
      )
      .build();
  const labelled = (name: string, label?: string) =>
    makeDeployment(`shop/${name}`)
      .replicas(1)
      .with(({ metadata }) => label !== undefined && (metadata.labels = { team: label }))
      .build();

  test("keeps workloads with the same label apart, explains which one has no cluster, and leaves those without the label alone", async () => {
    await start();
    await fleet.client.create(PropagationPolicy, "hub", grouped({ antiAffinity: { groupByLabelKey: "team" } }));
    for (const [name, label] of [
      ["a", "red"],
      ["b", "red"],
      ["c", "red"],
      ["x", undefined],
      ["y", "blue"],
    ] as const)
      await fleet.client.create(Deployment, "hub", labelled(name, label));
    await fleet.run(SETTLED_MS);

    const red = await Promise.all(["a", "b", "c"].map(where));
    const lonely = ["a", "b", "c"].find((_, index) => red[index]?.length === 0) ?? "";

    expect(red.flat().toSorted()).toEqual(["member1", "member2"]);
    expect([await where("x"), await where("y")]).toEqual([["member1"], ["member1"]]);
    expect(
      (await fleet.client.get(Explanation, { cluster: "hub", namespace: "shop", name: `${lonely}-deployment` }))
        .decision,
    ).toMatchObject({
      kept: [],
      rejected: [
        {
          by: "WorkloadAntiAffinity",
          reason: "cluster already has workload with the same anti-affinity group",
          count: 2,
        },
      ],
    });
  });

  test("keeps workloads together, and follows a label that changes", async () => {
    await start();
    await fleet.client.create(PropagationPolicy, "hub", grouped({ affinity: { groupByLabelKey: "team" } }));
    const pinned = makePolicy("shop/pinned")
      .selects("apps/v1", "Deployment", "first")
      .duplicates("member2")
      .with(({ spec }) =>
        Object.assign(spec.placement ?? {}, { workloadAffinity: { affinity: { groupByLabelKey: "team" } } }),
      )
      .build();
    await fleet.client.create(PropagationPolicy, "hub", pinned);
    await fleet.client.create(Deployment, "hub", labelled("first", "red"));
    await fleet.run(SETTLED_MS);
    await fleet.client.create(Deployment, "hub", labelled("second", "red"));
    await fleet.client.create(Deployment, "hub", labelled("third", "blue"));
    await fleet.run(SETTLED_MS);
    expect([await where("second"), await where("third")]).toEqual([["member2"], ["member1"]]);

    await fleet.client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "third" },
      { metadata: { labels: { team: "red" } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    // Its group is recorded, and the workload stays in place.
    expect((await bindingOf("third")).spec.workloadAffinityGroups).toEqual({ affinityGroup: "team=red" });
    expect(await where("third")).toEqual(["member1"]);
  });
});

describe("workloads with priorities", () => {
  const CLASSES = { low: -1, high: 1000, middle: 5 };
  const ORDER = ["high-deployment", "middle-deployment", "none-deployment", "low-deployment"];

  /** The names of the bindings in the order in which they are scheduled from now on. */
  function watchPlaced(): string[] {
    placements = [];
    return placements;
  }
  let placements: string[] = [];
  const wrap: TestFleetOptions["wrap"] = (transport, part) =>
    part !== "schedule"
      ? transport
      : {
          ...transport,
          send(request, signal) {
            if (request.verb === "patch" && !request.path.subresource) placements.push(request.path.name ?? "");
            return transport.send(request, signal);
          },
        };

  async function submit(): Promise<void> {
    for (const [name, value] of Object.entries({ ...CLASSES, none: undefined })) {
      if (value !== undefined)
        await fleet.client.create(PriorityClass, "hub", {
          apiVersion: "scheduling.k8s.io/v1",
          kind: "PriorityClass",
          metadata: { name },
          value,
        });
      const change = ({ spec }: PropagationPolicy): void =>
        void (
          value !== undefined &&
          (spec.schedulePriority = { priorityClassSource: "KubePriorityClass", priorityClassName: name })
        );
      await fleet.client.create(
        PropagationPolicy,
        "hub",
        makePolicy(`shop/${name}`).selects("apps/v1", "Deployment", name).duplicates("member1").with(change).build(),
      );
      await fleet.client.create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(1).build());
      await fleet.run(SETTLED_MS);
    }
  }
  const join = async (): Promise<void> => {
    await fleet.hub.addMembers(["member1"], () => "https://member1.example.com", new AbortController().signal);
    await fleet.run(SETTLED_MS);
  };

  test("are scheduled by priority when the awaited member joins", async () => {
    await start({ members: [], wrap });
    await submit();
    expect((await bindingOf("high")).spec.schedulePriority).toEqual({ priority: 1000 });
    const placed = watchPlaced();

    await join();

    expect(placed).toEqual(ORDER);
  });

  test("are scheduled by priority after a restart", async () => {
    const engine = createLastingEngine();
    await start({ members: [], wrap, engine });
    await submit();
    await fleet.stop();
    const placed = watchPlaced();

    fleet = await startTestFleet({ members: ["member1"], wrap, engine });
    await fleet.run(SETTLED_MS);

    expect(placed).toEqual(ORDER);
  });
});

describe("a multi-component workload", () => {
  const flink = dynamicKind({
    group: "flink.apache.org",
    version: "v1beta1",
    kind: "FlinkDeployment",
    plural: "flinkdeployments",
    scope: "Namespaced",
  });
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "flinkdeployments.flink.apache.org" },
    spec: {
      group: "flink.apache.org",
      scope: "Namespaced",
      names: { plural: "flinkdeployments", kind: "FlinkDeployment" },
      versions: [
        {
          name: "v1beta1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  } as unknown as CustomResourceDefinition;
  const job = {
    apiVersion: "flink.apache.org/v1beta1",
    kind: "FlinkDeployment",
    metadata: { name: "count", namespace: "shop" },
    spec: {
      jobManager: { replicas: 1, resource: { cpu: 1, memory: "1Gi" } },
      taskManager: { replicas: 2, resource: { cpu: 2, memory: "1Gi" } },
    },
  };
  const key = { cluster: "hub", namespace: "shop", name: "count-flinkdeployment" };

  async function submit(options: Partial<TestFleetOptions>): Promise<void> {
    await start({ nodes: 1, ...options });
    for (const cluster of ["hub", "member1", "member2"])
      await fleet.client.create(CustomResourceDefinition, cluster, definition);
    await fleet.run(SETTLED_MS);
    const policy = makePolicy("shop/flink")
      .selects("flink.apache.org/v1beta1", "FlinkDeployment")
      .with(
        ({ spec }) =>
          (spec.placement = {
            spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
            replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated" },
          }),
      )
      .build();
    await fleet.client.create(PropagationPolicy, "hub", policy);
    await fleet.client.create(flink, "hub", job);
    await fleet.run(SETTLED_MS);
  }

  test("is counted as replicas unless the hub enables component scheduling", async () => {
    await submit({});

    const { spec } = await fleet.client.get(ResourceBinding, key);
    expect(spec).toMatchObject({ replicas: 3, replicaRequirements: { resourceRequest: { cpu: "2", memory: "1Gi" } } });
    expect(spec).not.toHaveProperty("components");
  });

  test("is scheduled as a whole if the hub enables it, and its copy is undivided", async () => {
    await submit({ scheduling: { multiplePodTemplatesScheduling: true } });

    const { spec } = await fleet.client.get(ResourceBinding, key);
    expect(spec).toMatchObject({
      components: [
        { name: "jobmanager", replicas: 1, replicaRequirements: { resourceRequest: { cpu: "1", memory: "1Gi" } } },
        { name: "taskmanager", replicas: 2, replicaRequirements: { resourceRequest: { cpu: "2", memory: "1Gi" } } },
      ],
      clusters: [{ name: "member1" }],
    });
    expect(spec).not.toHaveProperty("replicas");
    expect(await fleet.client.get(flink, { cluster: "member1", namespace: "shop", name: "count" })).toMatchObject({
      spec: job.spec,
    });
  });

  test("waits if no member has room for all components", async () => {
    await submit({ scheduling: { multiplePodTemplatesScheduling: true } });
    const large = {
      ...job,
      metadata: { name: "large", namespace: "shop" },
      spec: { ...job.spec, taskManager: { replicas: 5000, resource: { cpu: 2, memory: "1Gi" } } },
    };
    await fleet.client.create(flink, "hub", large);
    await fleet.run(SETTLED_MS);

    const { spec, status } = await fleet.client.get(ResourceBinding, { ...key, name: "large-flinkdeployment" });
    expect(spec.clusters ?? []).toEqual([]);
    expect(status?.conditions).toMatchObject([
      {
        type: "Scheduled",
        status: "False",
        message:
          "failed to select clusters: no enough resource when selecting 1 clusters (1 required, 0 fit on the 1 with the most room)",
      },
    ]);
    expect(
      (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items
        .filter(({ reason }) => reason === "ScheduleBindingFailed")
        .map(({ involvedObject }) => involvedObject.kind),
    ).toEqual(["ResourceBinding", "FlinkDeployment"]);
  });
});
