import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestWork } from "@flotilla/ocm";
import type { MemberChange } from "../plan-fleet.ts";
import { planTakenManifest } from "./plan-taken-manifest.ts";

const configMap = (data: object, metadata: object = {}): KubernetesObject =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: "web", ...metadata }, data }) as never;
const change: MemberChange = {
  cluster: "oslo",
  action: "create",
  object: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "web" },
  fields: [],
};

function plan(observed: KubernetesObject, type = "Update") {
  const work = {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { namespace: "oslo", name: "web" },
    spec: {
      workload: { manifests: [configMap({ version: "1" })] },
      manifestConfigs: [
        {
          resourceIdentifier: { group: "", resource: "configmaps", namespace: "shop", name: "web" },
          updateStrategy: { type },
        },
      ],
    },
  } as unknown as ManifestWork;
  return planTakenManifest(work, change, observed, () => "configmaps");
}

describe("an object that the member has already", () => {
  test("with the values of the manifest does not change", async () => {
    expect(await plan(configMap({ version: "1" }, { labels: { theirs: "yes" } }))).toEqual({
      outcome: "none",
      note: "oslo has it with these values; the work takes it over",
    });
  });

  test("is taken over, and its data is replaced as a whole", async () => {
    expect(await plan(configMap({ version: "0", more: "1" }))).toEqual({
      outcome: "change",
      change: {
        ...change,
        action: "update",
        fields: [
          { path: "data.version", before: "0", after: "1" },
          { path: "data.more", before: "1", after: undefined },
        ],
        note: "the work takes over the object that exists there",
      },
    });
  });

  test("stays if the work only creates", async () => {
    expect(await plan(configMap({}), "CreateOnly")).toMatchObject({
      outcome: "none",
      note: expect.stringContaining("CreateOnly") as string,
    });
  });

  test("is in conflict if a policy of the hub propagates it", async () => {
    const annotations = { "work.karmada.io/namespace": "karmada-es-oslo", "work.karmada.io/name": "web" };
    const labels = { "karmada.io/managed": "true" };

    expect((await plan(configMap({}, { annotations, labels }))).outcome).toBe("conflict");
  });
});
