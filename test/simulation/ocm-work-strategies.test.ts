/** How a ManifestWork treats single objects: update strategies, ignored fields, feedback, and executor accounts. */
import { beforeEach, describe, expect, test } from "vitest";
import { ClusterRole, ConfigMap, Deployment, RoleBinding, ServiceAccount } from "@flotilla/kubernetes";
import type { ManifestConfigOption } from "@flotilla/ocm";
import type { JsonObject } from "@flotilla/base";
import { configMap, deployment, MEMBER, startWorkFleet, treat, type WorkFleet } from "./ocm-work-fleet.ts";
import { allOfThem, manifestsOfManyKinds } from "./ocm-work-kinds.ts";

const key = (name: string) => ({ cluster: MEMBER, namespace: "default", name });
const web = (rest: Partial<ManifestConfigOption>): { manifestConfigs: ManifestConfigOption[] } => ({
  manifestConfigs: [treat("apps", "deployments", "web", rest)],
});

let works: WorkFleet;
beforeEach(async () => {
  works = await startWorkFleet();
});

/** As a user on the member: kubectl takes over the field. */
async function scale(replicas: number): Promise<void> {
  await works.fleet.client.apply(
    Deployment,
    MEMBER,
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: "default" },
      spec: { replicas },
    } as never,
    { fieldManager: "kubectl", force: true },
  );
  await works.fleet.run(2_000);
}
const replicas = async (): Promise<number | undefined> => (await works.onMember(Deployment, "web"))?.spec.replicas;
const image = async (): Promise<string | undefined> =>
  (await works.onMember(Deployment, "web"))?.spec.template.spec?.containers[0]?.image;
const newImage: JsonObject = {
  spec: {
    workload: {
      manifests: [
        deployment("web", {
          template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:2" }] } },
        }),
      ],
    },
  },
};

describe("Update", () => {
  test("takes over an existing object, and repairs every field", async () => {
    await works.fleet.client.create(ConfigMap, MEMBER, configMap("settings", { theirs: "1" }) as never);
    await works.create("settings", [configMap("settings")]);

    expect((await works.onMember(ConfigMap, "settings"))?.data).toEqual({ a: "1" });
  });

  test("stores stringData of a Secret as data, once", async () => {
    await works.create("secret", [
      { apiVersion: "v1", kind: "Secret", metadata: { name: "key", namespace: "default" }, stringData: { a: "x" } },
    ]);
    works.fleet.resetWrites();
    await works.fleet.run(60_000);

    expect(await works.condition("secret", "Applied")).toBe("True AppliedManifestWorkComplete");
    expect(works.fleet.writes().filter(({ resource }) => resource === "secrets")).toEqual([]);
  });
});

test("CreateOnly creates an object and never changes it", async () => {
  const rest = {
    manifestConfigs: [treat("", "configmaps", "settings", { updateStrategy: { type: "CreateOnly" as const } })],
  };
  await works.create("settings", [configMap("settings")], rest);
  await works.patch("settings", { spec: { workload: { manifests: [configMap("settings", { a: "2" })] } } });

  const object = await works.onMember(ConfigMap, "settings");
  expect(object?.data).toEqual({ a: "1" });
  expect(object?.metadata.ownerReferences).toHaveLength(1);
  expect(await works.condition("settings", "Applied")).toBe("True AppliedManifestWorkComplete");
});

