/** Workflows on a simulated member: their pods, the order of these, and the status. */
import { afterEach, expect, test } from "vitest";
import { indexByController, Pod } from "@flotilla/kubernetes";
import { Workflow } from "./workflow-kind.ts";
import type { WorkflowSpec } from "./workflow-types.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { createWorkflowController } from "./argo-controller.ts";
import { MAIN_CONTAINER, NODE_NAME_ANNOTATION, WORKFLOW_LABEL } from "./workflow-names.ts";

let member: TestMember;
afterEach(() => member.stop());

const start = async (): Promise<void> => {
  member = await startTestMember({
    customs: [Workflow],
    times: { startMs: 0, restartMs: 0, stopMs: 0 },
    controllers(deps) {
      indexByController(deps.informers);
      return [createWorkflowController(deps)];
    },
  });
};

const container = { image: "busybox:1", command: ["echo", "{{inputs.parameters.text}}"] };
const echo = { name: "echo", inputs: { parameters: [{ name: "text", default: "hello" }] }, container };
const failing = {
  name: "failing",
  metadata: { annotations: { "sim/exit-code": "3" } },
  container: { image: "busybox:1" },
};
const slow = { name: "slow", metadata: { annotations: { "sim/run": "60" } }, container: { image: "busybox:1" } };
const call = (name: string, template = "echo", rest: object = {}) => ({ name, template, ...rest });
const text = (value: string) => ({ arguments: { parameters: [{ name: "text", value }] } });

const submit = (spec: WorkflowSpec | object) =>
  member.client.create(Workflow, MEMBER, {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Workflow",
    metadata: { name: "wf", namespace: NAMESPACE },
    spec,
  });
const workflow = (): Promise<DeepReadonly<Workflow>> => member.get(Workflow, "wf");
const phases = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    Object.values((await workflow()).status?.nodes ?? {}).map(({ name, phase = "" }) => [name, phase]),
  );
const texts = (): (string | undefined)[] =>
  member
    .pods()
    .map(({ spec }) => spec.containers[0]?.command?.[1])
    .toSorted((a = "", b = "") => (a < b ? -1 : 1));

test("a container template creates one pod named after the Workflow, and its result is that of the Workflow", async () => {
  await start();

  await submit({ entrypoint: "echo", templates: [echo] });
  await member.pass(10_000);

  const [pod] = member.pods();
  expect(pod).toMatchObject({
    metadata: {
      name: "wf",
      labels: { [WORKFLOW_LABEL]: "wf", "workflows.argoproj.io/completed": "true" },
      annotations: { [NODE_NAME_ANNOTATION]: "wf" },
      ownerReferences: [{ kind: "Workflow", name: "wf" }],
    },
    spec: { restartPolicy: "Never", containers: [{ name: MAIN_CONTAINER, command: ["echo", "hello"] }] },
  });
  expect(await workflow()).toMatchObject({
    metadata: { labels: { "workflows.argoproj.io/phase": "Succeeded", "workflows.argoproj.io/completed": "true" } },
    status: {
      phase: "Succeeded",
      progress: "1/1",
      nodes: {
        wf: {
          id: "wf",
          name: "wf",
          displayName: "wf",
          type: "Pod",
          templateName: "echo",
          phase: "Succeeded",
          progress: "1/1",
          inputs: { parameters: [{ name: "text", value: "hello" }] },
          outputs: { exitCode: "0" },
        },
      },
    },
  });
  expect(member.events.filter((event) => event.startsWith("Workflow"))).toEqual([
    "Workflow/wf Normal WorkflowRunning: Workflow Running",
    "Workflow/wf Normal WorkflowSucceeded: Workflow completed",
  ]);
});

test("step groups run one after the other, and the steps of a group in parallel", async () => {
  await start();
  const main = {
    name: "main",
    steps: [
      [call("a", "slow"), call("b", "slow")],
      [call("c", "echo", text("{{workflow.parameters.who}} after {{steps.a.status}}"))],
    ],
  };

  await submit({
    entrypoint: "main",
    arguments: { parameters: [{ name: "who", value: "ann" }] },
    templates: [main, slow, echo],
  });
  await member.pass(10_000);
  const during = { nodes: await phases(), progress: (await workflow()).status?.progress };
  await member.pass(70_000);

  expect(during).toEqual({
    nodes: { wf: "Running", "wf[0]": "Running", "wf[0].a": "Running", "wf[0].b": "Running" },
    progress: "0/2",
  });
  expect(await phases()).toEqual({
    wf: "Succeeded",
    "wf[0]": "Succeeded",
    "wf[0].a": "Succeeded",
    "wf[0].b": "Succeeded",
    "wf[1]": "Succeeded",
    "wf[1].c": "Succeeded",
  });
  expect(texts()).toContain("ann after Succeeded");
  const { nodes = {}, progress } = (await workflow()).status ?? {};
  const byName = (name: string) => Object.values(nodes).find((node) => node.name === name);
  expect(progress).toBe("3/3");
  expect(byName("wf[0]")?.children).toEqual([byName("wf[0].a")?.id, byName("wf[0].b")?.id]);
  expect(byName("wf[0].a")?.children).toEqual([byName("wf[1]")?.id]);
  expect(byName("wf")?.outboundNodes).toEqual([byName("wf[1].c")?.id]);
  expect(byName("wf[1].c")).toMatchObject({ displayName: "c", boundaryID: "wf" });
});

