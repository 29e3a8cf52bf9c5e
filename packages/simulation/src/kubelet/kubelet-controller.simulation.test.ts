/** The lifecycle of pods on simulated nodes, from binding to deletion, with a fake clock. */
import { describe, expect, test } from "vitest";
import { ConfigMap, Node, Pod } from "@flotilla/kubernetes";
import type { ContainerStatus, PodSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import {
  MEMBER,
  NAMESPACE,
  conditionsOf,
  isReady,
  makePod,
  startTestMember,
} from "@flotilla/testing/simulation/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember, TestMemberOptions } from "@flotilla/testing/simulation/member.ts";

async function start(options: TestMemberOptions = {}): Promise<TestMember> {
  const member = await startTestMember(options);
  return endsWithTest(member);
}
const containerOf = (pod: DeepReadonly<Pod>, name = "main"): DeepReadonly<ContainerStatus> | undefined =>
  [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find(
    (item) => item.name === name,
  );
const owner = (kind: string) => ({
  ownerReferences: [{ apiVersion: "example.com/v1", kind, name: "pi", uid: "j-1", controller: true }],
});
const withImage = (pod: DeepReadonly<Pod>, image: string): DeepReadonly<Pod> => ({
  ...pod,
  spec: { ...pod.spec, containers: pod.spec.containers.map((container) => ({ ...container, image })) },
});

describe("a pod with an invalid simulation annotation", () => {
  const WORDS =
    'Pod/a Warning InvalidSimulation: annotation simulation.flotilla.dev/fault: "crashloop" is ignored: allowed are crash-loop, image-pull-error, never-ready';

  test("runs, and emits one event about the annotation", async () => {
    const member = await start();

    await member.create(makePod("a", {}, { "simulation.flotilla.dev/fault": "crashloop" }));
    await member.pass(3_600_000);

    expect(isReady(await member.pod("a"))).toBe(true);
    expect(member.events).toEqual([WORDS]);
  });

  test("emits the event when the annotation is added later", async () => {
    const member = await start();
    await member.create(makePod("a"));
    await member.pass(60_000);

    const pod = await member.pod("a");
    await member.client.update(Pod, MEMBER, {
      ...pod,
      metadata: { ...pod.metadata, annotations: { "simulation.flotilla.dev/fault": "crashloop" } },
    });
    await member.pass(60_000);

    expect(member.events).toEqual([WORDS]);
  });
});

test("a node with an unknown fault emits an event", async () => {
  const member = await start();
  const node = await member.client.get(Node, { cluster: MEMBER, name: "node-000" });

  await member.client.update(Node, MEMBER, {
    ...node,
    metadata: { ...node.metadata, annotations: { "simulation.flotilla.dev/fault": "gone" } },
  });
  await member.settle();

  expect(member.events).toEqual([
    'Node/node-000 Warning InvalidSimulation: annotation simulation.flotilla.dev/fault: "gone" is ignored: allowed is lost',
  ]);
});

describe("a starting pod", () => {
  test("costs two writes after its creation, and none while it runs", async () => {
    const member = await start();

    await member.create(makePod("a"));
    await member.pass(3_600_000);

    expect(isReady(await member.pod("a"))).toBe(true);
    expect(member.writes.counts().map(({ verb, subresource, count }) => `${verb} ${subresource} ${count}`)).toEqual([
      "update  1",
      "update status 1",
    ]);
    expect(member.events).toEqual([]);
  });

  test("has a node at once and runs after the start delay", async () => {
    const member = await start({ times: { startMs: 2_000 } });
    await member.create(makePod("a"));

    await member.pass(1_999);
    const early = await member.pod("a");
    await member.pass(1);
    const started = await member.pod("a");

    expect([early.spec.nodeName, early.status?.phase]).toEqual(["node-000", "Pending"]);
    expect([started.status?.phase, isReady(started), started.status?.observedGeneration]).toEqual([
      "Running",
      true,
      started.metadata.generation,
    ]);
  });

  test("starts after the delay of its annotation", async () => {
    const member = await start();
    await member.create(makePod("a", {}, { "simulation.flotilla.dev/start-seconds": "30" }));

    await member.pass(29_999);
    const early = (await member.pod("a")).status?.phase;
    await member.pass(1);

    expect([early, (await member.pod("a")).status?.phase]).toEqual(["Pending", "Running"]);
  });

  test("has its own address, or the node's address with host networking", async () => {
    const member = await start();
    await member.create(
      ...Array.from({ length: 20 }, (_, index) => makePod(`p${index}`)),
      makePod("host", { hostNetwork: true }),
    );

    const pods = (await member.client.list(Pod, { cluster: MEMBER })).items;

    expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(21);
    const host = await member.pod("host");
    expect(host.status?.podIP).toBe(host.status?.hostIP);
  });

  test("runs its init containers in order and keeps its sidecars running", async () => {
    const member = await start();
    await member.create(
      makePod("a", {
        initContainers: [
          { name: "first", image: "i:1" },
          { name: "side", image: "s:1", restartPolicy: "Always" },
          { name: "stuck", image: "i:broken" },
          { name: "last", image: "i:1" },
        ],
      }),
    );

    const stuck = await member.pod("a");
    await member.client.update(Pod, MEMBER, {
      ...stuck,
      spec: {
        ...stuck.spec,
        initContainers:
          stuck.spec.initContainers?.map((container) => ({
            ...container,
            image: container.image?.replace("broken", "2") ?? "",
          })) ?? [],
      },
    });
    await member.settle();
    const pod = await member.pod("a");

    expect(conditionsOf(stuck)).toMatchObject({
      Initialized: "False ContainersNotInitialized",
      Ready: "False ContainersNotReady",
    });
    expect([
      stuck.status?.phase,
      ...["side", "stuck", "last", "main"].map((name) => containerOf(stuck, name)?.state?.waiting?.reason),
    ]).toEqual(["Pending", undefined, "ImagePullBackOff", "PodInitializing", "PodInitializing"]);
    expect(isReady(pod)).toBe(true);
    expect(
      ["first", "side", "stuck", "last"].map((name) =>
        containerOf(pod, name)?.state?.running ? "runs" : containerOf(pod, name)?.state?.terminated?.reason,
      ),
    ).toEqual(["Completed", "runs", "Completed", "Completed"]);
  });

  test("waits for the ConfigMap key of a variable", async () => {
    const member = await start();
    const env = (key: string) => [{ name: "BARRIER", valueFrom: { configMapKeyRef: { name: "a-barrier", key } } }];
    await member.create(
      makePod("a", {
        containers: [
          { name: "main", image: "web:1", env: env("p_1") },
          { name: "late", image: "web:1", env: env("p_0") },
        ],
      }),
    );
    const barrier = (data: Record<string, string>): ConfigMap => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a-barrier", namespace: NAMESPACE },
      data,
    });

    await member.pass(20);
    const waiting = await member.pod("a");
    await member.create(barrier({ p_1: "true" }));
    const half = await member.pod("a");
    await member.change(ConfigMap, "a-barrier", (map) => ({ ...map, data: { p_1: "true", p_0: "true" } }));
    const up = await member.pod("a");

    expect(containerOf(waiting)?.state?.waiting).toEqual({
      reason: "CreateContainerConfigError",
      message: 'configmap "a-barrier" not found',
    });
    expect([containerOf(half)?.ready, containerOf(half, "late")?.state?.waiting?.message]).toEqual([
      true,
      "couldn't find key p_0 in ConfigMap shop/a-barrier",
    ]);
    expect([isReady(up), containerOf(up, "late")?.restartCount]).toEqual([true, 0]);
  });
});

