import { expect, test } from "vitest";
import { deepFreeze } from "@flotilla/base";
import type { Review } from "@flotilla/apimachinery";
import { type Deployment } from "./deployment-kind.ts";
import { rules } from "./deployment-rules.ts";
import { emptyCluster, SOME_KIND } from "../../../apimachinery/src/kind/test-review.ts";

const admission = rules[0];
const base = {
  selector: { matchLabels: { app: "a" } },
  template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
};
const deployment = (spec: object): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "a", namespace: "shop" },
  spec: { ...base, ...spec },
});
const review = (object: Deployment, rest: Partial<Review<Deployment>> = {}): Review<Deployment> => ({
  operation: "CREATE",
  cluster: "hub",
  kind: SOME_KIND,
  version: "v1",
  user: { name: "u", groups: [] },
  object: deepFreeze(object),
  dryRun: false,
  newUid: () => "",
  nowMs: () => 0,
  allows: () => true,
  decide: () => ({ allowed: true, reason: "" }),
  warn() {},
  read: emptyCluster,
  ...rest,
});
const completed = (spec: object, rest?: Partial<Review<Deployment>>): Deployment =>
  admission?.mutate?.(review(deployment(spec), rest)) as Deployment;
const problems = (spec: object, old?: object): string[] =>
  (
    admission?.validate?.(review(completed(spec), old ? { operation: "UPDATE", oldObject: completed(old) } : {})) ?? []
  ).map(({ field, message }) => `${field}: ${message}`);

const defaults: Record<string, [spec: object, want: object]> = {
  "defaults to one replica and 25% rolling updates": [
    {},
    {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
    },
  ],
  "keeps zero replicas": [{ replicas: 0 }, { replicas: 0 }],
  "treats null as unset": [{ replicas: null }, { replicas: 1 }],
  "has no rollingUpdate when the strategy is Recreate": [
    { strategy: { type: "Recreate" } },
    { strategy: { type: "Recreate" } },
  ],
  "defaults the missing half of a rolling update": [
    { strategy: { rollingUpdate: { maxSurge: 1 } } },
    { strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: 1 } } },
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(defaults)) {
  test(`a deployment ${behaviour}`, () => {
    expect(completed(spec).spec).toMatchObject(want);
  });
}

test("a pod template is defaulted without fields that only pods have", () => {
  const { spec } = completed({}).spec.template;

  expect(spec).toEqual({
    containers: [
      {
        name: "c",
        image: "i",
        imagePullPolicy: "Always",
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
      },
    ],
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
});

test("a status update does not change the spec", () => {
  expect(completed({}, { operation: "UPDATE", subresource: "status" }).spec.replicas).toBeUndefined();
});

const refusals: Record<string, [spec: object, want: string[]]> = {
  "negative replicas": [{ replicas: -1 }, ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"]],
  "a selector that does not match the template labels": [
    { selector: { matchLabels: { app: "b" } } },
    ['spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`'],
  ],
  "a maxUnavailable above 100%": [
    { strategy: { rollingUpdate: { maxUnavailable: "101%" } } },
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  ],
  "a rollout with maxUnavailable and maxSurge both 0": [
    { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } },
    ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
  ],
  "a rollingUpdate with the Recreate strategy": [
    { strategy: { type: "Recreate", rollingUpdate: {} } },
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  "a template with activeDeadlineSeconds": [
    { template: { ...base.template, spec: { ...base.template.spec, activeDeadlineSeconds: 5 } } },
    ["spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"],
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(refusals)) {
  test(`rejects ${behaviour}`, () => {
    expect(problems(spec)).toEqual(want);
  });
}

test("the selector is immutable", () => {
  const wider = {
    ...base,
    template: { ...base.template, metadata: { labels: { app: "a", tier: "b" } } },
    selector: { matchLabels: { tier: "b" } },
  };

  expect(problems(wider, {})).toEqual([
    'spec.selector: Invalid value: {"matchLabels":{"tier":"b"}}: field is immutable',
  ]);
});