test("ReadOnly writes nothing, and reports the existing object", async () => {
  const rest = {
    manifestConfigs: [
      treat("", "configmaps", "settings", {
        updateStrategy: { type: "ReadOnly" as const },
        feedbackRules: [{ type: "JSONPaths" as const, jsonPaths: [{ name: "a", path: ".data.a" }] }],
      }),
    ],
  };
  await works.create("settings", [configMap("settings", {})], rest);
  expect(await works.condition("settings", "Applied")).toBe("True AppliedManifestWorkComplete");
  expect(await works.condition("settings", "Available")).toBe("False ResourcesNotAvailable");

  await works.fleet.client.create(ConfigMap, MEMBER, configMap("settings", { a: "theirs" }) as never);
  await works.fleet.run(2_000);

  expect(await works.condition("settings", "Available")).toBe("True ResourcesAvailable");
  expect((await works.work("settings")).status?.resourceStatus?.manifests?.[0]?.statusFeedback).toEqual({
    values: [{ name: "a", fieldValue: { type: "String", string: "theirs" } }],
  });
  expect((await works.onMember(ConfigMap, "settings"))?.metadata.ownerReferences ?? []).toEqual([]);
  await works.remove("settings");
  expect(await works.onMember(ConfigMap, "settings")).toBeDefined();
});

describe("ServerSideApply", () => {
  test("reports a conflict with another field manager, without constant retries", async () => {
    await works.create("web", [deployment("web")], web({ updateStrategy: { type: "ServerSideApply" } }));
    expect(await works.condition("web", "Applied")).toBe("True AppliedManifestWorkComplete");
    expect(
      (await works.onMember(Deployment, "web"))?.metadata.managedFields?.map(
        ({ manager, operation }) => `${manager} ${operation}`,
      ),
    ).toContain("work-agent Apply");

    await scale(5);
    expect(await works.manifestCondition("web", 0, "Applied")).toMatch(
      /^False AppliedManifestFailed Failed to apply manifest: Apply failed with 1 conflict: conflict with "kubectl": \.spec\.replicas/,
    );
    expect(await works.condition("web", "Applied")).toBe("False AppliedManifestWorkFailed");
    expect(await replicas()).toBe(5);
    works.fleet.resetWrites();
    await works.fleet.run(600_000);
    expect(
      works.fleet
        .writes()
        .filter(({ resource }) => resource === "deployments.apps")
        .reduce((sum, { count }) => sum + count, 0),
    ).toBeLessThanOrEqual(12);
  });

  test("takes over the field with force, under the given field manager", async () => {
    await works.create(
      "web",
      [deployment("web")],
      web({
        updateStrategy: { type: "ServerSideApply", serverSideApply: { force: true, fieldManager: "work-agent-shop" } },
      }),
    );

    await scale(5);

    expect(await replicas()).toBe(2);
    expect((await works.onMember(Deployment, "web"))?.metadata.managedFields?.map(({ manager }) => manager)).toContain(
      "work-agent-shop",
    );
  });

  test("keeps one object for two works with the same field manager", async () => {
    const rest = {
      manifestConfigs: [treat("", "configmaps", "shared", { updateStrategy: { type: "ServerSideApply" as const } })],
    };
    await works.create("first", [configMap("shared")], rest);
    await works.create("second", [configMap("shared")], rest);
    expect((await works.onMember(ConfigMap, "shared"))?.metadata.ownerReferences).toHaveLength(2);

    await works.remove("first");

    expect((await works.onMember(ConfigMap, "shared"))?.metadata.ownerReferences).toHaveLength(1);
  });

  const ways: Record<string, object> = {
    "a JSON path": { jsonPaths: [".spec.replicas"] },
    "a JSON pointer": { jsonPointers: ["/spec/replicas"] },
    "a jq path": { jqPathExpressions: [".spec.replicas"] },
  };
  for (const [way, fields] of Object.entries(ways)) {
    test(`leaves a field named by ${way} to the member, and still maintains the others`, async () => {
      await works.create(
        "web",
        [deployment("web")],
        web({
          updateStrategy: {
            type: "ServerSideApply",
            serverSideApply: { force: true, ignoreFields: [{ condition: "OnSpokePresent", ...fields }] },
          },
        }),
      );
      expect(await replicas()).toBe(2);

      await scale(5);
      expect(await replicas()).toBe(5);
      await works.patch("web", newImage);
      expect([await replicas(), await image()]).toEqual([5, "web:2"]);

      await works.fleet.client.patch(
        Deployment,
        key("web"),
        { spec: { template: { spec: { containers: [{ name: "web", image: "theirs:1" }] } } } },
        { type: "strategic" },
      );
      await works.fleet.run(2_000);
      expect([await replicas(), await image()]).toEqual([5, "web:2"]);
      expect(await works.condition("web", "Applied")).toBe("True AppliedManifestWorkComplete");
    });
  }

  test("keeps an unowned field when it is left to the member", async () => {
    await works.create(
      "web",
      [deployment("web")],
      web({
        updateStrategy: {
          type: "ServerSideApply",
          serverSideApply: { ignoreFields: [{ condition: "OnSpokePresent", jsonPaths: [".spec.replicas"] }] },
        },
      }),
    );
    const [manifest] = (newImage["spec"] as { workload: { manifests: JsonObject[] } }).workload.manifests;

    await works.patch("web", {
      spec: {
        workload: { manifests: [{ ...manifest, spec: { ...(manifest?.["spec"] as JsonObject), replicas: 7 } }] },
      },
    });

    expect([await replicas(), await image()]).toEqual([2, "web:2"]);
  });

  test("ServerSideApply with OnSpokeChange keeps a change on the member until the work changes", async () => {
    await works.create(
      "web",
      [deployment("web")],
      web({
        updateStrategy: {
          type: "ServerSideApply",
          serverSideApply: {
            force: true,
            ignoreFields: [{ condition: "OnSpokeChange", jsonPaths: [".spec.replicas"] }],
          },
        },
      }),
    );

    await scale(5);
    expect(await replicas()).toBe(5);
    await works.patch("web", newImage);
    expect([await replicas(), await image()]).toEqual([2, "web:2"]);
  });

  test("reports errors in ignoreFields", async () => {
    await works.create(
      "web",
      [deployment("web")],
      web({
        updateStrategy: {
          type: "ServerSideApply",
          serverSideApply: { ignoreFields: [{ condition: "OnSpokePresent", jsonPointers: ["spec"] }] },
        },
      }),
    );

    expect(await works.manifestCondition("web", 0, "Applied")).toBe(
      "False AppliedManifestSSAIgnoreFieldError Failed to process ignoreFields: JSON Pointer error in 'spec': it does not start with a slash",
    );
    expect(await works.onMember(Deployment, "web")).toBeUndefined();
  });
});