describe("a pod with a plain command", () => {
  const commanded = (text: string) =>
    makePod("a", {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "web:1", command: ["sh", "-c", text] }],
    });

  test("runs for the duration of the command, exits with its code, and costs one more write", async () => {
    const member = await start();
    await member.create(commanded("echo working; sleep 30; exit 3"));
    const running = await member.pod("a");
    member.writes.reset();

    await member.pass(29_000);
    const before = member.writes.total();
    await member.pass(2_000);
    const pod = await member.pod("a");

    expect([running.status?.phase, before]).toEqual(["Running", 0]);
    expect([pod.status?.phase, containerOf(pod)?.state?.terminated?.exitCode, member.writes.total()]).toEqual([
      "Failed",
      3,
      1,
    ]);
  });
});

describe("a pod with a volume from a ConfigMap", () => {
  const mounting = makePod("a", { volumes: [{ name: "config", configMap: { name: "settings" } }] });
  const settings: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", namespace: NAMESPACE },
  };

  test("is not started before the ConfigMap exists", async () => {
    const member = await start();
    await member.create(mounting);
    await member.pass(20);
    const waiting = await member.pod("a");

    await member.create(settings);

    expect([
      waiting.status?.phase,
      waiting.status?.podIP,
      containerOf(waiting)?.state?.waiting?.reason,
      conditionsOf(waiting)["PodReadyToStartContainers"],
    ]).toEqual(["Pending", undefined, "ContainerCreating", "False"]);
    expect(member.events).toEqual([
      'Pod/a Warning FailedMount: MountVolume.SetUp failed for volume "config" : configmap "settings" not found',
    ]);
    expect(isReady(await member.pod("a"))).toBe(true);
  });

  test("costs no more writes than other pods when the ConfigMap exists", async () => {
    const member = await start();
    await member.create(settings);
    member.writes.reset();

    await member.create(mounting);
    await member.pass(60_000);

    expect([isReady(await member.pod("a")), member.writes.total()]).toEqual([true, 2]);
  });
});

