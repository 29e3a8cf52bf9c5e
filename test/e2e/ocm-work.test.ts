/** ManifestWorks on a real cluster that the hub reaches, with its own controllers and garbage collector. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppliedManifestWork, ManifestWork } from "@flotilla/ocm";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import type { ManifestWorkSpec } from "@flotilla/ocm";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import { allOfThem, manifestsOfManyKinds } from "../simulation/ocm-work-kinds.ts";
import { noCommands } from "../programs/command-line.ts";
import { eventually } from "../programs/eventually.ts";
import { startRealClusters } from "../programs/real-cluster.ts";
import type { RealCluster } from "../programs/real-cluster.ts";
import { startRealFleet } from "./real-fleet.ts";
import type { RealFleet } from "./real-fleet.ts";
import { findPrograms } from "../programs/real-programs.ts";

const LIMIT_MS = 120_000;
if (noCommands !== undefined) process.stdout.write(`skipped: ManifestWorks on a real member: ${noCommands}\n`);
const binaries =
  noCommands === undefined
    ? findPrograms("ManifestWorks on a real member", "kube-controller-manager", "kube-scheduler", "kwok")
    : undefined;

describe.runIf(binaries !== undefined)("a work for a real member", { timeout: LIMIT_MS }, () => {
  let fleet: RealFleet;
  let member: RealCluster;

  beforeAll(async () => {
    [member] = await startRealClusters(binaries ?? "", "pods", ["member1"]);
    fleet = await startRealFleet("--members", "0");
    await fleet.join(member);
    await eventually(
      "the namespace of its works",
      () => find(fleet.hub(), Namespace, { cluster: "hub", name: "member1" }),
      (namespace) => namespace !== undefined,
    );
  }, LIMIT_MS);
  afterAll(async () => {
    const finished = await fleet?.stop();
    await member?.stop();
    expect(finished?.code, finished?.stderr).toBe(0);
  }, LIMIT_MS);

  const key = (name: string) => ({ cluster: "hub", namespace: "member1", name });
  const onMember = { cluster: "member1", namespace: "default" };
  const create = async (name: string, manifests: JsonObject[], rest: Partial<ManifestWorkSpec> = {}): Promise<void> =>
    void (await fleet.hub().create(ManifestWork, "hub", {
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "ManifestWork",
      metadata: { name, namespace: "member1" },
      spec: { workload: { manifests }, ...rest },
    }));
  const becomes = (name: string, type: string, status: string): Promise<DeepReadonly<ManifestWork> | undefined> =>
    eventually(
      `${name} is ${type} ${status}`,
      () => find(fleet.hub(), ManifestWork, key(name)),
      (work) =>
        work?.status?.conditions?.find(
          (condition) => condition.type === type && condition.observedGeneration === work.metadata.generation,
        )?.status === status,
    );
  const web: JsonObject = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "web:1", resources: { limits: { cpu: "1000m" } } }] },
      },
    },
  };
  const settings = (a: string): JsonObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", namespace: "default" },
    data: { a },
  });

  for (const type of ["Update", "ServerSideApply"] as const) {
    test(`${type}: it is applied, rolled out and updated, writes nothing when converged, and is deleted`, async () => {
      const options = (group: string, resource: string, name: string) => ({
        resourceIdentifier: { group, resource, namespace: "default", name },
        updateStrategy: { type },
        feedbackRules: [{ type: "WellKnownStatus" as const }],
      });
      await create("web", [web, settings("1")], {
        manifestConfigs: [
          options("apps", "deployments", "web"),
          { ...options("", "configmaps", "settings"), feedbackRules: [] },
        ],
      });
      const applied = await becomes("web", "Progressing", "False");
      expect(applied?.status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values).toContainEqual({
        name: "ReadyReplicas",
        fieldValue: { type: "Integer", integer: 2 },
      });

      await fleet
        .hub()
        .patch(
          ManifestWork,
          key("web"),
          { spec: { workload: { manifests: [web, settings("2")] } } },
          { type: "merge" },
        );
      await eventually(
        "changed",
        () => find(member.client, ConfigMap, { ...onMember, name: "settings" }),
        (object) => object?.data?.["a"] === "2",
      );
      await becomes("web", "Applied", "True");
      await member.probed(2);
      member.forgetRequests();
      await member.probed(5);
      const writes = member
        .requests()
        .filter(({ verb, uri }) => ["create", "update", "patch", "delete"].includes(verb) && !uri.includes("/leases"));
      expect(writes).toEqual([]);

      await fleet.hub().delete(ManifestWork, key("web"));
      await eventually(
        "the work is gone",
        () => find(fleet.hub(), ManifestWork, key("web")),
        (work) => work === undefined,
      );
      expect(await find(member.client, Deployment, { ...onMember, name: "web" })).toBeUndefined();
      expect((await member.client.list(AppliedManifestWork, { cluster: "member1" })).items).toEqual([]);
    });
  }

  for (const type of ["Update", "ServerSideApply"] as const) {
    test(`${type}: objects of many kinds are written once, and deleted with the work`, async () => {
      await create("kinds", manifestsOfManyKinds, allOfThem(type));
      const failures = ({ status }: DeepReadonly<ManifestWork>): string[] =>
        status?.resourceStatus?.manifests?.flatMap(({ resourceMeta, conditions }) =>
          conditions
            .filter((condition) => condition.type === "Applied" && condition.status !== "True")
            .map(({ message }) => `${resourceMeta.kind}: ${message}`),
        ) ?? ["nothing yet"];
      await eventually(
        "applied",
        async () => failures(await fleet.hub().get(ManifestWork, key("kinds"))),
        (failed) => failed.length === 0,
      );
      await member.probed(5);
      member.forgetRequests();
      await member.probed(10);
      expect(
        member
          .requests()
          .filter(
            ({ verb, uri }) => ["create", "update", "patch", "delete"].includes(verb) && !uri.includes("/leases"),
          ),
      ).toEqual([]);

      await fleet.hub().delete(ManifestWork, key("kinds"));
      await eventually(
        "the work is gone",
        () => find(fleet.hub(), ManifestWork, key("kinds")),
        (work) => work === undefined,
      );
    });
  }

  test("orphaned objects are not garbage-collected with it", async () => {
    await create("kept", [settings("1")], { deleteOption: { propagationPolicy: "Orphan" } });
    await becomes("kept", "Applied", "True");

    await fleet.hub().delete(ManifestWork, key("kept"));
    await eventually(
      "the work is gone",
      () => find(fleet.hub(), ManifestWork, key("kept")),
      (work) => work === undefined,
    );
    await member.probed(3);

    expect((await find(member.client, ConfigMap, { ...onMember, name: "settings" }))?.data).toEqual({ a: "1" });
  });
});