test("a failing step fails its group and the Workflow, and later steps do not run", async () => {
  await start();

  await submit({
    entrypoint: "main",
    templates: [{ name: "main", steps: [[call("a", "failing")], [call("b")]] }, failing, echo],
  });
  await member.pass(10_000);

  const { status } = await workflow();
  const failed = Object.values(status?.nodes ?? {}).find(({ name }) => name === "wf[0].a");
  expect(failed).toMatchObject({ phase: "Failed", message: "main: Error (exit code 3)", outputs: { exitCode: "3" } });
  expect(status).toMatchObject({ phase: "Failed", message: `child '${failed?.id ?? ""}' failed`, progress: "0/1" });
  expect(member.pods()).toHaveLength(1);
});

test("skips steps whose condition is false, and continues after failures with continueOn", async () => {
  await start();
  const main = {
    name: "main",
    steps: [
      [call("a", "failing", { continueOn: { failed: true } })],
      [
        call("b", "echo", { when: "{{steps.a.status}} == Succeeded" }),
        call("c", "echo", { when: "{{steps.a.exitCode}} > 2 && true" }),
      ],
    ],
  };

  await submit({ entrypoint: "main", templates: [main, failing, echo] });
  await member.pass(10_000);

  expect(await phases()).toMatchObject({
    wf: "Succeeded",
    "wf[0].a": "Failed",
    "wf[1].b": "Skipped",
    "wf[1].c": "Succeeded",
  });
});

test("a step with items runs once per item", async () => {
  await start();
  const main = {
    name: "main",
    steps: [
      [call("each", "echo", { withItems: ["x", 2, { os: "linux" }], ...text("{{item}}") })],
      [call("more", "echo", { withParam: '["p"]', ...text("{{item}}!") })],
    ],
  };

  await submit({ entrypoint: "main", templates: [main, echo] });
  await member.pass(10_000);

  expect(Object.keys(await phases()).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    "wf",
    "wf[0]",
    "wf[0].each(0:x)",
    "wf[0].each(1:2)",
    "wf[0].each(2:os:linux)",
    "wf[1]",
    "wf[1].more(0:p)",
  ]);
  expect(texts()).toEqual(["2", "p!", "x", '{"os":"linux"}']);
});

test("tasks of a DAG start when their dependencies have ended", async () => {
  await start();
  const tasks = [
    call("a"),
    call("b", "echo", { dependencies: ["a"] }),
    call("c", "failing", { dependencies: ["a"] }),
    call("d", "echo", { depends: "b && c" }),
    call("e", "echo", { depends: "c.Failed && !b.Failed" }),
  ];

  await submit({ entrypoint: "main", templates: [{ name: "main", dag: { tasks } }, echo, failing] });
  await member.pass(10_000);

  expect(await phases()).toEqual({
    wf: "Failed",
    "wf.a": "Succeeded",
    "wf.b": "Succeeded",
    "wf.c": "Failed",
    "wf.d": "Omitted",
    "wf.e": "Succeeded",
  });
  const { nodes = {}, phase } = (await workflow()).status ?? {};
  expect(phase).toBe("Failed");
  expect(Object.values(nodes).find(({ name }) => name === "wf.d")).toMatchObject({
    type: "Skipped",
    message: "omitted: depends condition not met",
  });
  const [a, b, c] = ["wf.a", "wf.b", "wf.c"].map((name) => Object.values(nodes).find((node) => node.name === name));
  expect(a?.children).toEqual([b?.id, c?.id]);
});

test("a task with items is a task group, and a task that depends on a failure lets the DAG succeed", async () => {
  await start();
  const tasks = [call("all", "failing", { withItems: [1, 2] }), call("repair", "echo", { depends: "all.Failed" })];

  await submit({ entrypoint: "main", templates: [{ name: "main", dag: { tasks } }, echo, failing] });
  await member.pass(10_000);

  expect(await phases()).toEqual({
    wf: "Succeeded",
    "wf.all": "Failed",
    "wf.all(0:1)": "Failed",
    "wf.all(1:2)": "Failed",
    "wf.repair": "Succeeded",
  });
});

