import { expect, test } from "vitest";
import { completedBy, review } from "../../../apimachinery/src/kind/test-review.ts";
import type { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { unitedDeploymentRules } from "./uniteddeployment-rules.ts";
import { fromStorage, toStorage } from "./uniteddeployment-versions.ts";
import type { JsonObject } from "@flotilla/base";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

const admissions = unitedDeploymentRules(DEFAULT_GATES);
const pods = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i:1" }] } };
const make = (spec: object): UnitedDeployment => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "UnitedDeployment",
  metadata: { name: "a", namespace: "shop" },
  spec: spec as UnitedDeployment["spec"],
});

test("pools and a bare pod template are expanded, with warnings", () => {
  const { object, problems, warnings } = review(
    admissions,
    make({
      replicas: 2,
      selector: { matchLabels: { app: "a" } },
      template: pods,
      topology: { pools: [{ name: "x" }, { name: "y" }] },
    }),
  );

  expect(problems).toEqual([]);
  expect(object.spec.topology?.subsets).toEqual([{ name: "x" }, { name: "y" }]);
  expect(object.spec.template?.deploymentTemplate).toMatchObject({
    metadata: { labels: { app: "a" } },
    spec: { selector: { matchLabels: { app: "a" } }, template: { metadata: { labels: { app: "a" } } } },
  });
  expect(warnings).toEqual([
    "spec.topology.pools was read as spec.topology.subsets; use spec.topology.subsets",
    "spec.template was read as the pod template of spec.template.deploymentTemplate; use spec.template.deploymentTemplate",
  ]);
});

test("the error for partitions of unknown subsets is bounded in size", () => {
  const partitions = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`subset-${index}`, 1]));
  const template = {
    deploymentTemplate: {
      metadata: { labels: { app: "a" } },
      spec: { selector: { matchLabels: { app: "a" } }, template: pods },
    },
  };

  const { problems } = review(
    admissions,
    make({
      replicas: 1,
      selector: { matchLabels: { app: "a" } },
      template,
      topology: { subsets: [{ name: "subset-0" }] },
      updateStrategy: { type: "Manual", manualUpdate: { partitions } },
    }),
  );

  expect(problems).toHaveLength(16);
  expect(problems[0]).toContain("subset subset-1 does not exist");
});

test("a limit on one subset sets minReplicas on every subset", () => {
  const template = {
    deploymentTemplate: {
      metadata: { labels: { app: "a" } },
      spec: { selector: { matchLabels: { app: "a" } }, template: pods },
    },
  };

  const { spec } = completedBy(
    admissions,
    make({
      replicas: 2,
      selector: { matchLabels: { app: "a" } },
      template,
      topology: { subsets: [{ name: "x", maxReplicas: 1 }, { name: "y" }] },
    }),
  );

  expect(spec.topology?.subsets?.map(({ minReplicas }) => minReplicas)).toEqual([0, 0]);
});

test("CloneSet subsets have the form of CloneSets of the same version", () => {
  const alpha: JsonObject = {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "UnitedDeployment",
    spec: {
      template: {
        cloneSetTemplate: { spec: { scaleStrategy: {}, updateStrategy: { type: "InPlaceOnly", partition: 1 } } },
      },
    },
    status: {
      replicas: 3,
      updatedReplicas: 3,
      currentRevision: "r",
      subsetReplicas: { x: 1, y: 2 },
      subsetStatuses: [
        { name: "x", replicas: 1 },
        { name: "y", replicas: 2, partition: 1 },
      ],
      updateStatus: { updatedRevision: "r", currentPartitions: { x: 0, y: 1 } },
    },
  };

  const beta = toStorage(alpha);

  expect(beta).toMatchObject({
    spec: {
      template: {
        cloneSetTemplate: {
          spec: {
            updateStrategy: { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy: "InPlaceOnly", partition: 1 } },
          },
        },
      },
    },
    status: {
      updatedRevision: "r",
      subsetStatuses: [
        { name: "x", replicas: 1 },
        { name: "y", replicas: 2, partition: 1 },
      ],
    },
  });
  expect(fromStorage(beta)).toEqual(alpha);
});
