import { describe, expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { Cluster } from "./cluster-kind.ts";
import { clusterRules as admissions } from "./cluster-rules.ts";

const cluster = (spec: object, name = "m1"): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec: { syncMode: "Push", ...spec },
});
const range = (min: string, max: string, name = "cpu"): object => ({ name, min, max });
const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must " +
  "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for " +
  "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

test("a new cluster gets the default resource models, from 0 to unlimited", () => {
  const { resourceModels = [] } = completedBy(admissions, cluster({})).spec;

  expect(resourceModels).toHaveLength(9);
  expect(resourceModels[0]).toEqual({
    grade: 0,
    ranges: [
      { name: "cpu", min: "0", max: "1" },
      { name: "memory", min: "0", max: "4Gi" },
    ],
  });
  expect(resourceModels[8]).toEqual({
    grade: 8,
    ranges: [
      { name: "cpu", min: "128", max: "9223372036854775807" },
      { name: "memory", min: "1Ti", max: "9223372036854775807" },
    ],
  });
});

test("an update that removes the resource models is not defaulted", () => {
  expect(completedBy(admissions, cluster({}), cluster({ resourceModels: [{ grade: 0, ranges: [] }] })).spec).toEqual({
    syncMode: "Push",
  });
});

test("resource models are sorted, start at 0 and end at MaxInt64", () => {
  const given = cluster({
    resourceModels: [
      { grade: 1, ranges: [range("2", "4")] },
      { grade: 0, ranges: [range("1", "2")] },
    ],
  });

  const { resourceModels } = completedBy(admissions, given).spec;

  expect(resourceModels).toEqual([
    { grade: 0, ranges: [range("0", "2")] },
    { grade: 1, ranges: [range("2", "9223372036854775807")] },
  ]);
});

test("a resource model without ranges gets an empty list", () => {
  expect(completedBy(admissions, cluster({ resourceModels: [{ grade: 0 }] })).spec.resourceModels).toEqual([
    { grade: 0, ranges: [] },
  ]);
});

test("the deprecated zone of a cluster becomes the first of its zones", () => {
  expect(completedBy(admissions, cluster({ zone: "z1", resourceModels: [{ grade: 0, ranges: [] }] })).spec).toEqual({
    syncMode: "Push",
    zones: ["z1"],
    resourceModels: [{ grade: 0, ranges: [] }],
  });
});