test("retries a failure after the backoff, up to the limit", async () => {
  await start();
  const retried = { ...failing, retryStrategy: { limit: 2, backoff: { duration: "10", factor: 2 } } };

  await submit({ entrypoint: "failing", templates: [retried] });
  await member.pass(5_000);
  const early = (await workflow()).status?.nodes?.["wf"];
  await member.pass(60_000);

  expect(early).toMatchObject({ type: "Retry", phase: "Running", message: "Backoff for 10 seconds" });
  expect(await phases()).toEqual({ wf: "Failed", "wf(0)": "Failed", "wf(1)": "Failed", "wf(2)": "Failed" });
  expect((await workflow()).status).toMatchObject({ phase: "Failed", message: "No more retries left" });
});

test("a suspended Workflow starts nothing until it is resumed", async () => {
  await start();
  await submit({ suspend: true, entrypoint: "echo", templates: [echo] });
  await member.pass(10_000);
  const before = member.pods().length;

  await member.change(Workflow, "wf", (object) => ({ ...object, spec: { ...object.spec, suspend: false } }));
  await member.pass(10_000);

  expect(before).toBe(0);
  expect((await workflow()).status?.phase).toBe("Succeeded");
});

test("a suspend template waits for its duration, or until a client marks its node", async () => {
  await start();
  const main = { name: "main", steps: [[call("timed", "timed")], [call("gate", "gate")], [call("go")]] };
  await submit({
    entrypoint: "main",
    templates: [main, { name: "timed", suspend: { duration: "20s" } }, { name: "gate", suspend: {} }, echo],
  });
  await member.pass(30_000);
  const waiting = await phases();

  await member.change(Workflow, "wf", (object) => {
    const nodes = Object.fromEntries(
      Object.entries(object.status?.nodes ?? {}).map(([id, node]) => [
        id,
        node.name === "wf[1].gate"
          ? { ...node, phase: "Succeeded" as const, finishedAt: "2024-01-01T00:00:00Z" }
          : node,
      ]),
    );
    return { ...object, status: { ...object.status, nodes } };
  });
  await member.pass(10_000);

  expect(waiting).toMatchObject({ "wf[0].timed": "Succeeded", "wf[1].gate": "Running" });
  expect((await workflow()).status?.phase).toBe("Succeeded");
});

test("a Workflow ends with its pods at activeDeadlineSeconds; the exit handler still runs", async () => {
  await start();

  await submit({
    entrypoint: "slow",
    onExit: "echo",
    activeDeadlineSeconds: 5,
    templates: [slow, { ...echo, inputs: {}, container: { image: "x", command: ["echo", "{{workflow.status}}"] } }],
  });
  await member.pass(30_000);

  expect(await phases()).toEqual({ wf: "Failed", "wf.onExit": "Succeeded" });
  expect((await workflow()).status).toMatchObject({ phase: "Failed", message: "Step exceeded its deadline" });
  expect(texts()).toEqual(["Failed"]);
});

test("stopping a Workflow fails its running nodes", async () => {
  await start();
  await submit({
    entrypoint: "main",
    templates: [{ name: "main", steps: [[call("a", "slow")], [call("b")]] }, slow, echo],
  });
  await member.pass(5_000);

  await member.change(Workflow, "wf", (object) => ({ ...object, spec: { ...object.spec, shutdown: "Stop" as const } }));
  await member.pass(10_000);

  expect((await workflow()).status).toMatchObject({ phase: "Failed", message: "Stopped with strategy 'Stop'" });
  expect(await phases()).toMatchObject({ wf: "Failed", "wf[0].a": "Failed" });
});

test("parallelism limits the number of running pods", async () => {
  await start();

  await submit({
    entrypoint: "main",
    parallelism: 2,
    templates: [{ name: "main", steps: [[call("each", "slow", { withItems: [1, 2, 3] })]] }, slow],
  });
  await member.pass(10_000);
  const early = member.pods().length;
  await member.pass(200_000);

  expect(early).toBe(2);
  expect((await workflow()).status).toMatchObject({ phase: "Succeeded", progress: "3/3" });
});