describe("faults", () => {
  test("an image that cannot be pulled keeps a new pod Pending and emits an event", async () => {
    const member = await start();

    await member.create(makePod("a", {}, { "simulation.flotilla.dev/fault": "image-pull-error" }));

    const pod = await member.pod("a");
    expect([pod.status?.phase, containerOf(pod)?.state?.waiting?.reason]).toEqual(["Pending", "ImagePullBackOff"]);
    expect(member.events.at(-1)).toBe('Pod/a Normal BackOff: Back-off pulling image "web:1"');
  });

  test("a pod that never becomes ready still runs", async () => {
    const member = await start();

    await member.create(makePod("a", {}, { "simulation.flotilla.dev/fault": "never-ready" }));

    const pod = await member.pod("a");
    expect([pod.status?.phase, conditionsOf(pod)["Ready"], containerOf(pod)?.started]).toEqual([
      "Running",
      "False ContainersNotReady",
      true,
    ]);
  });

  test("a crash loop doubles the restart backoff, up to five minutes", async () => {
    const member = await start();
    await member.create(makePod("a", {}, { "simulation.flotilla.dev/fault": "crash-loop" }));

    const counts: (number | undefined)[] = [];
    for (const waitMs of [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
      await member.pass(waitMs);
      counts.push(containerOf(await member.pod("a"))?.restartCount);
    }

    const pod = await member.pod("a");
    expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(pod.status?.phase).toBe("Running");
    expect(containerOf(pod)).toMatchObject({
      ready: false,
      state: {
        waiting: {
          reason: "CrashLoopBackOff",
          message: `back-off 5m0s restarting failed container=main pod=a_shop(${pod.metadata.uid})`,
        },
      },
      lastState: { terminated: { exitCode: 1, reason: "Error" } },
    });
    expect(member.events[0]).toMatch(/^Pod\/a Warning BackOff: Back-off restarting failed container=main/);
  });
});

describe("a pod that terminates", () => {
  const cases: Record<
    string,
    {
      restartPolicy: PodSpec["restartPolicy"];
      annotations?: Record<string, string>;
      ownerKind?: string;
      want: string;
      ready: string;
    }
  > = {
    "of a Job succeeds at once": {
      restartPolicy: "Never",
      ownerKind: "Job",
      want: "Succeeded",
      ready: "False PodCompleted",
    },
    "of a BroadcastJob fails with the annotated exit code": {
      restartPolicy: "Never",
      ownerKind: "BroadcastJob",
      annotations: { "sim/exit-code": "3" },
      want: "Failed",
      ready: "False PodFailed",
    },
    "of a Helm hook succeeds at once": {
      restartPolicy: "Never",
      annotations: { "helm.sh/hook": "test" },
      want: "Succeeded",
      ready: "False PodCompleted",
    },
    "of a Helm hook fails with the annotated exit code": {
      restartPolicy: "Never",
      annotations: { "helm.sh/hook": "test", "simulation.flotilla.dev/exit-code": "3" },
      want: "Failed",
      ready: "False PodFailed",
    },
    "of a Job may run forever": {
      restartPolicy: "Never",
      ownerKind: "Job",
      annotations: { "sim/run": "forever" },
      want: "Running",
      ready: "True",
    },
    "without an owner ends when it has an exit code annotation": {
      restartPolicy: "OnFailure",
      annotations: { "simulation.flotilla.dev/exit-code": "0" },
      want: "Succeeded",
      ready: "False PodCompleted",
    },
    "is restarted under restartPolicy OnFailure": {
      restartPolicy: "OnFailure",
      annotations: { "simulation.flotilla.dev/exit-code": "1" },
      want: "Running",
      ready: "False ContainersNotReady",
    },
    "is restarted after success under restartPolicy Always": {
      restartPolicy: "Always",
      annotations: { "simulation.flotilla.dev/exit-code": "0" },
      want: "Running",
      ready: "False ContainersNotReady",
    },
  };
  for (const [behaviour, { restartPolicy, annotations = {}, ownerKind, want, ready }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const member = await start();

      await member.create(
        makePod("a", { restartPolicy: restartPolicy ?? "Always" }, annotations, ownerKind ? owner(ownerKind) : {}),
      );

      const pod = await member.pod("a");
      expect([pod.status?.phase, conditionsOf(pod)["Ready"]]).toEqual([want, ready]);
      expect(conditionsOf(pod)).toMatchObject({
        Initialized: "True",
        PodScheduled: "True",
        PodReadyToStartContainers: "True",
      });
    });
  }

  test("follows the restart policy and rules of a container", async () => {
    const member = await start();
    const rules = {
      restartPolicy: "Never" as const,
      restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
    };

    for (const code of ["42", "1"])
      await member.create(
        makePod(
          `code${code}`,
          { restartPolicy: "Never", containers: [{ name: "main", image: "web:1", ...rules }] },
          { "simulation.flotilla.dev/exit-code": code },
        ),
      );

    expect([(await member.pod("code42")).status?.phase, (await member.pod("code1")).status?.phase]).toEqual([
      "Running",
      "Failed",
    ]);
  });

  test("runs for the annotated duration", async () => {
    const member = await start();
    await member.create(
      makePod("a", { restartPolicy: "Never" }, { "simulation.flotilla.dev/run": "60" }, owner("Job")),
    );

    await member.pass(59_000);
    const early = (await member.pod("a")).status?.phase;
    await member.pass(1_000);

    expect([early, (await member.pod("a")).status?.phase]).toEqual(["Running", "Succeeded"]);
  });

  test("is ended by activeDeadlineSeconds", async () => {
    const member = await start();
    await member.create(makePod("a", { activeDeadlineSeconds: 30 }));

    await member.pass(30_000);

    expect((await member.pod("a")).status).toMatchObject({
      phase: "Failed",
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    });
  });
});

