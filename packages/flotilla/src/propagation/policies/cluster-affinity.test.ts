import { expect, test } from "vitest";
import { matchesAffinity, type ClusterAffinity, type ClusterFacts } from "./cluster-affinity.ts";

const oslo: ClusterFacts = {
  metadata: { name: "oslo", labels: { env: "prod" } },
  spec: { provider: "gcp", region: "eu", zones: ["a", "b"] },
};
const bare: ClusterFacts = { metadata: { name: "bare" } };

const field = (
  key: string,
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt",
  ...values: string[]
): ClusterAffinity => ({
  fieldSelector: { matchExpressions: [{ key, operator, values }] },
});

const cases: Record<string, { affinity: ClusterAffinity; cluster?: ClusterFacts; want: boolean }> = {
  "an empty affinity matches every cluster": { affinity: {}, want: true },
  "cluster names restrict": { affinity: { clusterNames: ["paris"] }, want: false },
  "an empty list of cluster names does not restrict": { affinity: { clusterNames: [] }, want: true },
  "an excluded cluster never matches, even when it is named": {
    affinity: { clusterNames: ["oslo"], exclude: ["oslo"] },
    want: false,
  },
  "labels must match": { affinity: { labelSelector: { matchLabels: { env: "test" } } }, want: false },
  "all criteria must match": {
    affinity: { clusterNames: ["oslo"], labelSelector: { matchLabels: { env: "prod" } } },
    want: true,
  },
  "an invalid label selector matches nothing": {
    affinity: { labelSelector: { matchExpressions: [{ key: "env", operator: "Like" }] } },
    want: false,
  },
  "a provider in the list matches": { affinity: field("provider", "In", "aws", "gcp"), want: true },
  "a region outside the list does not match": { affinity: field("region", "In", "us"), want: false },
  "one zone in the list is enough": { affinity: field("zone", "In", "b", "c"), want: true },
  "NotIn fails on one listed zone": { affinity: field("zone", "NotIn", "b"), want: false },
  "NotIn matches a cluster without the property": {
    affinity: field("region", "NotIn", "eu"),
    cluster: bare,
    want: true,
  },
  "In does not match a cluster without the property": {
    affinity: field("region", "In", "eu"),
    cluster: bare,
    want: false,
  },
  "Exists requires the property": { affinity: field("provider", "Exists"), cluster: bare, want: false },
  "DoesNotExist requires its absence": { affinity: field("zone", "DoesNotExist"), cluster: bare, want: true },
  "an operator that is unsupported for clusters matches nothing": { affinity: field("region", "Gt", "1"), want: false },
};
for (const [behaviour, { affinity, cluster = oslo, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(matchesAffinity(cluster, affinity)).toBe(want);
  });
}
