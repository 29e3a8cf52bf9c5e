import { describe, expect, test } from "vitest";
import { completedBy, problemsOf } from "../test-review.ts";
import { admissions, type Cluster } from "./cluster.ts";

const cluster = (spec: object, name = "m1"): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec: { syncMode: "Push", ...spec },
});
const range = (min: string, max: string, name = "cpu"): object => ({ name, min, max });
const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

test("a new cluster has models of nodes from nothing to everything", () => {
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

test("a cluster that gives its models up keeps none", () => {
  expect(completedBy(admissions, cluster({}), cluster({ resourceModels: [{ grade: 0, ranges: [] }] })).spec).toEqual({
    syncMode: "Push",
  });
});

test("models are put in order and made to begin at nothing and to end nowhere", () => {
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

test("a model without ranges has an empty list of them", () => {
  expect(completedBy(admissions, cluster({ resourceModels: [{ grade: 0 }] })).spec.resourceModels).toEqual([
    { grade: 0, ranges: [] },
  ]);
});

test("the old zone of a cluster is the first of its zones", () => {
  expect(completedBy(admissions, cluster({ zone: "z1", resourceModels: [{ grade: 0, ranges: [] }] })).spec).toEqual({
    syncMode: "Push",
    zones: ["z1"],
    resourceModels: [{ grade: 0, ranges: [] }],
  });
});

describe("a cluster is refused", () => {
  const models = (...list: [grade: number, ...ranges: object[]][]): object => ({
    resourceModels: list.map(([grade, ...ranges]) => ({ grade, ranges })),
  });
  const shown = (...list: [grade: number, min: string, max: string, name?: string][]): string =>
    JSON.stringify(list.map(([Grade, Min, Max, Name = "cpu"]) => ({ Grade, Ranges: [{ Name, Min, Max }] })));
  const MAX = "9223372036854775807";
  const form = "; desired format: hostname, hostname:port, IP or IP:port";
  const cases: Record<string, { cluster: Cluster; want: string[] }> = {
    "with a name that leaves no room for what is derived from it": {
      cluster: cluster({}, "m".repeat(49)),
      want: [`metadata.name: Invalid value: "${"m".repeat(49)}": must be no more than 48 characters`],
    },
    "without a mode": {
      cluster: cluster({ syncMode: "" }),
      want: ["spec.syncMode: Required value", 'spec.syncMode: Unsupported value: "": supported values: "Pull", "Push"'],
    },
    "whose endpoint has no host": {
      cluster: cluster({ apiEndpoint: "here" }),
      want: [`spec.apiEndpoint: Invalid value: "": host must be provided${form}`],
    },
    "whose endpoint is no URL": {
      cluster: cluster({ apiEndpoint: ":here" }),
      want: [
        `spec.apiEndpoint: Invalid value: ":here": apiEndpoint must be a valid URL: parse ":here": missing protocol scheme${form}`,
      ],
    },
    "whose endpoint says more than where": {
      cluster: cluster({ apiEndpoint: "https://me:secret@a.b/?c=d#e" }),
      want: [
        'spec.apiEndpoint: Invalid value: "me:secret": user information is not permitted in the URL',
        'spec.apiEndpoint: Invalid value: "e": fragments are not permitted in the URL',
        'spec.apiEndpoint: Invalid value: "c=d": query parameters are not permitted in the URL',
      ],
    },
    "behind a proxy of another kind": {
      cluster: cluster({ proxyURL: "ftp://a" }),
      want: ['spec.proxyURL: Invalid value: "ftp://a": unsupported scheme "ftp", must be http, https, or socks5'],
    },
    "whose secrets have no name": {
      cluster: cluster({ secretRef: { namespace: "karmada-cluster" }, impersonatorSecretRef: {} }),
      want: [
        "spec.secretRef.name: Required value",
        "spec.impersonatorSecretRef.namespace: Required value",
        "spec.impersonatorSecretRef.name: Required value",
      ],
    },
    "in a place that no label can name": {
      cluster: cluster({ region: "a b", zone: "c d" }),
      want: [`spec.region: Invalid value: "a b": ${LABEL_VALUE}`, `spec.Zone: Invalid value: "c d": ${LABEL_VALUE}`],
    },
    "with its zone in both forms": {
      cluster: cluster({ zone: "a", zones: ["a"] }),
      want: ['spec.spec: Invalid value: {"zone":"a","zones":["a"]}: Zone and Zones cannot co-exist'],
    },
    "with a taint twice": {
      cluster: cluster({
        taints: [
          { key: "a", effect: "NoSchedule" },
          { effect: "NoSchedule", key: "a", value: "b" },
        ],
      }),
      want: [
        'spec.taints[1]: Duplicate value: {"key":"a","value":"b","effect":"NoSchedule"}: taints must be unique by key and effect pair',
      ],
    },
    "with a taint that only nodes have": {
      cluster: cluster({ taints: [{ key: "a", effect: "PreferNoSchedule" }] }),
      want: [
        'spec.taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoSchedule", "NoExecute"',
      ],
    },
    "with two models of one grade": {
      cluster: cluster(models([1, range("0", "2")], [1, range("2", "4")])),
      want: [
        `spec.resourceModels: Invalid value: ${shown([1, "0", "2"], [1, "2", MAX])}: The grade of each models should not be the same`,
      ],
    },
    "with models of different resources": {
      cluster: cluster(models([0, range("0", "2")], [1, range("2", "4", "memory")])),
      want: [
        `spec.resourceModels: Invalid value: ${shown([0, "0", "2"], [1, "2", MAX, "memory"])}: The resource types of each models should be the same`,
      ],
    },
    "with a gap between models": {
      cluster: cluster(models([0, range("0", "2")], [1, range("3", "4")])),
      want: [
        `spec.resourceModels: Invalid value: ${shown([0, "0", "2"], [1, "3", MAX])}: Model intervals for resources must be contiguous and non-overlapping`,
      ],
    },
    "with a model that holds nothing": {
      cluster: cluster(models([0, range("0", "2")], [1, range("2", "1")], [2, range("2", "3")])),
      want: [
        `spec.resourceModels: Invalid value: ${shown([0, "0", "2"], [1, "2", "1"], [2, "2", MAX])}: The max value of each resource must be greater than the min value`,
      ],
    },
    "with models of different sizes": {
      cluster: cluster(models([0, range("0", "2")], [1])),
      want: [
        'spec.resourceModels: Invalid value: [{"Grade":0,"Ranges":[{"Name":"cpu","Min":"0","Max":"2"}]},{"Grade":1,"Ranges":[]}]: The number of resource types should be the same',
      ],
    },
    "with a grade below nothing": {
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

test("models that meet in one amount meet, however it is written", () => {
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