describe("a running pod that is updated", () => {
  test("is not ready while a container restarts with its new image, and keeps its address", async () => {
    const member = await start({ times: { startMs: 0, restartMs: 3_000 } });
    await member.create(makePod("a", { readinessGates: [{ conditionType: "x/Open" }] }));
    await member.client.updateStatus(
      Pod,
      MEMBER,
      await member.pod("a").then((pod) => ({
        ...pod,
        status: {
          ...pod.status,
          conditions: [...(pod.status?.conditions ?? []), { type: "x/Open", status: "True" }],
        },
      })),
    );
    await member.settle();
    const before = await member.pod("a");

    await member.change(Pod, "a", (pod) => withImage(pod, "web:2"));
    const restarting = await member.pod("a");
    await member.pass(3_000);
    const after = await member.pod("a");

    expect([isReady(before), isReady(restarting), isReady(after)]).toEqual([true, false, true]);
    expect([containerOf(after)?.restartCount, containerOf(after)?.image, after.status?.podIP]).toEqual([
      1,
      "web:2",
      before.status?.podIP,
    ]);
    expect(containerOf(after)?.lastState?.terminated?.containerID).toBe(containerOf(before)?.containerID);
  });

  const resize = async (member: TestMember, resources: object): Promise<void> => {
    const { status } = await member.client.raw({
      cluster: MEMBER,
      method: "PATCH",
      path: `/api/v1/namespaces/${NAMESPACE}/pods/a/resize`,
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: Buffer.from(JSON.stringify({ spec: { containers: [{ name: "main", resources }] } })),
    });
    expect(status).toBe(200);
    await member.settle();
  };
  const sized = (cpu: string, rest: object = {}): Partial<PodSpec> => ({
    containers: [{ name: "main", image: "web:1", resources: { requests: { cpu } }, ...rest }],
  });

  test("gets more cpu without a restart", async () => {
    const member = await start();
    await member.create(makePod("a", sized("1")));

    await resize(member, { requests: { cpu: "2" } });

    expect(containerOf(await member.pod("a"))).toMatchObject({
      restartCount: 0,
      ready: true,
      resources: { requests: { cpu: "2" } },
      allocatedResources: { cpu: "2" },
    });
  });

  test("restarts for a resize if its resizePolicy requires it", async () => {
    const member = await start();
    await member.create(
      makePod("a", sized("1", { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] })),
    );

    await resize(member, { requests: { cpu: "2" } });

    expect(containerOf(await member.pod("a"))).toMatchObject({
      restartCount: 1,
      ready: true,
      resources: { requests: { cpu: "2" } },
    });
  });

  test("defers a resize until the node has room", async () => {
    const member = await start({ nodes: 1, nodeOptions: { cpu: "4" } });
    await member.create(makePod("other", sized("2")), makePod("a", sized("1")));

    await resize(member, { requests: { cpu: "3" } });
    const deferred = await member.pod("a");
    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: "other" });
    await member.pass(30_000);
    const given = await member.pod("a");
    await resize(member, { requests: { cpu: "5" } });
    const refused = await member.pod("a");

    expect([conditionsOf(deferred)["PodResizePending"], containerOf(deferred)?.resources?.requests]).toEqual([
      "True Deferred",
      { cpu: "1" },
    ]);
    expect([conditionsOf(given)["PodResizePending"], containerOf(given)?.resources?.requests]).toEqual([
      undefined,
      { cpu: "3" },
    ]);
    expect(conditionsOf(refused)["PodResizePending"]).toBe("True Infeasible");
  });

  test("restarts containers whose metadata variables changed", async () => {
    const hashes = {
      plain: () => 1,
      variables: (_container: unknown, { labels }: { readonly labels?: Readonly<Record<string, string>> }) =>
        Number(labels?.["version"] ?? 0),
    };
    const member = await start({ hashes });
    const env = [{ name: "VERSION", valueFrom: { fieldRef: { fieldPath: "metadata.labels['version']" } } }];
    await member.create(
      makePod(
        "a",
        {
          containers: [{ name: "main", image: "web:1", env }],
          readinessGates: [{ conditionType: "InPlaceUpdateReady" }],
        },
        {},
        { labels: { version: "7" } },
      ),
    );
    const noted = await member.pod("a");
    const gate = async (status: "True" | "False"): Promise<void> => {
      const pod = await member.pod("a");
      await member.client.updateStatus(Pod, MEMBER, {
        ...pod,
        status: {
          ...pod.status,
          conditions: [
            ...(pod.status?.conditions ?? []).filter(({ type }) => type !== "InPlaceUpdateReady"),
            { type: "InPlaceUpdateReady", status },
          ],
        },
      });
      await member.settle();
    };

    await member.change(Pod, "a", (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, version: "8" } },
    }));
    const unasked = containerOf(await member.pod("a"))?.restartCount;
    await gate("False");
    const restarted = await member.pod("a");

    expect(JSON.parse(noted.metadata.annotations?.["apps.kruise.io/runtime-containers-meta"] ?? "{}")).toEqual({
      containers: [
        {
          name: "main",
          containerID: containerOf(noted)?.containerID,
          restartCount: 0,
          hashes: { plainHash: 1, extractedEnvFromMetadataHash: 7 },
        },
      ],
    });
    expect([unasked, containerOf(restarted)?.restartCount]).toEqual([0, 1]);
    expect(restarted.metadata.annotations?.["apps.kruise.io/runtime-containers-meta"]).toContain(
      '"extractedEnvFromMetadataHash":8',
    );
  });
});

