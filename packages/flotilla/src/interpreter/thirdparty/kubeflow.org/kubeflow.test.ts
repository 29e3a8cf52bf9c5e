import { expect, test } from "vitest";
import { deepFreeze, type DeepReadonly, type Json } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { mpiJobInterpreter } from "./mpijob.ts";
import { notebookInterpreter } from "./notebook.ts";
import { pyTorchJobInterpreter } from "./pytorchjob.ts";
import type { TrainingJob } from "./replica-specs.ts";
import { tfJobInterpreter } from "./tfjob.ts";

const make = (kind: string, rest: object = {}): DeepReadonly<TrainingJob> =>
  deepFreeze<TrainingJob>({
    apiVersion: "kubeflow.org/v1",
    kind,
    metadata: { name: "mnist", namespace: "ml" },
    ...rest,
  });
const item = (clusterName: string, status: Json) => ({ clusterName, status });
const ended = (type: string, lastTransitionTime: string): Json => ({
  conditions: [{ type, status: "True", lastTransitionTime }],
});

test("the failure of a TFJob has the members' newest time", () => {
  const items = [
    item("oslo", ended("Failed", "2024-05-01T11:00:00Z")),
    item("paris", ended("Failed", "2024-05-01T10:00:00Z")),
    item("rome", ended("Succeeded", "2024-05-01T12:00:00Z")),
  ];

  expect(tfJobInterpreter.aggregateStatus?.(make("TFJob"), items).status).toEqual({
    conditions: [
      {
        type: "Failed",
        status: "True",
        lastUpdateTime: "2024-05-01T11:00:00Z",
        lastTransitionTime: "2024-05-01T11:00:00Z",
        reason: "TFJobFailed",
        message: "TFJob executed failed in member clusters: oslo, paris",
      },
    ],
  });
});

for (const kind of [pyTorchJobInterpreter, tfJobInterpreter]) {
  test(`a ${kind.kind} that no member runs is not completed`, () => {
    const job = make(kind.kind, {
      status: {
        startTime: "2024-05-01T10:00:00Z",
        completionTime: "2024-05-01T11:00:00Z",
        replicaStatuses: { Worker: { succeeded: 1 } },
        conditions: [{ type: "Succeeded", status: "True" }],
      },
    });

    expect(kind.aggregateStatus?.(job, []).status).toEqual({});
  });

  test(`a ${kind.kind} completes when the last member does`, () => {
    const items = [
      item("oslo", {
        ...(ended("Succeeded", "2024-05-01T11:00:00Z") as object),
        startTime: "2024-05-01T10:30:00Z",
        completionTime: "2024-05-01T11:00:00Z",
        replicaStatuses: { Worker: { succeeded: 1, active: 0 } },
      }),
      item("paris", {
        ...(ended("Succeeded", "2024-05-01T12:00:00Z") as object),
        startTime: "2024-05-01T10:00:00Z",
        completionTime: "2024-05-01T12:00:00Z",
        replicaStatuses: { Worker: { succeeded: 2 } },
      }),
    ];

    expect(kind.aggregateStatus?.(make(kind.kind), items).status).toMatchObject({
      startTime: "2024-05-01T10:00:00Z",
      completionTime: "2024-05-01T12:00:00Z",
      replicaStatuses: { Worker: { succeeded: 3 } },
    });
  });
}

test("a PyTorchJob that no longer runs on any member is not running", () => {
  const running = { type: "Running", status: "True", lastUpdateTime: "2024-05-01T10:00:00Z" };
  const items = [
    item("oslo", { conditions: [running] }),
    item("paris", {
      completionTime: "2024-05-01T11:00:00Z",
      conditions: [running, { type: "Failed", status: "True" }],
    }),
  ];

  const status = pyTorchJobInterpreter.aggregateStatus?.(make("PyTorchJob"), items).status;

  expect(status).toEqual({
    conditions: [
      {
        type: "Running",
        status: "False",
        lastUpdateTime: "2024-05-01T10:00:00Z",
        reason: "PyTorchJobRunning",
        message: "PyTorchJob is running.",
      },
      {
        type: "Failed",
        status: "True",
        lastUpdateTime: "2024-05-01T11:00:00Z",
        lastTransitionTime: "2024-05-01T11:00:00Z",
        reason: "PyTorchJobFailed",
        message: "PyTorchJob executed failed in member clusters: paris",
      },
    ],
  });
});

