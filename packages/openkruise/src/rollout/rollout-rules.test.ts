/** Validation of Rollouts, with the cases of kruise-rollout's webhook. */
import { expect, test } from "vitest";
import type { Review } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Rollout } from "./rollout-kind.ts";
import { rolloutRules } from "./rollout-rules.ts";

const CLONESET = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" };
const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

const beta = (strategy: JsonObject, workloadRef: JsonObject = CLONESET, more: JsonObject = {}): JsonObject => ({
  apiVersion: "rollouts.kruise.io/v1beta1",
  kind: "Rollout",
  metadata: { name: "web", namespace: "shop" },
  spec: { workloadRef, strategy, disabled: false },
  ...more,
});
const canary = (...steps: JsonObject[]): JsonObject => ({ canary: { steps } });
const alpha = (steps: JsonObject[], style?: string): JsonObject => ({
  apiVersion: "rollouts.kruise.io/v1alpha1",
  kind: "Rollout",
  metadata: {
    name: "web",
    namespace: "shop",
    annotations: style === undefined ? {} : { "rollouts.kruise.io/rolling-style": style },
  },
  spec: { objectRef: { workloadRef: DEPLOYMENT }, strategy: { canary: { steps } } },
});

function messages(object: JsonObject, old?: JsonObject, others: JsonObject[] = []): string[] {
  const [rules] = rolloutRules;
  const review = {
    object,
    oldObject: old,
    operation: old ? "UPDATE" : "CREATE",
    cluster: "member1",
    read: { list: () => others },
  } as unknown as Review<Rollout>;
  const errors = rules?.validate?.(review as never) as DeepReadonly<{ message?: string; field?: string }[]>;
  return errors.map(({ field = "", message = "" }) => `${field}: ${message}`);
}

const ROUTING = { service: "web", ingress: { name: "web" } };
const inProgress = { status: { phase: "Progressing" } };
const cases: Record<string, { object: JsonObject; old?: JsonObject; others?: JsonObject[]; want: RegExp | undefined }> =
  {
    "accepts steps of a CloneSet": { object: beta(canary({ replicas: "20%" }, { replicas: "100%" })), want: undefined },
    "accepts numbers and percentages in turn": {
      object: beta(canary({ replicas: 5 }, { replicas: "1%" })),
      want: undefined,
    },
    "rejects another kind": {
      object: beta(canary({ replicas: 1 }), { apiVersion: "batch/v1", kind: "Job", name: "web" }),
      want: /WorkloadRef kind is not supported$/,
    },
    "rejects blue-green of a StatefulSet": {
      object: beta(
        { blueGreen: { steps: [{ replicas: 1 }] } },
        { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" },
      ),
      want: /not supported for bluegreen style/,
    },
    "rejects a strategy without steps": { object: beta(canary()), want: /number of Canary\.Steps cannot be empty/ },
    "rejects both strategies": {
      object: beta({ canary: { steps: [{ replicas: 1 }] }, blueGreen: { steps: [{ replicas: 1 }] } }),
      want: /cannot both be set/,
    },
    "rejects no strategy": { object: beta({}), want: /cannot both be empty/ },
    "rejects a step without replicas": { object: beta(canary({ traffic: "5%" })), want: /replicas cannot be empty/ },
    "rejects more than all pods": {
      object: beta(canary({ replicas: "101%" })),
      want: /replicas must be positive number/,
    },
    "rejects no pods": { object: beta(canary({ replicas: 0 })), want: /replicas must be positive number/ },
    "rejects steps that fall": {
      object: beta(canary({ replicas: "50%" }, { replicas: "20%" })),
      want: /non decreasing sequence/,
    },
    "rejects routes in a step of a partition that updates more than half": {
      object: beta(canary({ replicas: "60%", traffic: "10%" })),
      want: /partition-percent-limit/,
    },
    "accepts them beside a canary Deployment": {
      object: beta(
        { canary: { steps: [{ replicas: "60%", traffic: "10%" }], enableExtraWorkloadForCanary: true } },
        DEPLOYMENT,
      ),
      want: undefined,
    },
    "rejects no share of requests in a canary": {
      object: beta(canary({ replicas: "10%", traffic: "0%" })),
      want: /"0%" < traffic <= "100%" in canary strategy/,
    },
    "rejects two services": {
      object: beta({ canary: { steps: [{ replicas: 1 }], trafficRoutings: [ROUTING, ROUTING] } }),
      want: /single TrafficRouting/,
    },
    "rejects a service without routes": {
      object: beta({ canary: { steps: [{ replicas: 1 }], trafficRoutings: [{ service: "web" }] } }),
      want: /TrafficRoutings are not set/,
    },
    "rejects a second Rollout of a workload": {
      object: beta(canary({ replicas: 1 })),
      others: [beta(canary({ replicas: 1 }), CLONESET, { metadata: { name: "other", namespace: "shop" } })],
      want: /This rollout conflict with Rollout\(shop\/other\)/,
    },
    "rejects another workload during a release": {
      object: beta(canary({ replicas: 1 }), { ...CLONESET, name: "api" }),
      old: beta(canary({ replicas: 1 }), CLONESET, inProgress),
      want: /'ObjectRef' field is immutable/,
    },
    "rejects another number of steps during a release": {
      object: beta(canary({ replicas: 1 }, { replicas: 2 })),
      old: beta(canary({ replicas: 1 }), CLONESET, inProgress),
      want: /Amount of Rollout steps are immutable/,
    },
    "accepts other steps during a release": {
      object: beta(canary({ replicas: 2 })),
      old: beta(canary({ replicas: 1 }), CLONESET, inProgress),
      want: undefined,
    },
    "accepts weights of v1alpha1 as replicas": { object: alpha([{ weight: 20 }, { weight: 100 }]), want: undefined },
    "rejects an unknown style of v1alpha1": {
      object: alpha([{ weight: 20 }], "bluegreen"),
      want: /must be 'Canary', 'Partition' or empty/,
    },
    "rejects a step of v1alpha1 without weight and replicas": {
      object: alpha([{ pause: {} }]),
      want: /cannot be empty/,
    },
  };
test.each(Object.entries(cases))("%s", (_name, { object, old, others, want }) => {
  const found = messages(object, old, others).join("; ");

  expect(found).toMatch(want ?? /^$/);
});
