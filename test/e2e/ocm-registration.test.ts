/**
 * Open Cluster Management's own agents against our hub, unchanged: they register a cluster of another process, a user
 * accepts it, they run a CloneSet from a ManifestWork, and remove it.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CertificateSigningRequest, Lease } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { Cluster } from "@flotilla/karmada";
import { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, find, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { findCondition } from "@flotilla/apimachinery";
import { freePort } from "../programs/kube.ts";
import { eventually } from "../programs/eventually.ts";
import { temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";
import { createPrograms, findPrograms, type Programs } from "../programs/real-programs.ts";

const LIMIT_MS = 120_000;
const NAME = "edge";
const hubKey = { cluster: "hub", name: NAME };
const binaries = findPrograms("stock agents of Open Cluster Management", "ocm-registration", "ocm-work");

describe.runIf(binaries !== undefined)("a cluster registered by stock agents", { timeout: LIMIT_MS }, () => {
  const [hubData, memberData, scratch] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const transports: Transport[] = [];
  let hubUp: Up;
  let memberUp: Up;
  let hub: Client;
  let member: Client;
  let programs: Programs;

  async function open(kubeconfig: string, cluster: { root: string } | { only: string }): Promise<Client> {
    const transport = createHttp2Transport({ ...(await connectionOf(await loadKubeconfig(kubeconfig))), cluster });
    transports.push(transport);
    return createClient({ transport, fieldManager: "test" });
  }

  /** The kubeconfig with the token of `clusteradm get token`. */
  async function writeBootstrap(file: string): Promise<void> {
    const { body } = await hub.raw({
      cluster: "hub",
      method: "POST",
      path: "/api/v1/namespaces/open-cluster-management/serviceaccounts/agent-registration-bootstrap/token",
      headers: { "content-type": "application/json" },
      body: Buffer.from(
        JSON.stringify({
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: { expirationSeconds: 3600 },
        }),
      ),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const answer: unknown = JSON.parse(Buffer.concat(chunks).toString());
    const token = isObject(answer) && isObject(answer["status"]) ? answer["status"]["token"] : undefined;
    const { ca } = await connectionOf(await loadKubeconfig(hubUp.kubeconfig("hub")));
    const cluster = { server: hubUp.url, "certificate-authority-data": Buffer.from(String(ca)).toString("base64") };
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "hub", cluster }],
        users: [{ name: "b", user: { token } }],
        contexts: [{ name: "b", context: { cluster: "hub", user: "b" } }],
        "current-context": "b",
      }),
    );
  }

  const managed = (): Promise<DeepReadonly<ManagedCluster> | undefined> => find(hub, ManagedCluster, hubKey);
  const becomes = (type: string, status: string): Promise<unknown> =>
    eventually(
      `${type} ${status}`,
      managed,
      (cluster) => findCondition(cluster?.status?.conditions, type)?.status === status,
    );
  const agentArgs = (): string[] => [
    `--kubeconfig=${memberUp.kubeconfig("member1")}`,
    "--namespace=open-cluster-management-agent",
    `--spoke-cluster-name=${NAME}`,
    "--agent-id=agent1",
    `--hub-kubeconfig-dir=${join(scratch.path, "hub")}`,
    "--disable-leader-election",
  ];
  const isIntroduced = async (): Promise<boolean> => (await managed()) !== undefined;

  beforeAll(async () => {
    [hubUp, memberUp] = await Promise.all([
      up(hubData.path, "--members", "1", "--nodes", "0", "--ephemeral"),
      up(memberData.path, "--members", "1", "--nodes", "2", "--start-ms", "0", "--ephemeral"),
    ]);
    hub = await open(hubUp.kubeconfig("hub"), { root: "hub" });
    member = await open(memberUp.kubeconfig("member1"), { only: "member1" });
    programs = createPrograms(binaries ?? "", scratch.path);
    const bootstrap = join(scratch.path, "bootstrap.json");
    await writeBootstrap(bootstrap);
    await programs.run(
      "ocm-registration",
      ["agent", `--listen=127.0.0.1:${await freePort()}`, `--bootstrap-kubeconfig=${bootstrap}`, ...agentArgs()],
      isIntroduced,
    );
  }, LIMIT_MS);
  afterAll(async () => {
    await programs?.stop();
    for (const transport of transports) await transport.close();
    await Promise.all([hubUp, memberUp].map((running) => running?.stop("SIGTERM")));
    for (const directory of [hubData, memberData, scratch]) directory.remove();
  }, LIMIT_MS);

  test("is accepted by a user, joins, and has a Cluster with sync mode Pull", async () => {
    const [request] = await eventually(
      "the request for a certificate",
      async () => (await hub.list(CertificateSigningRequest, { cluster: "hub" })).items,
      (items) => items.length === 1,
    );
    expect(request?.status?.conditions ?? []).toEqual([]);
    const approval = [{ type: "Approved", status: "True", reason: "Test", message: "by a person" }];
    await hub.patch(
      CertificateSigningRequest,
      { cluster: "hub", name: request?.metadata.name ?? "" },
      { status: { conditions: approval } },
      { type: "merge", subresource: "approval" },
    );
    await hub.patch(ManagedCluster, hubKey, { spec: { hubAcceptsClient: true } }, { type: "merge" });

    await becomes("ManagedClusterJoined", "True");
    await becomes("ManagedClusterConditionAvailable", "True");
    await becomes("ManagedClusterConditionClockSynced", "True");
    await eventually("no taints", managed, (cluster) => (cluster?.spec.taints ?? []).length === 0);
    const face = await eventually(
      "its Cluster",
      () => find(hub, Cluster, hubKey),
      (cluster) => cluster !== undefined,
    );
    expect(face?.spec.syncMode).toBe("Pull");
    expect(
      (await find(hub, Lease, { cluster: "hub", namespace: NAME, name: "managed-cluster-lease" }))?.spec
        ?.holderIdentity,
    ).toBe("managed-cluster-lease");
  });

  test("runs a CloneSet from a ManifestWork, and loses it, its Cluster and its ManagedCluster on deletion", async () => {
    const manifest: JsonObject = {
      apiVersion: "apps.kruise.io/v1alpha1",
      kind: "CloneSet",
      metadata: { name: "web", namespace: "default" },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
      },
    };
    await programs.run(
      "ocm-work",
      [
        "agent",
        `--listen=127.0.0.1:${await freePort()}`,
        `--workload-source-config=${join(scratch.path, "hub", "kubeconfig")}`,
        ...agentArgs(),
      ],
      () => Promise.resolve(true),
    );
    await hub.create(ManifestWork, "hub", {
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "ManifestWork",
      metadata: { name: "web", namespace: NAME },
      spec: { workload: { manifests: [manifest] } },
    });
    const work = (): Promise<DeepReadonly<ManifestWork> | undefined> =>
      find(hub, ManifestWork, { cluster: "hub", namespace: NAME, name: "web" });
    await eventually(
      "the work is applied",
      work,
      (seen) => findCondition(seen?.status?.conditions, "Available")?.status === "True",
    );
    const cloneSet = { cluster: "member1", namespace: "default", name: "web" };
    await eventually(
      "its pods are ready",
      () => find(member, CloneSet, cloneSet),
      (seen) => seen?.status?.readyReplicas === 2,
    );

    await hub.delete(ManagedCluster, hubKey);
    await eventually("the ManagedCluster is gone", managed, (cluster) => cluster === undefined);
    expect(await work()).toBeUndefined();
    await eventually(
      "the Cluster is gone",
      () => find(hub, Cluster, hubKey),
      (cluster) => cluster === undefined,
    );
    await eventually(
      "the CloneSet is gone",
      () => find(member, CloneSet, cloneSet),
      (seen) => seen === undefined,
    );
  });
});
