/**
 * Interoperability in both directions between Flotilla and published Open Cluster Management, with a real
 * kube-apiserver as the member: its agents on our hub, and our agent on its hub. Each propagates a CloneSet and returns
 * its status.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { CustomResourceDefinition, Namespace, ServiceAccount } from "@flotilla/kubernetes";
import { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import {
  connectionOf,
  createClient,
  createHttp2Transport,
  find,
  loadKubeconfig,
  renderKubeconfig,
} from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { findCondition, isConditionTrue, parseYaml } from "@flotilla/apimachinery";
import { connectApi } from "../programs/api-client.ts";
import { freePort, startKube } from "../programs/kube.ts";
import type { RunningKube } from "../programs/kube.ts";
import { eventually } from "../programs/eventually.ts";
import { agent, flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import { createPrograms, findPrograms } from "../programs/real-programs.ts";

const LIMIT_MS = 180_000;
const AGENT_NAMESPACE = "open-cluster-management-agent";
const HUB_NAMESPACE = "open-cluster-management-hub";
const NAMESPACE = "open-cluster-management";
const BOOTSTRAP = "agent-registration-bootstrap";
const CLONE_SETS = "kruise-config/crd/bases/apps.kruise.io_clonesets.yaml";
const HUB_CRDS = "ocm-manifests/cluster-manager/hub/crds";
const MEMBER_CRDS = "ocm-manifests/klusterlet/managed";
/** The version that OpenKruise 1.9 serves. */
const OlderCloneSet = { ...CloneSet, storageVersion: "v1alpha1" };
/** The permissions of a new cluster's agent on a hub, as `clusteradm init` grants them. */
const BOOTSTRAP_RULES = [
  {
    apiGroups: ["certificates.k8s.io"],
    resources: ["certificatesigningrequests"],
    verbs: ["create", "get", "list", "watch"],
  },
  {
    apiGroups: ["cluster.open-cluster-management.io"],
    resources: ["managedclusters"],
    verbs: ["create", "get", "list", "watch"],
  },
  { apiGroups: ["cluster.open-cluster-management.io"], resources: ["managedclustersets/join"], verbs: ["create"] },
];

const binaries =
  findPrograms(
    "Open Cluster Management's programs with ours",
    "kube-controller-manager",
    "ocm-registration",
    "ocm-work",
    CLONE_SETS,
    HUB_CRDS,
    MEMBER_CRDS,
  ) ?? "";