describe("feedback", () => {
  test("feedback of a kind without a well-known status fails, and the object is applied anyway", async () => {
    await works.create("settings", [configMap("settings")], {
      manifestConfigs: [treat("", "configmaps", "settings", { feedbackRules: [{ type: "WellKnownStatus" }] })],
    });

    expect(await works.manifestCondition("settings", 0, "StatusFeedbackSynced")).toBe(
      "False StatusFeedbackSyncFailed Sync status feedback failed with error cannot find the wellknown statuses for resource with gvk v1, Kind=ConfigMap",
    );
    expect(await works.condition("settings", "Available")).toBe("True ResourcesAvailable");
  });

  test("returns objects as JSON, up to the maximum length", async () => {
    const paths = [{ name: "all", path: ".data" }];
    await works.create("small", [configMap("small", { b: "2", a: "1" })], {
      manifestConfigs: [treat("", "configmaps", "small", { feedbackRules: [{ type: "JSONPaths", jsonPaths: paths }] })],
    });
    await works.create("large", [configMap("large", { a: "x".repeat(2000) })], {
      manifestConfigs: [treat("", "configmaps", "large", { feedbackRules: [{ type: "JSONPaths", jsonPaths: paths }] })],
    });

    expect((await works.work("small")).status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values).toEqual([
      { name: "all", fieldValue: { type: "JsonRaw", jsonRaw: '{"a":"1","b":"2"}' } },
    ]);
    expect(await works.manifestCondition("large", 0, "StatusFeedbackSynced")).toMatch(
      /^False StatusFeedbackSyncFailed .*larger than the maximum length 1024/,
    );
  });
});