describe("a deleted pod", () => {
  test("is removed after the stop delay, or after its grace period if that is shorter", async () => {
    const member = await start({ times: { startMs: 0, stopMs: 5_000 } });
    await member.create(makePod("slow"), makePod("quick", { terminationGracePeriodSeconds: 1 }));
    for (const name of ["slow", "quick"]) await member.delete(Pod, name);

    const left: number[] = [];
    for (const ms of [999, 1, 3_999, 1]) {
      await member.pass(ms);
      left.push((await member.client.list(Pod, { cluster: MEMBER })).items.length);
    }

    expect(left).toEqual([2, 1, 1, 0]);
  });

  test("stops its containers while a finalizer blocks its deletion", async () => {
    const member = await start();
    await member.create(makePod("a", {}, {}, { finalizers: ["example.com/hold"] }));

    await member.delete(Pod, "a");
    await member.pass(1_000);

    const held = await member.pod("a");
    expect([held.status?.phase, conditionsOf(held)["Ready"], containerOf(held)?.state?.terminated?.exitCode]).toEqual([
      "Succeeded",
      "False PodCompleted",
      0,
    ]);
    member.writes.reset();
    await member.pass(600_000);
    expect(member.writes.total()).toBe(0);
  });
});

test("rejects a pod whose nodeName is a node without a free port for it", async () => {
  const member = await start();
  const ports: Partial<PodSpec> = {
    nodeName: "node-000",
    containers: [{ name: "main", image: "web:1", ports: [{ containerPort: 80, hostPort: 80 }] }],
  };
  await member.create(makePod("a", ports));

  await member.create(makePod("b", ports));

  expect([(await member.pod("a")).status?.phase, (await member.pod("b")).status]).toMatchObject([
    "Running",
    { phase: "Failed", reason: "NodePorts" },
  ]);
});

test("ensuring existing nodes writes nothing", async () => {
  const member = await start({ nodes: 2 });

  await member.simulation.ensureNodes(MEMBER, 2);

  expect(member.writes.total()).toBe(0);
});
