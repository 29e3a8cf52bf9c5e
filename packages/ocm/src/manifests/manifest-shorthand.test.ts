import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { expandManifests } from "./manifest-shorthand.ts";

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const manifest = (kind: string, spec: JsonObject): JsonObject => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind,
  metadata: { name: "web" },
  spec,
});
const workOf = (...manifests: JsonObject[]): JsonObject => ({ spec: { workload: { manifests } } });

function plain(...manifests: JsonObject[]): { manifests: JsonObject[]; warnings: string[] } {
  const warnings: string[] = [];
  const work = expandManifests(workOf(...manifests), ["spec"], (text) => warnings.push(text)) as {
    spec: { workload: { manifests: JsonObject[] } };
  };
  return { manifests: work.spec.workload.manifests, warnings };
}

test("short forms of OpenKruise's kinds are expanded for the member, with a warning", () => {
  const { manifests, warnings } = plain(
    manifest("CloneSet", { template, updateStrategy: { type: "RollingUpdate" } }),
    manifest("UnitedDeployment", {
      selector: { matchLabels: { app: "web" } },
      template,
      topology: { pools: [{ name: "a" }] },
    }),
    manifest("SidecarSet", { selector: {}, injectionStrategy: { revision: { customVersion: "v1" } } }),
  );

  expect(manifests).toMatchObject([
    { spec: { selector: { matchLabels: { app: "web" } }, updateStrategy: { type: "ReCreate" } } },
    { spec: { template: { deploymentTemplate: { spec: { template } } }, topology: { subsets: [{ name: "a" }] } } },
    { metadata: { labels: { "apps.kruise.io/sidecarset-custom-version": "v1" } }, spec: { selector: {} } },
  ]);
  expect(warnings.map((text) => text.split(/[: ]/)[0])).toEqual([
    "spec.workload.manifests[0].spec.selector",
    "spec.workload.manifests[0].spec.updateStrategy.type",
    "spec.workload.manifests[1].spec.topology.pools",
    "spec.workload.manifests[1].spec.template",
    "spec.workload.manifests[2].spec.injectionStrategy.revision.customVersion",
  ]);
});

test("full forms are unchanged and cause no warning", () => {
  const once = plain(manifest("CloneSet", { template, updateStrategy: { type: "RollingUpdate" } })).manifests;
  const work = workOf(...once, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "web" },
    spec: { template },
  });

  expect(expandManifests(work, ["spec"], () => expect.unreachable())).toBe(work);
});

test("values of other types are left to the schema", () => {
  const hostile = [
    null,
    5,
    "x",
    [],
    { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" },
    manifest("CloneSet", { template: 5, updateStrategy: "x" }),
    manifest("UnitedDeployment", { topology: [], template: "x" }),
    manifest("SidecarSet", { injectionStrategy: 5 }),
  ];

  for (const object of [
    {},
    { spec: 5 },
    { spec: { workload: null } },
    { spec: { workload: { manifests: "x" } } },
    { spec: { workload: { manifests: hostile } } },
  ] as JsonObject[]) {
    expect(expandManifests(object, ["spec"], () => {})).toEqual(object);
  }
});
