/** UnitedDeployments on a simulated member: their workloads, the placement of pods, and the status. */
import { afterEach, expect, test } from "vitest";
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { ControllerRevision, Deployment, Node, Pod, StatefulSet } from "@flotilla/kubernetes";
import { UnitedDeployment } from "./uniteddeployment-kind.ts";
import type { Kind } from "@flotilla/apimachinery";
import { compareText } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { RESERVED_LABEL, SUBSET_LABEL } from "./uniteddeployment-names.ts";

let member: KruiseMember;
afterEach(() => member.stop());

const start = async (): Promise<void> => {
  member = await startKruiseMember({
    customs: [CloneSet, AdvancedStatefulSet, UnitedDeployment],
    times: { startMs: 0, restartMs: 0, stopMs: 0 },
  });
};

type Spec = UnitedDeployment["spec"];
type Subsets = NonNullable<NonNullable<Spec["topology"]>["subsets"]>;
const TEMPLATES = {
  CloneSet: "cloneSetTemplate",
  StatefulSet: "statefulSetTemplate",
  AdvancedStatefulSet: "advancedStatefulSetTemplate",
  Deployment: "deploymentTemplate",
} as const;

function make(
  type: keyof typeof TEMPLATES,
  replicas: number,
  subsets: Subsets,
  rest: { image?: string; topology?: object; spec?: Partial<Spec>; workload?: object } = {},
): UnitedDeployment {
  const pods = {
    metadata: { labels: { app: "ud" } },
    spec: { containers: [{ name: "main", image: rest.image ?? "web:1" }] },
  };
  const template = {
    [TEMPLATES[type]]: {
      metadata: { labels: { app: "ud" } },
      spec: {
        selector: { matchLabels: { app: "ud" } },
        template: pods,
        serviceName: type.endsWith("StatefulSet") ? "ud" : undefined,
        ...rest.workload,
      },
    },
  };
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "UnitedDeployment",
    metadata: { name: "ud", namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: { app: "ud" } },
      template,
      topology: { subsets, ...rest.topology },
      ...rest.spec,
    },
  };
}

const create = (object: UnitedDeployment) => member.client.create(UnitedDeployment, MEMBER, object);
const change = (edit: (spec: DeepReadonly<Spec>) => DeepReadonly<Spec>) =>
  member.change(UnitedDeployment, "ud", (object) => ({ ...object, spec: edit(object.spec) }));
const sizes = async (kind: Kind): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await member.list(kind)).map((object) => [
      object.metadata.labels?.[SUBSET_LABEL] ?? "",
      (object as unknown as { spec: { replicas: number } }).spec.replicas,
    ]),
  );
const status = async () => (await member.get(UnitedDeployment, "ud")).status;
const nowhere = { nodeSelectorTerm: { matchExpressions: [{ key: "nowhere", operator: "Exists" as const }] } };

const kinds: Record<keyof typeof TEMPLATES, Kind> = { CloneSet, StatefulSet, AdvancedStatefulSet, Deployment };
for (const type of ["CloneSet", "StatefulSet", "AdvancedStatefulSet", "Deployment"] as const) {
  test(`creates a ${type} for each subset, and adds up their pods in the status`, async () => {
    await start();

    await create(make(type, 6, [{ name: "a", replicas: 2 }, { name: "b", replicas: "50%" }, { name: "c" }]));
    await member.pass(30_000);

    expect(await sizes(kinds[type])).toEqual({ a: 2, b: 3, c: 1 });
    expect(await status()).toMatchObject({
      observedGeneration: 1,
      replicas: 6,
      readyReplicas: 6,
      updatedReplicas: 6,
      updatedReadyReplicas: 6,
      labelSelector: "app=ud",
      subsetStatuses: [
        { name: "a", replicas: 2, readyReplicas: 2 },
        { name: "b", replicas: 3 },
        { name: "c", replicas: 1 },
      ],
    });
    expect((await status())?.conditions?.map(({ type: name, status: value }) => `${name} ${value}`)).toEqual([
      "UnitedDeploymentUpdated True",
      "SubsetProvisioned True",
      "SubsetUpdated True",
    ]);
    expect(member.events).toContain(`UnitedDeployment/ud Normal SuccessfulUpdateSubset: Create 3 Subset (${type})`);
  });
}

