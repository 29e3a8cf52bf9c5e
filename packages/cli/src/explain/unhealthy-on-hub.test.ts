import { expect, test } from "vitest";
import type { DeepReadonly } from "@flotilla/base";
import { CLUSTER_POLICY_NAME, RETAIN_REPLICAS } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { unhealthyOnHub } from "./unhealthy-on-hub.ts";

const template = {
  ...makeDeployment("shop/web").replicas(4).build(),
  status: { observedGeneration: 1, replicas: 4, readyReplicas: 3, updatedReplicas: 4, availableReplicas: 3 },
};
const left = makeBinding(template).targets({ oslo: 2, paris: 2 }).build();
const binding: DeepReadonly<ResourceBinding> = {
  ...left,
  metadata: { ...left.metadata, annotations: { [CLUSTER_POLICY_NAME]: "all" } },
};
const unscheduled = {
  ...binding,
  status: {
    conditions: [
      { type: "Scheduled", status: "False" as const, reason: "r", message: "0/3 clusters", lastTransitionTime: "" },
    ],
  },
};
const COPIES = [
  { cluster: "oslo", replicas: 2 },
  { cluster: "paris", replicas: 2 },
];
const FEWER = [
  { cluster: "oslo", replicas: 1 },
  { cluster: "paris", replicas: 2 },
];
const other = "its members are healthy, but have other replicas than were placed there: oslo has 1 instead of 2; ";

const cases: Record<
  string,
  { binding?: typeof binding; copies?: typeof COPIES; labels?: Record<string, string>; rules?: string[]; want: string }
> = {
  "a policy that was deleted is the cause": {
    binding: left,
    rules: ["retain", "aggregateStatus"],
    want: "no policy selects it any longer: its members keep their copies, and changed replicas do not reach them",
  },
  "a scheduler that places nothing is the cause": { binding: unscheduled, want: "0/3 clusters" },
  "a Retain rule is the cause of other replicas": {
    copies: FEWER,
    rules: ["retain", "aggregateStatus"],
    want: `${other}the Retain rule of rules of shop decides what members keep`,
  },
  "the label is the cause of other replicas": {
    copies: FEWER,
    labels: { [RETAIN_REPLICAS]: "true" },
    want: `${other}the label ${RETAIN_REPLICAS} leaves them to the members`,
  },
  "other replicas are named without a rule, too": {
    copies: FEWER,
    want: `${other}an autoscaler on the member or an override policy may decide them`,
  },
  "a Retain rule is not named where members have their replicas": {
    rules: ["retain", "aggregateStatus", "isHealthy"],
    want:
      "its members are healthy, but its status on the hub is not; the status comes from the AggregateStatus rule " +
      "of rules of shop, and the InterpretHealth rule of rules of shop judges it",
  },
  "otherwise the status on the hub is quoted": {
    want: "its members are healthy, but its status on the hub does not say so yet: 1 of 4 pods is not ready",
  },
};
for (const [behaviour, { binding: of = binding, copies = COPIES, labels, rules = [], want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const asked = { ...template, metadata: { ...template.metadata, labels } };

    expect(
      unhealthyOnHub(asked, of, copies, {
        ownerOf: (rule) => (rules.includes(rule) ? "rules of shop" : undefined),
      }),
    ).toBe(want);
  });
}