test("deletes finished pods and Workflows according to podGC and ttlStrategy", async () => {
  await start();

  await submit({
    entrypoint: "echo",
    podGC: { strategy: "OnPodCompletion" },
    ttlStrategy: { secondsAfterCompletion: 60 },
    templates: [echo],
  });
  await member.pass(30_000);
  const left = { pods: member.pods().length, phase: (await workflow()).status?.phase };
  await member.pass(60_000);

  expect(left).toEqual({ pods: 0, phase: "Succeeded" });
  expect(await member.list(Workflow)).toEqual([]);
});

const unsupported: Record<string, [object, string]> = {
  "an unsupported template type": [
    { entrypoint: "a", templates: [{ name: "a", script: { image: "x", source: "y" } }] },
    "spec.templates[0].script is not supported by simulated members",
  ],
  "a missing template": [
    { entrypoint: "a", templates: [{ name: "a", steps: [[call("x", "y")]] }] },
    "templates.a.x: template name 'y' undefined",
  ],
  "a dependency cycle of tasks": [
    {
      entrypoint: "a",
      templates: [
        echo,
        { name: "a", dag: { tasks: [call("x", "echo", { depends: "y" }), call("y", "echo", { depends: "x" })] } },
      ],
    },
    "templates.a.dag: the tasks have a dependency cycle",
  ],
  "an unsupported failFast": [
    { entrypoint: "a", templates: [{ name: "a", failFast: true, steps: [[call("x")]] }, echo] },
    'spec.templates[0].failFast: Unsupported value: true: supported values: "false"',
  ],
  "outputs, which simulated containers do not have": [
    { entrypoint: "a", templates: [{ name: "a", container: {}, outputs: { parameters: [{ name: "x" }] } }] },
    "spec.templates[0].outputs.parameters is not supported by simulated members",
  ],
};
for (const [what, [spec, message]] of Object.entries(unsupported)) {
  test(`${what} ends the Workflow with an error that names it`, async () => {
    await start();

    await submit(spec);
    await member.pass(5_000);

    expect((await workflow()).status).toMatchObject({ phase: "Error", message: `invalid spec: ${message}` });
  });
}

test("a value outside of a parameter's enum is an error", async () => {
  await start();

  await submit({
    entrypoint: "echo",
    arguments: { parameters: [{ name: "size", value: "huge", enum: ["small", "large"] }] },
    templates: [echo],
  });
  await member.pass(10_000);

  expect((await workflow()).status).toMatchObject({
    phase: "Error",
    message: "error in entry template execution: spec.arguments.size.value 'huge' is not in its enum",
  });
});

test("null fields count as absent", async () => {
  await start();

  await submit({
    entrypoint: "main",
    onExit: null,
    templates: [
      { name: "main", steps: null, dag: { target: null, tasks: [{ ...call("a"), when: null, depends: null }] } },
      echo,
    ],
  });
  await member.pass(10_000);

  expect(await phases()).toEqual({ wf: "Succeeded", "wf.a": "Succeeded" });
});

test("a variable without a value is an error of the step that uses it", async () => {
  await start();

  await submit({
    entrypoint: "main",
    templates: [{ name: "main", steps: [[call("a")], [call("b", "echo", text("{{steps.a.outputs.result}}"))]] }, echo],
  });
  await member.pass(10_000);

  const node = Object.values((await workflow()).status?.nodes ?? {}).find(({ name }) => name === "wf[1].b");
  expect(node).toMatchObject({
    phase: "Error",
    message: "{{steps.a.outputs.result}} has no value: containers are simulated and have no outputs",
  });
});

test("rebuilds a status that another writer removed from the pods, and creates no pod twice", async () => {
  await start();
  await submit({
    entrypoint: "main",
    templates: [{ name: "main", steps: [[call("a", "slow")], [call("b")]] }, slow, echo],
  });
  await member.pass(10_000);
  const before = member.pods().map(({ metadata }) => metadata.uid);

  await member.change(Workflow, "wf", ({ status: _status, ...object }) => object);
  await member.pass(5_000);
  const after = { nodes: await phases(), pods: member.pods().map(({ metadata }) => metadata.uid) };
  await member.pass(70_000);

  expect(after).toEqual({ nodes: { wf: "Running", "wf[0]": "Running", "wf[0].a": "Running" }, pods: before });
  expect((await workflow()).status?.phase).toBe("Succeeded");
});

test("a pod that the API server rejects is an error of its node, with the reason", async () => {
  await start();
  const broken = { name: "broken", container: { image: "busybox:1", ports: [{ containerPort: 0 }] } };

  await submit({
    entrypoint: "main",
    templates: [{ name: "main", steps: [[call("a"), call("b", "broken")]] }, broken, echo],
  });
  await member.pass(10_000);

  const node = Object.values((await workflow()).status?.nodes ?? {}).find(({ name }) => name === "wf[0].b");
  expect(node).toMatchObject({
    phase: "Error",
    message: expect.stringContaining("spec.containers[0].ports[0].containerPort"),
  });
  expect((await workflow()).status?.phase).toBe("Failed");
});