describe("an executor account", () => {
  const executor = {
    subject: { type: "ServiceAccount" as const, serviceAccount: { namespace: "default", name: "deployer" } },
  };
  const grant = async (resources: string[], apiGroups: string[]): Promise<void> => {
    const { client } = works.fleet;
    const verbs = ["get", "create", "update", "patch", "delete"];
    await client.create(ClusterRole, MEMBER, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "deploy" },
      rules: [{ apiGroups, resources, verbs }],
    });
    await client.create(RoleBinding, MEMBER, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "deploy", namespace: "default" },
      subjects: [{ kind: "ServiceAccount", namespace: "default", name: "deployer" }],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "deploy" },
    });
  };
  beforeEach(async () => {
    await works.fleet.client.create(ServiceAccount, MEMBER, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "deployer", namespace: "default" },
    });
  });

  test("needs permission, and is checked again after a minute", async () => {
    await works.create("settings", [configMap("settings")], { executor });
    expect(await works.manifestCondition("settings", 0, "Applied")).toBe(
      "False AppliedManifestFailed Failed to apply manifest: not allowed to apply the resource  configmaps, default settings, will try again in 1m0s",
    );
    expect(await works.onMember(ConfigMap, "settings")).toBeUndefined();

    await grant(["configmaps"], [""]);
    await works.fleet.run(61_000);

    expect(await works.condition("settings", "Applied")).toBe("True AppliedManifestWorkComplete");
    works.fleet.resetWrites();
    await works.fleet.run(300_000);
    expect(works.fleet.writes().filter(({ resource }) => resource.startsWith("subjectaccessreviews"))).toEqual([]);
  });

  test("cannot grant permissions that it does not have", async () => {
    await grant(["roles"], ["rbac.authorization.k8s.io"]);
    const role: JsonObject = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "all", namespace: "default" },
      rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
    };

    await works.create("rights", [role], { executor });

    expect(await works.manifestCondition("rights", 0, "Applied")).toBe(
      "False AppliedManifestFailed Failed to apply manifest: not allowed to apply the resource " +
        "rbac.authorization.k8s.io roles, default all, error: permission escalation, will try again in 1m0s",
    );
  });
});

describe("objects of many kinds", () => {
  for (const type of ["Update", "ServerSideApply"] as const) {
    test(`are written once by ${type}, and a change of one is one write`, async () => {
      await works.create("kinds", manifestsOfManyKinds, allOfThem(type));
      await works.fleet.run(60_000);
      const { status } = await works.work("kinds");
      expect(
        status?.resourceStatus?.manifests?.flatMap(({ resourceMeta, conditions }) =>
          conditions
            .filter((condition) => condition.type === "Applied" && condition.status !== "True")
            .map(({ message }) => `${resourceMeta.kind}: ${message}`),
        ),
      ).toEqual([]);
      works.fleet.resetWrites();
      const written = (): string[] =>
        works.fleet
          .writes()
          .filter(({ part }) => part === "execute")
          .map(({ verb, resource, count }) => `${count} ${verb} ${resource}`);

      await works.fleet.run(300_000);
      expect(written()).toEqual([]);

      await works.patch("kinds", {
        spec: {
          workload: {
            manifests: manifestsOfManyKinds.map((manifest) =>
              manifest["kind"] === "Service"
                ? { ...manifest, spec: { selector: { app: "kinds" }, ports: [{ port: 81 }] } }
                : manifest,
            ),
          },
        },
      });
      expect(await works.condition("kinds", "Applied")).toBe("True AppliedManifestWorkComplete");
      expect(written().filter((line) => !line.endsWith(" services"))).toEqual([]);
    });
  }
});
