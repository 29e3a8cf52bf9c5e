/** Open Cluster Management's objects as users write them are accepted, with warnings where they are shorthand. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kindAdmissions } from "@flotilla/server";
import { ocmHubKinds } from "@flotilla/ocm";
import { parseYaml } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createTestServer, PROFILE, type Answered, type TestServer } from "@flotilla/testing/api-server.ts";
import type { JsonObject } from "@flotilla/base";

const FOLDER = new URL("./ocm/", import.meta.url);
const UNBOUND =
  "namespace default has no ManagedClusterSetBinding to default, but the set default counts as bound there; " +
  "the canonical form is a ManagedClusterSetBinding with the name and spec.clusterSet default";
const FEEDBACK =
  "spec.manifestConfigs[0].feedbackRules: WellKnownStatus of clonesets.apps.kruise.io is only supported by " +
  "Flotilla's agents; the canonical form is type JSONPaths with a path for every value";
const bare = (stored: string): string =>
  "spec.workload.manifests[0]: has no name and is taken for the CloneSet default/example-cloneset of " +
  `spec.manifestConfigs[0]${stored}; the canonical form is the whole manifest`;

/** The warnings for files with shorthand. */
const WARNINGS: Readonly<Record<string, string[]>> = {
  "guide-placement-example.yaml": [UNBOUND],
  "guide-production-placement.yaml": ["namespace default has no ManagedClusterSetBinding; no cluster is selected"],
  "guide-placement-example-decision.yaml": [
    "spec.placementRef: was dropped, because a PlacementDecision has no spec; Placement placement-example " +
      "creates its own decisions, and the canonical form is to read those with the label " +
      "cluster.open-cluster-management.io/placement=placement-example",
  ],
  "guide-sidecarset-monitoring.yaml": [
    "metadata.annotations: ocm.io/conditional-deployment is only supported by Flotilla; the canonical form is " +
      "a ManifestWorkReplicaSet with a Placement that selects clusters by label",
  ],
  "introduction-example-cloneset-feedback.yaml": [bare(""), FEEDBACK],
  "guide-cloneset-webapp-production.yaml": [
    'spec.workload.manifests[0].spec.updateStrategy.type: "RollingUpdate" was taken for "ReCreate"; in ' +
      "apps.kruise.io/v1alpha1 write ReCreate, InPlaceIfPossible or InPlaceOnly",
  ],
  "guide-sidecarset-logging-production.yaml": [
    "spec.workload.manifests[0].spec.injectionStrategy.revision.customVersion: members reject a version that " +
      'they do not have yet; the set itself was given version "v1.0" (the label ' +
      "apps.kruise.io/sidecarset-custom-version), and its newest revision is injected",
  ],
  "guide-uniteddeployment-example.yaml": [
    "spec.workload.manifests[0].spec.topology.pools was read as spec.topology.subsets; use spec.topology.subsets",
    "spec.workload.manifests[0].spec.template was read as the pod template of spec.template.deploymentTemplate; use spec.template.deploymentTemplate",
  ],
};

let hub: TestServer;
beforeAll(async () => {
  const profile = {
    ...PROFILE,
    customs: ocmHubKinds,
    objects: [...PROFILE.objects, { apiVersion: "v1", kind: "Namespace", metadata: { name: "cluster1" } }],
  };
  hub = await createTestServer({ profiles: { hub: profile }, admissions: kindAdmissions });
});
afterAll(() => hub.server.close());

const read = (file: string): JsonObject => parseYaml(readFileSync(new URL(file, FOLDER), "utf8")) as JsonObject;
const warningsOf = ({ headers }: Answered): string[] => [headers["warning"] ?? []].flat();
const reported = (...texts: string[]): string[] => texts.map((text) => `299 - ${JSON.stringify(text)}`);

function collectionOf(object: JsonObject): string {
  const { apiVersion, kind, metadata } = object as unknown as KubernetesObject;
  return `/apis/${apiVersion}/namespaces/${metadata.namespace ?? ""}/${kind.toLowerCase()}s`;
}

test.for(readdirSync(FOLDER))("%s applies as written", async (file) => {
  const object = read(file);
  const { name } = object["metadata"] as { name: string };

  const answered = await hub.request("POST", `${collectionOf(object)}?fieldValidation=Strict`, object);
  await hub.request("DELETE", `${collectionOf(object)}/${name}`);

  expect(answered.status).toBe(201);
  expect(warningsOf(answered)).toEqual(reported(...(WARNINGS[file] ?? [])));
});

test.for(["merge-patch+json", "apply-patch+yaml"])(
  "a manifest omitted from a later file keeps its stored form: %s",
  async (type) => {
    const [whole, feedback] = ["introduction-example-cloneset.yaml", "introduction-example-cloneset-feedback.yaml"].map(
      read,
    ) as [JsonObject, JsonObject];
    const path = `${collectionOf(whole)}/example-cloneset`;
    await hub.request("DELETE", path);
    await hub.request("PATCH", `${path}?fieldManager=guide`, whole, { "content-type": "application/apply-patch+yaml" });

    const answered = await hub.request("PATCH", `${path}?fieldManager=guide&fieldValidation=Strict`, feedback, {
      "content-type": `application/${type}`,
    });

    expect(answered.status).toBe(200);
    expect(warningsOf(answered)).toEqual(reported(bare(", as it is stored"), FEEDBACK));
    expect(answered.body["spec"]).toMatchObject({
      workload: (whole["spec"] as JsonObject)["workload"] as JsonObject,
      manifestConfigs: [{ feedbackRules: [{ type: "WellKnownStatus" }] }],
    });
  },
);