describe.runIf(binaries !== "")(
  "a real cluster, between Flotilla and stock Open Cluster Management",
  { timeout: LIMIT_MS },
  () => {
    const [hubData, files] = [temporaryDirectory(), temporaryDirectory()];
    const programs = createPrograms(binaries, files.path);
    const transports: Transport[] = [];
    const stops: (() => Promise<unknown>)[] = [];
    let member: RunningKube;
    let memberClient: Client;

    async function open(kubeconfig: string, cluster: { root: string } | { only: string }): Promise<Client> {
      const transport = createHttp2Transport({ ...(await connectionOf(await loadKubeconfig(kubeconfig))), cluster });
      transports.push(transport);
      return createClient({ transport, fieldManager: "test" });
    }

    beforeAll(async () => {
      member = await startKube(binaries);
      stops.push(() => member.stop());
      memberClient = await open(member.kubeconfig, { only: "member" });
      await memberClient.create(Namespace, "member", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: AGENT_NAMESPACE },
      });
      await installDefinitions(memberClient, "member", [CLONE_SETS, ...definitionsIn(MEMBER_CRDS)]);
    }, LIMIT_MS);
    afterAll(async () => {
      await programs.stop();
      for (const transport of transports) await transport.close();
      for (const stop of stops.toReversed()) await stop();
      for (const folder of [hubData, files]) folder.remove();
    }, LIMIT_MS);

    async function accept(name: string, hubKubeconfig: string): Promise<void> {
      const accepted = await flotilla("accept", name, "--kubeconfig", hubKubeconfig);
      expect(accepted, accepted.stderr).toMatchObject({ code: 0 });
      expect(accepted.stdout).toContain(`${name} has joined the hub`);
    }

    /**
     * Sends a CloneSet by ManifestWork, waits until its status, which the test writes in place of OpenKruise, is on the
     * hub, and deletes it with the work.
     */
    async function sendCloneSet(hub: Client, cluster: string): Promise<void> {
      const name = `web-${cluster}`;
      const manifest = {
        apiVersion: "apps.kruise.io/v1alpha1",
        kind: "CloneSet",
        metadata: { name, namespace: "default" },
        spec: {
          replicas: 3,
          selector: { matchLabels: { app: name } },
          template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
        },
      };
      const manifestConfigs = [
        {
          resourceIdentifier: { group: "apps.kruise.io", resource: "clonesets", namespace: "default", name },
          feedbackRules: [
            { type: "JSONPaths" as const, jsonPaths: [{ name: "ready", path: ".status.readyReplicas" }] },
          ],
        },
      ];
      const key = { cluster: "member", namespace: "default", name };
      const work = (): Promise<DeepReadonly<ManifestWork> | undefined> =>
        find(hub, ManifestWork, { cluster: "hub", namespace: cluster, name });

      await hub.create(ManifestWork, "hub", {
        apiVersion: "work.open-cluster-management.io/v1",
        kind: "ManifestWork",
        metadata: { name, namespace: cluster },
        spec: { workload: { manifests: [manifest] }, manifestConfigs },
      });
      await eventually(
        "the work is available",
        work,
        (seen) =>
          isConditionTrue(seen?.status?.conditions ?? [], "Applied") &&
          isConditionTrue(seen?.status?.conditions ?? [], "Available"),
      );
      const created = await memberClient.get(OlderCloneSet, key);
      expect(created.spec.replicas).toBe(3);

      await memberClient.patch(
        OlderCloneSet,
        key,
        {
          status: {
            observedGeneration: created.metadata.generation ?? 0,
            replicas: 3,
            readyReplicas: 2,
            availableReplicas: 2,
            updatedReplicas: 3,
            updatedReadyReplicas: 2,
          },
        },
        { type: "merge", subresource: "status" },
      );
      const reported = await eventually(
        "the feedback",
        work,
        (seen) => seen?.status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values?.[0]?.fieldValue.integer === 2,
      );
      expect(reported?.status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values).toEqual([
        { name: "ready", fieldValue: { type: "Integer", integer: 2 } },
      ]);

      await hub.delete(ManifestWork, { cluster: "hub", namespace: cluster, name });
      await eventually("the work is gone", work, (seen) => seen === undefined);
      await eventually(
        "the CloneSet is gone",
        () => find(memberClient, OlderCloneSet, key),
        (seen) => seen === undefined,
      );
    }

    test("stock agents join our hub with our token, and propagate a CloneSet", async () => {
      const hubUp = await up(hubData.path, "--members", "0", "--ephemeral");
      stops.push(() => hubUp.stop("SIGTERM"));
      const hub = await open(hubUp.kubeconfig("hub"), { root: "hub" });
      const bootstrap = join(files.path, "bootstrap.kubeconfig");
      const token = await flotilla(
        "token",
        "--kubeconfig",
        hubUp.kubeconfig("hub"),
        "--bootstrap-kubeconfig",
        bootstrap,
      );
      expect(token, token.stderr).toMatchObject({ code: 0 });
      const credentials = join(files.path, "stock-agent");
      const flags = [
        `--kubeconfig=${member.kubeconfig}`,
        `--namespace=${AGENT_NAMESPACE}`,
        "--spoke-cluster-name=paris",
        "--agent-id=agent1",
        `--hub-kubeconfig-dir=${credentials}`,
        "--disable-leader-election",
      ];
      const isIntroduced = async (): Promise<boolean> =>
        (await find(hub, ManagedCluster, { cluster: "hub", name: "paris" })) !== undefined;

      await programs.run(
        "ocm-registration",
        ["agent", `--listen=127.0.0.1:${await freePort()}`, `--bootstrap-kubeconfig=${bootstrap}`, ...flags],
        isIntroduced,
      );
      await accept("paris", hubUp.kubeconfig("hub"));
      await programs.run(
        "ocm-work",
        [
          "agent",
          `--listen=127.0.0.1:${await freePort()}`,
          `--workload-source-config=${join(credentials, "kubeconfig")}`,
          ...flags,
        ],
        atOnce,
      );
      await sendCloneSet(hub, "paris");

      await eventually(
        "it is available",
        () => hub.get(ManagedCluster, { cluster: "hub", name: "paris" }),
        ({ status }) => isConditionTrue(status?.conditions ?? [], "ManagedClusterConditionAvailable"),
      );
      await programs.stop();
    });

    test("our agent joins a stock hub, and propagates a CloneSet", async () => {
      const kube = await startKube(binaries);
      stops.push(() => kube.stop());
      const hub = await open(kube.kubeconfig, { only: "hub" });
      await startStockHub(kube, hub);
      const bootstrap = await writeBootstrap(kube, hub);

      const running = agent(
        "--bootstrap-kubeconfig",
        bootstrap,
        "--cluster-kubeconfig",
        member.kubeconfig,
        "--cluster-name",
        "oslo",
        "--state",
        join(files.path, "oslo"),
      );
      stops.push(() => running.stop());
      await accept("oslo", kube.kubeconfig);
      await sendCloneSet(hub, "oslo");

      const seen = await eventually(
        "it is available",
        () => hub.get(ManagedCluster, { cluster: "hub", name: "oslo" }),
        ({ status }) => isConditionTrue(status?.conditions ?? [], "ManagedClusterConditionAvailable"),
      );
      expect(findCondition(seen.status?.conditions ?? [], "ManagedClusterJoined")?.status).toBe("True");
      expect(seen.status?.version?.kubernetes).toMatch(/^v1\./);
    });

    /** The published hub controllers, without the operator, and the controller manager that signs certificates. */
    async function startStockHub(kube: RunningKube, hub: Client): Promise<void> {
      for (const name of [HUB_NAMESPACE, NAMESPACE])
        await hub.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await installDefinitions(hub, "hub", definitionsIn(HUB_CRDS));
      const authority = join(dirname(kube.kubeconfig), "pki", "ca.pem");
      const controllers = "namespace,garbagecollector,csrsigning,csrcleaner,clusterrole-aggregation";
      await programs.run(
        "kube-controller-manager",
        [
          `--kubeconfig=${kube.kubeconfig}`,
          "--bind-address=127.0.0.1",
          `--secure-port=${await freePort()}`,
          `--cluster-signing-cert-file=${authority}`,
          `--cluster-signing-key-file=${authority}`,
          `--controllers=${controllers}`,
          "--leader-elect=false",
        ],
        atOnce,
      );
      const flags = async (): Promise<string[]> => [
        `--listen=127.0.0.1:${await freePort()}`,
        `--kubeconfig=${kube.kubeconfig}`,
        `--namespace=${HUB_NAMESPACE}`,
        "--disable-leader-election",
      ];
      await programs.run("ocm-registration", ["controller", ...(await flags())], atOnce);
      await programs.run("ocm-work", ["manager", ...(await flags())], atOnce);
    }

    /** The objects that `clusteradm init` and `clusteradm get token` create. */
    async function writeBootstrap(kube: RunningKube, hub: Client): Promise<string> {
      const rbac = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        metadata: { name: "open-cluster-management:bootstrap" },
      };
      await hub.create(ServiceAccount, "hub", {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: BOOTSTRAP, namespace: NAMESPACE },
      });
      const api = await connectApi(kube.kubeconfig);
      try {
        const post = async (path: string, body: object): Promise<string> => {
          const answer = await api.call("POST", path, JSON.stringify(body));
          expect(answer.status, answer.text()).toBe(201);
          return answer.text();
        };
        await post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
          ...rbac,
          kind: "ClusterRole",
          rules: BOOTSTRAP_RULES,
        });
        await post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
          ...rbac,
          kind: "ClusterRoleBinding",
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: rbac.metadata.name },
          subjects: [{ kind: "ServiceAccount", name: BOOTSTRAP, namespace: NAMESPACE }],
        });
        const answer = await post(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${BOOTSTRAP}/token`, {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: {},
        });
        const { token } = (JSON.parse(answer) as { status: { token: string } }).status;
        const { server, ca } = await connectionOf(await loadKubeconfig(kube.kubeconfig));
        const file = join(files.path, "stock-bootstrap.kubeconfig");
        writeFileSync(file, renderKubeconfig({ name: "hub", server: String(server), ca: String(ca), token }));
        return file;
      } finally {
        api.close();
      }
    }
  },
);

const atOnce = (): Promise<boolean> => Promise.resolve(true);
const definitionsIn = (folder: string): string[] =>
  readdirSync(join(binaries, folder))
    .filter((file) => file.endsWith(".crd.yaml"))
    .map((file) => join(folder, file));

/**
 * Add-on kinds use a conversion webhook that does not run here and whose address is a template; with one stored version
 * it is not needed.
 */
const CONVERSION = /^ {2}conversion:\n(?: {4}.*\n)+/m;
async function installDefinitions(client: Client, cluster: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const definition = parseYaml(
      readFileSync(join(binaries, file), "utf8").replace(CONVERSION, ""),
    ) as unknown as CustomResourceDefinition;
    await client.create(CustomResourceDefinition, cluster, definition);
  }
  const served = (): Promise<{ items: readonly DeepReadonly<CustomResourceDefinition>[] }> =>
    client.list(CustomResourceDefinition, { cluster });
  await eventually(
    "the definitions are established",
    served,
    ({ items }) =>
      items.length >= files.length &&
      items.every(({ status }) => isConditionTrue(status?.conditions ?? [], "Established")),
  );
}
