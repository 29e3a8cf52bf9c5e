import { describe, expect, test } from "vitest";
import type { DeepReadonly } from "@flotilla/base";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { Pod } from "@flotilla/kubernetes";
import type { CopyRow } from "@flotilla/web";
import { membersOf, objectView } from "./object-view.ts";
import type { ObjectViewInput, WatchedCopy } from "./object-view.ts";

const REF = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const TEMPLATE = {
  metadata: { name: "web", managedFields: [{ manager: "kubectl" }] },
  spec: { template: { spec: { containers: [{ name: "app", image: "web:2" }] } } },
};
const bindingOf = (binding: object): DeepReadonly<ResourceBinding> =>
  ({ metadata: { name: "web-deployment" }, spec: {}, ...binding }) as unknown as DeepReadonly<ResourceBinding>;
const workOf = (type: string, status: string, message: string): DeepReadonly<Work> =>
  ({
    metadata: { name: "web-work" },
    status: { conditions: [{ type, status, reason: "Because", message }] },
  }) as unknown as DeepReadonly<Work>;
const podOf = (name: string, { image = "web:2", reason = "" } = {}): DeepReadonly<Pod> =>
  ({
    metadata: { name },
    spec: { containers: [{ name: "app", image }] },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: reason === "" ? [] : [{ name: "app", state: { waiting: { reason } } }],
    },
  }) as unknown as DeepReadonly<Pod>;
const copyOf = (copy: Partial<WatchedCopy>): WatchedCopy => ({
  object: { spec: { replicas: 2 }, status: { readyReplicas: 2, updatedReplicas: 1 } },
  isLive: true,
  problem: "",
  pods: [],
  morePods: 0,
  ...copy,
});

function view(input: Partial<ObjectViewInput>) {
  return objectView({
    ref: REF,
    template: TEMPLATE,
    binding: bindingOf({ spec: { clusters: [{ name: "oslo", replicas: 3 }] } }),
    works: new Map(),
    copies: new Map(),
    isReady: () => true,
    notes: [],
    ...input,
  });
}
const report = (status: object): ObjectViewInput["binding"] =>
  bindingOf({
    spec: { clusters: [{ name: "oslo", replicas: 3 }] },
    status: { aggregatedStatus: [{ clusterName: "oslo", ...status }] },
  });

const rows: Record<string, { input: Partial<ObjectViewInput>; want: Partial<CopyRow> }> = {
  "a copy that was not read yet has the replicas of the binding": {
    input: {},
    want: { desired: 3, ready: 0, health: "progressing", live: false, notLive: "" },
  },
  "a copy that is not read shows what the member reported": {
    input: { binding: report({ applied: true, status: { readyReplicas: 3, updatedReplicas: 2 } }) },
    want: { desired: 3, ready: 3, updated: 2, health: "healthy", applied: true, live: false },
  },
  "a copy that is read shows its own state": {
    input: {
      binding: report({ status: { readyReplicas: 0 } }),
      copies: new Map([["oslo", copyOf({ pods: [podOf("web-1")] })]]),
    },
    want: { desired: 2, ready: 2, updated: 1, health: "healthy", live: true },
  },
  "a copy whose watch is broken says why": {
    input: { copies: new Map([["oslo", copyOf({ isLive: false, problem: "forbidden" })]]) },
    want: { ready: 2, live: false, notLive: "forbidden" },
  },
  "a copy on a member that is away is stale": {
    input: { copies: new Map([["oslo", copyOf({})]]), isReady: () => false },
    want: { health: "stale" },
  },
  "a copy with a failing pod has failed": {
    input: {
      copies: new Map([["oslo", copyOf({ pods: [podOf("web-1"), podOf("web-2", { reason: "ImagePullBackOff" })] })]]),
    },
    want: { health: "failed", message: "ImagePullBackOff" },
  },
  "a copy that was rejected has failed, with the reason": {
    input: { works: new Map([["oslo", workOf("Applied", "False", "quota exceeded")]]) },
    want: { health: "failed", applied: false, message: "quota exceeded", work: "web-work" },
  },
  "a copy that is not healthy says why": {
    input: { works: new Map([["oslo", workOf("Healthy", "False", "1 of 2 ready")]]) },
    want: { message: "1 of 2 ready" },
  },
  "a copy that was changed on the member shows the drift": {
    input: { works: new Map([["oslo", workOf("Drifted", "True", "spec.replicas by kubectl")]]) },
    want: { drift: "spec.replicas by kubectl" },
  },
  "a kind without replicas has no numbers": {
    input: {
      binding: bindingOf({
        spec: { clusters: [{ name: "oslo" }] },
        status: { aggregatedStatus: [{ clusterName: "oslo", applied: true }] },
      }),
    },
    want: { desired: -1, ready: -1, updated: -1, health: "healthy" },
  },
  "pods that are not sent are counted": {
    input: {
      copies: new Map([
        ["oslo", copyOf({ pods: Array.from({ length: 70 }, (_, index) => podOf(`web-${index}`)), morePods: 5 })],
      ]),
    },
    want: { morePods: 15 },
  },
};

describe("the view of a workload", () => {
  for (const [what, { input, want }] of Object.entries(rows)) {
    test(what, () => {
      expect(view(input).copies).toEqual([expect.objectContaining(want)]);
    });
  }

  test("marks pods of the template's version", () => {
    const pods = [podOf("web-2", { image: "web:1" }), podOf("web-1")];

    const [row] = view({ copies: new Map([["oslo", copyOf({ pods })]]) }).copies;

    expect(row?.pods.map(({ name, updated }) => [name, updated])).toEqual([
      ["web-1", true],
      ["web-2", false],
    ]);
  });

  test("has the template without managed fields, the policy and what could not be read", () => {
    const annotations = {
      "propagationpolicy.karmada.io/name": "everything",
      "propagationpolicy.karmada.io/namespace": "shop",
    };

    expect(
      view({ binding: bindingOf({ metadata: { name: "web-deployment", annotations } }), notes: ["a note"] }),
    ).toMatchObject({
      template: { metadata: { name: "web" }, spec: TEMPLATE.spec },
      policy: "shop/everything",
      binding: "web-deployment",
      notes: ["a note"],
      copies: [],
    });
  });

  test("has members of the schedule, of dependents and of reports, in natural order", () => {
    const binding = bindingOf({
      spec: { clusters: [{ name: "m10" }], requiredBy: [{ clusters: [{ name: "m2" }] }] },
      status: { aggregatedStatus: [{ clusterName: "m1" }, { clusterName: "m10" }] },
    });

    expect(membersOf(binding)).toEqual(["m1", "m2", "m10"]);
  });
});
