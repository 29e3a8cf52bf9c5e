import { expect, test } from "vitest";
import type { Kind, Schema } from "@flotilla/apimachinery";
import { kindOfCustomResourceDefinition } from "@flotilla/kubernetes";
import { ocmHubKinds, ocmMemberDefinitions, ocmMemberKinds } from "./ocm-definitions.ts";
import { ManifestWorkReplicaSet } from "./manifestworkreplicaset/manifestworkreplicaset-kind.ts";
import { ManifestWork } from "./manifestwork/manifestwork-kind.ts";

const all = [...ocmHubKinds, ...ocmMemberKinds];
const schemaOf = ({ versions, storageVersion }: Kind): Schema => versions[storageVersion]?.schema ?? {};

/** The schema at a path; `[]` are the items of a list. */
function at(schema: Schema | undefined, ...path: string[]): Schema | undefined {
  return path.reduce<Schema | undefined>(
    (inner, step) => (step === "[]" ? inner?.items : inner?.properties?.[step]),
    schema,
  );
}

test("kinds have their usual short names", () => {
  expect(Object.fromEntries(all.flatMap(({ kind, shortNames }) => (shortNames ? [[kind, shortNames]] : [])))).toEqual({
    ManagedCluster: ["mcl", "mcls"],
    ManagedClusterSet: ["mclset", "mclsets"],
    ManagedClusterSetBinding: ["mclsetbinding", "mclsetbindings"],
    ManifestWork: ["mw"],
    ManifestWorkReplicaSet: ["mwrs"],
  });
});

test("all kinds but ClusterClaim have a status subresource", () => {
  expect(all.filter(({ subresources }) => !subresources.status).map(({ kind }) => kind)).toEqual(["ClusterClaim"]);
});

test("ignoreFields supports three notations, in works and in work templates", () => {
  const rest = ["manifestConfigs", "[]", "updateStrategy", "serverSideApply", "ignoreFields", "[]"];
  const works = [
    at(schemaOf(ManifestWork), "spec", ...rest),
    at(schemaOf(ManifestWorkReplicaSet), "spec", "manifestWorkTemplate", ...rest),
  ];

  for (const ignored of works) {
    expect(Object.keys(ignored?.properties ?? {}).sort()).toEqual([
      "condition",
      "jqPathExpressions",
      "jsonPaths",
      "jsonPointers",
    ]);
    expect(ignored?.required).toEqual(["condition"]);
    expect(ignored?.properties?.["jsonPaths"]).not.toHaveProperty("minItems");
  }
});

test("every kind has a description", () => {
  expect(all.filter((kind) => !schemaOf(kind).description).map(({ kind }) => kind)).toEqual([]);
});

test("an agent installs the CRDs it needs on a member", () => {
  const definitions = ocmMemberDefinitions();

  expect(definitions.map(({ metadata }) => metadata.name)).toEqual([
    "clusterclaims.cluster.open-cluster-management.io",
    "appliedmanifestworks.work.open-cluster-management.io",
  ]);
  expect(definitions.map((definition) => kindOfCustomResourceDefinition(definition).scope)).toEqual([
    "Cluster",
    "Cluster",
  ]);
});