test("sets the replicas and the partition of each subset's Advanced StatefulSet", async () => {
  await start();

  await create(
    make("AdvancedStatefulSet", 3, [{ name: "a", replicas: 1 }, { name: "b" }], {
      spec: { updateStrategy: { type: "Manual", manualUpdate: { partitions: { a: 9, b: 1 } } } },
    }),
  );
  await member.pass(1_000);

  const sets = (await member.list(AdvancedStatefulSet)).toSorted((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );
  expect(sets.map(({ spec }) => [spec.replicas, spec.updateStrategy?.rollingUpdate?.partition])).toEqual([
    [1, 1],
    [2, 1],
  ]);
});

test("removing a subset from the topology deletes its workload and its status", async () => {
  await start();
  await create(make("CloneSet", 4, [{ name: "a" }, { name: "b" }]));
  await member.pass(10_000);

  await change((spec) => ({ ...spec, topology: { subsets: [{ name: "b" }, { name: "c" }] } }));
  await member.pass(30_000);

  expect(await sizes(CloneSet)).toEqual({ b: 2, c: 2 });
  expect((await status())?.subsetStatuses?.map(({ name }) => name)).toEqual(["b", "c"]);
  expect(member.events).toContain("UnitedDeployment/ud Normal SuccessfulUpdateSubset: Delete 1 Subset (CloneSet)");
});

test("another template kind replaces the workloads of the old kind", async () => {
  await start();
  await create(make("CloneSet", 2, [{ name: "a" }, { name: "b" }]));
  await member.pass(10_000);

  await change(() => make("Deployment", 2, [{ name: "a" }, { name: "b" }]).spec);
  await member.pass(30_000);

  expect(await sizes(CloneSet)).toEqual({});
  expect(await sizes(Deployment)).toEqual({ a: 1, b: 1 });
});

test("partitions keep pods of each subset at their old revision until they are lowered", async () => {
  await start();
  const partitions = (a: number, b: number): Partial<Spec> => ({
    updateStrategy: { type: "Manual", manualUpdate: { partitions: { a, b } } },
  });
  const images = (): string[] =>
    member
      .pods()
      .map(({ metadata, spec }) => `${metadata.labels?.[SUBSET_LABEL] ?? ""} ${spec.containers[0]?.image ?? ""}`)
      .toSorted(compareText);
  await create(make("CloneSet", 4, [{ name: "a" }, { name: "b" }]));
  await member.pass(10_000);

  await change(
    () => make("CloneSet", 4, [{ name: "a" }, { name: "b" }], { image: "web:2", spec: partitions(2, 1) }).spec,
  );
  await member.pass(60_000);
  const halfway = { images: images(), status: await status() };
  await change((spec) => ({ ...spec, ...partitions(0, 0) }));
  await member.pass(60_000);

  expect(halfway.images).toEqual(["a web:1", "a web:1", "b web:1", "b web:2"]);
  expect(halfway.status).toMatchObject({
    updatedReplicas: 1,
    subsetStatuses: [
      { name: "a", partition: 2 },
      { name: "b", partition: 1 },
    ],
  });
  expect(halfway.status?.currentRevision).not.toBe(halfway.status?.updatedRevision);
  expect(images()).toEqual(["a web:2", "a web:2", "b web:2", "b web:2"]);
  const { currentRevision, updatedRevision, conditions } = (await status()) ?? {};
  expect(currentRevision).toBe(updatedRevision);
  expect(conditions?.find(({ type }) => type === "UnitedDeploymentUpdated")).toMatchObject({
    status: "True",
    message: `updated to revision ${updatedRevision ?? ""}`,
  });
  expect(
    (await member.list(ControllerRevision))
      .filter(
        ({ metadata }) => metadata.name.startsWith("ud-") && metadata.ownerReferences?.[0]?.kind === "UnitedDeployment",
      )
      .map(({ revision }) => revision)
      .toSorted((a, b) => a - b),
  ).toEqual([1, 2]);
});

test("a patch changes only the pods of its subset", async () => {
  await start();

  await create(
    make("Deployment", 2, [
      { name: "a", patch: { spec: { containers: [{ name: "main", env: [{ name: "LANE", value: "a" }] }] } } },
      { name: "b" },
    ]),
  );
  await member.pass(10_000);

  const env = Object.fromEntries(
    (await member.list(Pod)).map(({ metadata, spec }) => [metadata.labels?.[SUBSET_LABEL], spec.containers[0]?.env]),
  );
  expect(env).toEqual({ a: [{ name: "LANE", value: "a" }], b: undefined });
});

test("an adaptive deployment moves pods that find no node, and retries the subset after a while", async () => {
  await start();
  const topology = {
    scheduleStrategy: { type: "Adaptive", adaptive: { rescheduleCriticalSeconds: 5, unschedulableDuration: 600 } },
  };

  await create(make("CloneSet", 4, [{ name: "a", maxReplicas: 3, ...nowhere }, { name: "b" }], { topology }));
  await member.pass(60_000);
  const moved = { sizes: await sizes(CloneSet), status: await status() };
  await member.pass(570_000);

  expect(moved.sizes).toEqual({ a: 0, b: 4 });
  expect(moved.status).toMatchObject({
    replicas: 4,
    readyReplicas: 4,
    subsetStatuses: [
      {
        name: "a",
        conditions: [
          { type: "Schedulable", status: "False", reason: "reschedule", message: "timeout pending pods found" },
        ],
      },
      { name: "b", replicas: 4 },
    ],
  });
  expect((await status())?.subsetStatuses?.[0]?.conditions?.[0]).toMatchObject({ status: "True", reason: "recover" });
});

test("the reservation strategy keeps pods without a node and runs others in their place until they are ready", async () => {
  await start();
  const adaptive = { rescheduleCriticalSeconds: 5, unschedulableDuration: 10, reserveUnschedulablePods: true };
  await create(
    make("CloneSet", 3, [{ name: "a", maxReplicas: 2, ...nowhere }, { name: "b" }], {
      topology: { scheduleStrategy: { type: "Adaptive", adaptive } },
    }),
  );
  await member.pass(60_000);
  const waiting = {
    sizes: await sizes(CloneSet),
    status: await status(),
    labels: member
      .pods()
      .map(({ metadata }) => metadata.labels?.[RESERVED_LABEL] ?? "")
      .toSorted(compareText),
  };

  const [node] = await member.list(Node);
  await member.change(Node, node?.metadata.name ?? "", (object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, nowhere: "here" } },
  }));
  await member.pass(120_000);

  expect(waiting.sizes).toEqual({ a: 2, b: 3 });
  expect(waiting.status).toMatchObject({
    replicas: 3,
    reservedPods: 2,
    labelSelector: `app=ud,${RESERVED_LABEL}=false`,
    subsetStatuses: [{ name: "a", reservedPods: 2 }, { name: "b" }],
  });
  expect(waiting.labels).toEqual(["false", "false", "false", "true", "true"]);
  expect(await sizes(CloneSet)).toEqual({ a: 2, b: 1 });
  expect((await status())?.reservedPods).toBeUndefined();
});

for (const seconds of [0, -60]) {
  test(`a timeout of ${seconds} seconds requeues every second, not continuously`, async () => {
    await start();
    const adaptive = {
      rescheduleCriticalSeconds: seconds,
      unschedulableDuration: seconds,
      reserveUnschedulablePods: true,
    };
    await create(
      make("CloneSet", 1, [{ name: "a", ...nowhere }], {
        topology: { scheduleStrategy: { type: "Adaptive", adaptive } },
      }),
    );
    await member.pass(10_000);

    const nextMs = (member.clock.nextDue() ?? Number.POSITIVE_INFINITY) - member.clock.now();
    await member.pass(nextMs);

    expect((member.clock.nextDue() ?? Number.POSITIVE_INFINITY) - member.clock.now()).toBeGreaterThanOrEqual(1_000);
  });
}

test("a converged deployment writes nothing", async () => {
  await start();
  await create(make("CloneSet", 4, [{ name: "a" }, { name: "b" }]));
  await member.pass(30_000);
  member.writes.reset();

  await member.pass(600_000);

  expect(member.writes.total()).toBe(0);
});
