import { describe, expect, test } from "vitest";
import type { Pod } from "@flotilla/kubernetes";
import type { Review } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { createPodStartAdmission } from "./pod-readiness-admission.ts";
import { createFeatureGates } from "../api/feature-gates.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const ofKind = (kind: string, apiVersion = "apps.kruise.io/v1beta1") => [
  { apiVersion, kind, name: "web", uid: "u-web", controller: true },
];

function makePod(
  owners: ReturnType<typeof ofKind> = [],
  gates: string[] = [],
  status: Pod["status"] = {},
): DeepReadonly<Pod> {
  const readinessGates = gates.map((conditionType) => ({ conditionType }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "shop", ownerReferences: owners },
    spec: { containers: [], readinessGates: gates.length > 0 ? readinessGates : undefined },
    status,
  };
}

interface Options {
  gates?: Record<string, boolean>;
  namespaceLabels?: Record<string, string>;
  workload?: object;
  review?: Partial<Omit<Review<Pod>, "byController">> & { byController?: boolean };
}

function start({ gates = {}, namespaceLabels = {}, workload, review: changes }: Options = {}) {
  const read = {
    list: () => [],
    get: ({ plural }: { plural: string }) =>
      ({ namespaces: { metadata: { labels: namespaceLabels } }, customresourcedefinitions: {}, clonesets: workload })[
        plural
      ],
  };
  const admission = createPodStartAdmission({
    appliesTo: (cluster) => cluster === "paris",
    isInstalled: () => true,
    gates: createFeatureGates(gates),
    nowMs: () => NOW,
  });
  const review = (object: DeepReadonly<Pod>): Review<Pod> =>
    ({ cluster: "paris", operation: "CREATE", byController: true, object, read, ...changes }) as unknown as Review<Pod>;
  return {
    gatesOf: (pod: DeepReadonly<Pod>) =>
      admission.mutate?.(review(pod))?.spec.readinessGates?.map(({ conditionType }) => conditionType) ?? [],
    prepared: (pod: DeepReadonly<Pod>) => admission.prepare?.(review(pod)) ?? pod,
  };
}

const conditionsOf = ({ status }: DeepReadonly<Pod>): string[] =>
  (status?.conditions ?? []).map(({ type, status: value }) => `${type}=${value}`);

describe("The readiness gate KruisePodReady", () => {
  const cases: Record<string, { pod: DeepReadonly<Pod>; options?: Options; want: string[] }> = {
    "is added to pods of OpenKruise's workloads": { pod: makePod(ofKind("CloneSet")), want: ["KruisePodReady"] },
    "is appended to existing gates": {
      pod: makePod(ofKind("CloneSet"), ["InPlaceUpdateReady"]),
      want: ["InPlaceUpdateReady", "KruisePodReady"],
    },
    "is added once": { pod: makePod(ofKind("CloneSet"), ["KruisePodReady"]), want: ["KruisePodReady"] },
    "is not added to other pods": { pod: makePod(ofKind("ReplicaSet", "apps/v1")), want: [] },
    "is added to all pods with the feature gate": {
      pod: makePod(),
      options: { gates: { KruisePodReadinessGate: true } },
      want: ["KruisePodReady"],
    },
    "is not added in control-plane namespaces": {
      pod: makePod(ofKind("CloneSet")),
      options: { namespaceLabels: { "control-plane": "x" } },
      want: [],
    },
    "is not added in clusters without OpenKruise": {
      pod: makePod(ofKind("CloneSet")),
      options: { review: { cluster: "oslo" } },
      want: [],
    },
    "is not added to existing pods": {
      pod: makePod(ofKind("CloneSet")),
      options: { review: { operation: "UPDATE" } },
      want: [],
    },
  };
  for (const [behaviour, { pod, options, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(start(options).gatesOf(pod)).toEqual(want);
    });
  }
});

describe("A pod stored in the same process as its controllers", () => {
  const gates = ["KruisePodReady", "InPlaceUpdateReady", "example.com/mine"];

  test("is stored with the gates true that the controllers would set, and no others", () => {
    expect(conditionsOf(start().prepared(makePod(ofKind("CloneSet"), gates)))).toEqual([
      "KruisePodReady=True",
      "InPlaceUpdateReady=True",
    ]);
    expect(conditionsOf(start().prepared(makePod(ofKind("ReplicaSet", "apps/v1"), gates)))).toEqual([
      "KruisePodReady=True",
    ]);
  });

  test("is stored unchanged when its controllers run elsewhere", () => {
    expect(
      conditionsOf(start({ review: { byController: false } }).prepared(makePod(ofKind("CloneSet"), gates))),
    ).toEqual([]);
  });

  test("becomes Normal with its node, unless a hook decides", () => {
    const waiting = makePod(ofKind("CloneSet"));
    const labels = { "lifecycle.apps.kruise.io/state": "PreparingNormal" };
    const bound = {
      ...waiting,
      metadata: { ...waiting.metadata, labels },
      spec: { ...waiting.spec, nodeName: "node-000" },
    };
    const stateAfter = (workload: object) =>
      start({ workload, review: { operation: "UPDATE", oldObject: waiting } }).prepared(bound).metadata.labels?.[
        "lifecycle.apps.kruise.io/state"
      ];

    expect([stateAfter({ spec: {} }), stateAfter({ spec: { lifecycle: { preNormal: {} } } })]).toEqual([
      "Normal",
      "PreparingNormal",
    ]);
  });

  test("becomes ready with the write that sets its last gate", () => {
    const closed = [
      { type: "InPlaceUpdateReady", status: "False" },
      { type: "ContainersReady", status: "True" },
      { type: "Ready", status: "False", reason: "ReadinessGatesNotReady" },
    ];
    const before = makePod(ofKind("CloneSet"), ["InPlaceUpdateReady"], { conditions: closed });
    const opened = makePod(ofKind("CloneSet"), ["InPlaceUpdateReady"], {
      conditions: [{ type: "InPlaceUpdateReady", status: "True" }, ...closed.slice(1)],
    });

    const after = start({ review: { operation: "UPDATE", subresource: "status", oldObject: before } }).prepared(opened);

    expect(conditionsOf(after)).toEqual(["InPlaceUpdateReady=True", "ContainersReady=True", "Ready=True"]);
  });
});