test("a template that calls itself with a doubling argument ends with an error instead of exhausting memory", async () => {
  await start();
  const doubling = {
    name: "main",
    inputs: { parameters: [{ name: "text", value: "x".repeat(1_000) }] },
    steps: [[call("again", "main", text("{{inputs.parameters.text}}{{inputs.parameters.text}}"))]],
  };

  await submit({ entrypoint: "main", templates: [doubling] });
  await member.pass(60_000);

  const { status } = await workflow();
  expect(status?.phase).toBe("Failed");
  expect(Object.values(status?.nodes ?? {}).map(({ message }) => message)).toContain(
    "variables insert more than 262144 characters",
  );
});

test("many items with long values end with an error before the status exceeds the storage limit", async () => {
  await start();
  const main = {
    name: "main",
    steps: [
      [
        call("all", "echo", {
          ...text(`{{item}} ${"x".repeat(100_000)}`),
          withItems: Array.from({ length: 30 }, (_, index) => index),
        }),
      ],
    ],
  };

  await submit({ entrypoint: "main", templates: [main, echo] });
  await member.pass(60_000);

  expect((await workflow()).status).toMatchObject({
    phase: "Error",
    message: expect.stringContaining("have more than 1048576 characters"),
  });
});

test("creates more pods than the limit of one reconcile", async () => {
  await start();
  const items = Array.from({ length: 300 }, (_, index) => index);

  await submit({
    entrypoint: "main",
    templates: [{ name: "main", steps: [[call("all", "echo", { withItems: items })]] }, echo],
  });
  await member.pass(60_000);

  expect((await workflow()).status).toMatchObject({ phase: "Succeeded", progress: "300/300" });
});

test("a stopped Workflow ends although a step waited to be started", async () => {
  await start();
  const careful = { ...slow, name: "careful", retryStrategy: { limit: 2 } };
  await submit({
    entrypoint: "main",
    parallelism: 1,
    templates: [{ name: "main", steps: [[call("a", "slow"), call("b", "careful")]] }, slow, careful],
  });
  await member.pass(5_000);

  await member.change(Workflow, "wf", (object) => ({ ...object, spec: { ...object.spec, shutdown: "Stop" as const } }));
  await member.pass(5_000);

  expect((await workflow()).status).toMatchObject({ phase: "Failed", message: "Stopped with strategy 'Stop'" });
});

const nonsense: Record<string, object> = {
  "invalid times": {
    startedAt: "yesterday",
    nodes: { wf: { id: "wf", name: "wf", displayName: "wf", type: "Suspend", phase: "Running", startedAt: "later" } },
  },
  "conditions that are not a list": { conditions: "none" },
  "invalid nodes": { nodes: { wf: "gone", x: { id: "x", name: "x", children: "y" } } },
};
for (const [what, status] of Object.entries(nonsense)) {
  test(`a status with ${what} does not prevent a Workflow from ending`, async () => {
    await start();
    await submit({
      entrypoint: "wait",
      activeDeadlineSeconds: 600,
      templates: [{ name: "wait", suspend: { duration: "30" } }],
    });

    await member.change(Workflow, "wf", (object) => ({ ...object, status: status as Workflow["status"] & object }));
    await member.pass(60_000);

    expect((await workflow()).status?.phase).toBe("Succeeded");
  });
}

test("a rejected Workflow with an invalid ttlStrategy is not deleted", async () => {
  await start();

  await submit({ entrypoint: "slow", ttlStrategy: { secondsAfterCompletion: "soon" }, templates: [slow] });
  await member.pass(60_000);

  expect((await workflow()).status).toMatchObject({
    phase: "Error",
    message: expect.stringContaining("secondsAfterCompletion"),
  });
});

test("a Workflow that a client marked as finished without a time is not deleted", async () => {
  await start();
  await submit({ entrypoint: "slow", ttlStrategy: { secondsAfterCompletion: 1 }, templates: [slow] });

  await member.change(Workflow, "wf", (object) => ({ ...object, status: { phase: "Succeeded" as const } }));
  await member.pass(60_000);

  expect((await workflow()).status).toEqual({ phase: "Succeeded" });
});

test("a pod deleted by a client is an error of its node", async () => {
  await start();
  await submit({ entrypoint: "slow", templates: [slow] });
  await member.pass(5_000);

  await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: "wf" });
  await member.pass(60_000);

  expect((await workflow()).status).toMatchObject({ phase: "Error", message: "pod deleted" });
});