test("the components of an MPIJob are sorted by name, and workers are included only if requested", () => {
  const job = make("MPIJob", {
    spec: { mpiReplicaSpecs: { Worker: { template: {} }, Launcher: { template: {} }, Observer: { replicas: 2 } } },
  });

  expect(mpiJobInterpreter.components?.(job)).toEqual([
    { name: "Launcher", replicas: 1 },
    { name: "Worker", replicas: 0 },
  ]);
});

test("an MPIJob shows the newest condition of each type, including one without a name", () => {
  const items = [
    item("oslo", {
      conditions: [
        { type: "Running", status: "True", lastUpdateTime: "2024-05-01T10:00:00Z" },
        { lastUpdateTime: "2024-05-01T10:00:00Z" },
      ],
    }),
    item("paris", {
      conditions: [
        { type: "Running", status: "False", lastTransitionTime: "2024-05-01T11:00:00Z" },
        { type: "Failed", status: "True" },
      ],
    }),
  ];

  expect(mpiJobInterpreter.aggregateStatus?.(make("MPIJob"), items).status).toEqual({
    conditions: [
      { type: "Running", status: "False", lastTransitionTime: "2024-05-01T11:00:00Z" },
      { lastUpdateTime: "2024-05-01T10:00:00Z" },
    ],
  });
});

test("Notebooks that all run are ready since the last one started", () => {
  const items = [
    item("oslo", { readyReplicas: 1, containerState: { running: { startedAt: "2024-05-01T11:00:00Z" } } }),
    item("paris", { readyReplicas: 1, containerState: { running: {} } }),
  ];

  expect(notebookInterpreter.aggregateStatus?.(make("Notebook"), items).status).toEqual({
    readyReplicas: 2,
    containerState: { running: { startedAt: "2024-05-01T11:00:00Z" } },
    conditions: [
      {
        type: "Ready",
        status: "True",
        lastProbeTime: "2024-05-01T11:00:00Z",
        lastTransitionTime: "2024-05-01T11:00:00Z",
        reason: "Ready",
        message: "All notebooks are ready",
      },
    ],
  });
});

test("a Notebook that does not run has failed since its member reported so", () => {
  const items = [
    item("oslo", { readyReplicas: 1, containerState: { running: { startedAt: "2024-05-01T11:00:00Z" } } }),
    item("paris", {
      containerState: { waiting: { reason: "ImagePullBackOff" } },
      conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2024-05-01T10:00:00Z" }],
    }),
  ];

  expect(notebookInterpreter.aggregateStatus?.(make("Notebook"), items).status).toEqual({
    readyReplicas: 1,
    containerState: { waiting: { reason: "ImagePullBackOff" } },
    conditions: [
      {
        type: "Failed",
        status: "True",
        lastProbeTime: "2024-05-01T10:00:00Z",
        lastTransitionTime: "2024-05-01T10:00:00Z",
        reason: "NotebookFailed",
        message: "Notebook executed failed in member clusters: paris",
      },
    ],
  });
});

test("a Notebook without a template is one pod without requests", () => {
  expect(notebookInterpreter.replicas?.(make("Notebook"))).toEqual({ replicas: 1 });
});

// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
const kinds: KindInterpreter<any>[] = [mpiJobInterpreter, notebookInterpreter, pyTorchJobInterpreter, tfJobInterpreter];
for (const kind of kinds) {
  test(`aggregating the members of a ${kind.kind} again changes nothing`, () => {
    const items = [
      item("oslo", { ...(ended("Succeeded", "2024-05-01T11:00:00Z") as object), readyReplicas: 1 }),
      item("paris", ended("Failed", "2024-05-01T12:00:00Z")),
    ];
    const summed = kind.aggregateStatus?.(make(kind.kind), items);

    expect(kind.aggregateStatus?.(summed, items)).toBe(summed);
  });

  test(`rejects a ${kind.kind} whose status is not an object`, () => {
    expect(() => kind.isHealthy?.(make(kind.kind, { status: "fine" }))).toThrow(InterpretError);
  });

  test(`ignores invalid values in a ${kind.kind}`, () => {
    const odd = make(kind.kind, {
      spec: { pytorchReplicaSpecs: [], tfReplicaSpecs: 3, mpiReplicaSpecs: { Worker: null } },
      status: { conditions: "none", containerState: 1, replicaStatuses: { Worker: 2 } },
    });

    expect(kind.components?.(odd) ?? []).toEqual([]);
    expect(() => kind.isHealthy?.(odd)).not.toThrow();
    expect(() => kind.reflectStatus?.(odd)).not.toThrow();
    expect(() =>
      kind.aggregateStatus?.(odd, [
        item("oslo", "fine"),
        item("paris", { conditions: [1], replicaStatuses: [], containerState: "up" }),
      ]),
    ).not.toThrow();
  });
}