describe("rejects a cluster", () => {
  const models = (...list: [grade: number, ...ranges: object[]][]): object => ({
    resourceModels: list.map(([grade, ...ranges]) => ({ grade, ranges })),
  });
  const shown = (...list: [grade: number, min: string, max: string, name?: string][]): string =>
    JSON.stringify(list.map(([Grade, Min, Max, Name = "cpu"]) => ({ Grade, Ranges: [{ Name, Min, Max }] })));
  const MAX = "9223372036854775807";
  const form = "; desired format: hostname, hostname:port, IP or IP:port";
  const cases: Record<string, { cluster: Cluster; want: string[] }> = {
    "with a name that is too long for derived names": {
      cluster: cluster({}, "m".repeat(49)),
      want: [`metadata.name: Invalid value: "${"m".repeat(49)}": must be no more than 48 characters`],
    },
    "without a sync mode": {
      cluster: cluster({ syncMode: "" }),
      want: ["spec.syncMode: Required value", 'spec.syncMode: Unsupported value: "": supported values: "Pull", "Push"'],
    },
    "with an endpoint without a host": {
      cluster: cluster({ apiEndpoint: "here" }),
      want: [`spec.apiEndpoint: Invalid value: "": host must be provided${form}`],
    },
    "with an endpoint that is not a URL": {
      cluster: cluster({ apiEndpoint: ":here" }),
      want: [
        `spec.apiEndpoint: Invalid value: ":here": apiEndpoint must be a valid URL: parse ":here": missing protocol scheme${form}`,
      ],
    },
    "with an endpoint that has a user, query or fragment": {
      cluster: cluster({ apiEndpoint: "https://me:secret@a.b/?c=d#e" }),
      want: [
        'spec.apiEndpoint: Invalid value: "me:secret": user information is not permitted in the URL',
        'spec.apiEndpoint: Invalid value: "e": fragments are not permitted in the URL',
        'spec.apiEndpoint: Invalid value: "c=d": query parameters are not permitted in the URL',
      ],
    },
    "with an unsupported proxy scheme": {
      cluster: cluster({ proxyURL: "ftp://a" }),
      want: ['spec.proxyURL: Invalid value: "ftp://a": unsupported scheme "ftp", must be http, https, or socks5'],
    },
    "with secret references without a name": {
      cluster: cluster({ secretRef: { namespace: "karmada-cluster" }, impersonatorSecretRef: {} }),
      want: [
        "spec.secretRef.name: Required value",
        "spec.impersonatorSecretRef.namespace: Required value",
        "spec.impersonatorSecretRef.name: Required value",
      ],
    },
    "with a region or zone that is not a valid label value": {
      cluster: cluster({ region: "a b", zone: "c d" }),
      want: [`spec.region: Invalid value: "a b": ${LABEL_VALUE}`, `spec.Zone: Invalid value: "c d": ${LABEL_VALUE}`],
    },
    "with both zone and zones": {
      cluster: cluster({ zone: "a", zones: ["a"] }),
      want: ['spec.spec: Invalid value: {"zone":"a","zones":["a"]}: Zone and Zones cannot co-exist'],
    },
    "with a duplicate taint": {
      cluster: cluster({
        taints: [
          { key: "a", effect: "NoSchedule" },
          { effect: "NoSchedule", key: "a", value: "b" },
        ],
      }),
      want: [
        'spec.taints[1]: Duplicate value: {"effect":"NoSchedule","key":"a","value":"b"}: taints must be unique by key and effect pair',
      ],
    },
    "with a taint effect that only nodes support": {
      cluster: cluster({ taints: [{ key: "a", effect: "PreferNoSchedule" }] }),
      want: [
        'spec.taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoSchedule", "NoExecute"',
      ],
    },
    "with two resource models of one grade": {
      cluster: cluster(models([1, range("0", "2")], [1, range("2", "4")])),
      want: [
        `spec.resourceModels: Invalid value: ${shown([1, "0", "2"], [1, "2", MAX])}: The grade of each models should not be the same`,
      ],
    },
    "with resource models of different resources": {
      cluster: cluster(models([0, range("0", "2")], [1, range("2", "4", "memory")])),
      want: [
        `spec.resourceModels: Invalid value: ${shown([0, "0", "2"], [1, "2", MAX, "memory"])}: The resource types of each models should be the same`,
      ],
    },
    "with a gap between resource models": {
      cluster: cluster(models([0, range("0", "2")], [1, range("3", "4")])),
      want: [
        `spec.resourceModels: Invalid value: ${shown([0, "0", "2"], [1, "3", MAX])}: Model intervals for resources must be contiguous and non-overlapping`,
      ],
    },
    "with a resource model whose max is below its min": {
      cluster: cluster(models([0, range("0", "2")], [1, range("2", "1")], [2, range("2", "3")])),
      want: [
        `spec.resourceModels: Invalid value: ${shown([0, "0", "2"], [1, "2", "1"], [2, "2", MAX])}: The max ` +
          "value of each resource must be greater than the min value",
      ],
    },
    "with resource models of different numbers of ranges": {
      cluster: cluster(models([0, range("0", "2")], [1])),
      want: [
        "spec.resourceModels: Invalid value: " +
          '[{"Grade":0,"Ranges":[{"Name":"cpu","Min":"0","Max":"2"}]},{"Grade":1,"Ranges":[]}]: The number of ' +
          "resource types should be the same",
      ],
    },
    "with a negative grade": {
      cluster: cluster(models([-1, range("0", "2")])),
      want: ["spec.resourceModels[0].grade: Invalid value: -1: must be greater than or equal to 0"],
    },
  };
  for (const [behaviour, { cluster: given, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problemsOf(admissions, given)).toEqual(want);
    });
  }
});

test("equal quantities in different notations leave no gap between resource models", () => {
  expect(
    problemsOf(
      admissions,
      cluster({
        resourceModels: [
          { grade: 0, ranges: [range("0", "1Gi", "memory")] },
          { grade: 1, ranges: [range("1073741824", "2Gi", "memory")] },
        ],
      }),
    ),
  ).toEqual([]);
});
