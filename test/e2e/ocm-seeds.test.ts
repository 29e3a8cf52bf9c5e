/**
 * The guides' sections on Open Cluster Management as readers run them, on `flotilla up --members 2` with the real
 * kubectl. Their cluster1 and cluster2 are member1 and member2 here; one test per section, each continuing from the
 * previous one.
 */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isObject } from "@flotilla/base";
import { createCommand, noCommands } from "../contract/apiserver/command-line.ts";
import type { CommandLine } from "../contract/apiserver/command-line.ts";
import { eventually } from "./eventually.ts";
import { temporaryDirectory, up } from "./flotilla-process.ts";
import type { Up } from "./flotilla-process.ts";

const LIMIT_MS = 90_000;
const FOLDER = new URL("../seeds/ocm/", import.meta.url);
const MEMBERS = ["member1", "member2"];
const WORKLOADS = [
  "guide-cloneset-example",
  "guide-advanced-statefulset-example",
  "guide-sidecarset-example",
  "guide-uniteddeployment-example",
];
const DEFINITIONS = ["clonesets", "statefulsets", "sidecarsets", "uniteddeployments"].map(
  (plural) => `${plural}.apps.kruise.io`,
);
const read = (file: string): string =>
  readFileSync(new URL(`${file}.yaml`, FOLDER), "utf8").replaceAll("cluster1", "member1");

if (noCommands !== undefined)
  process.stdout.write(`skipped: the guides on Open Cluster Management with kubectl: ${noCommands}\n`);

/** A fleet of the shipped command, and kubectl for each of its clusters. */
interface Fleet {
  kubectl(cluster: string, args: readonly string[], input?: string): Promise<{ stdout: string; stderr: string }>;
  stop(): Promise<number | null>;
}

async function startFleet(...flags: string[]): Promise<Fleet> {
  const directory = temporaryDirectory();
  const running: Up = await up(directory.path, "--start-ms", "0", "--ephemeral", ...flags);
  const commands = new Map<string, CommandLine>();
  const commandOf = (cluster: string): CommandLine => {
    const known = commands.get(cluster) ?? createCommand("kubectl", running.kubeconfig(cluster));
    commands.set(cluster, known);
    return known;
  };
  return {
    async kubectl(cluster, args, input) {
      const { code, stdout, stderr } = await commandOf(cluster).run(args, input);
      expect(code, `kubectl ${args.join(" ")} on ${cluster}: ${stderr}`).toBe(0);
      return { stdout, stderr };
    },
    async stop() {
      const { code } = await running.stop("SIGTERM");
      for (const { remove } of commands.values()) remove();
      directory.remove();
      return code;
    },
  };
}

describe.runIf(noCommands === undefined)(
  "the guides on Open Cluster Management with kubectl",
  { timeout: LIMIT_MS },
  () => {
    let fleet: Fleet;

    beforeAll(async () => void (fleet = await startFleet("--members", "2")), LIMIT_MS);
    afterAll(async () => expect(await fleet.stop()).toBe(0), LIMIT_MS);

    const kubectl = async (cluster: string, ...args: string[]): Promise<string> =>
      (await fleet.kubectl(cluster, args)).stdout;
    const apply = async (...files: string[]): Promise<string> =>
      (await fleet.kubectl("hub", ["apply", "-f", "-"], files.map(read).join("\n---\n"))).stderr;
    /** Polls until the output is the expected one. */
    const until = (want: string, cluster: string, ...args: string[]): Promise<string> =>
      eventually(
        `kubectl ${args.join(" ")} on ${cluster}`,
        async () => (await kubectl(cluster, ...args)).trim(),
        (seen) => seen === want,
      );
    const condition = (type: string): string[] => ["-o", `jsonpath={.status.conditions[?(@.type=="${type}")].status}`];
    const workIs = (name: string, type: string, status: string): Promise<string> =>
      until(status, "hub", "get", "manifestwork", name, "-n", "member1", ...condition(type));
    const names = (list: string): string[] => list.trim().split("\n").filter(Boolean).toSorted();

    test("Bootstrap the Hub Cluster: its components run, and its CRDs are installed", async () => {
      const pods = await kubectl("hub", "get", "pods", "-n", "open-cluster-management-hub");
      const definitions = await kubectl("hub", "get", "crd");

      expect(pods).toMatch(/cluster-manager-placement-controller-\S+ +1\/1 +Running/);
      expect(pods).toMatch(/cluster-manager-registration-controller-\S+ +1\/1 +Running/);
      for (const plural of [
        "manifestworks.work",
        "managedclusters.cluster",
        "placements.cluster",
        "placementdecisions.cluster",
      ])
        expect(definitions).toContain(`${plural}.open-cluster-management.io `);
    });

    test("Join Managed Clusters: both are accepted, joined and available", async () => {
      const row = (name: string): RegExp => new RegExp(`^${name} +true +https://\\S+ +True +True +`, "m");

      const clusters = await eventually(
        "both are available",
        () => kubectl("hub", "get", "managedclusters"),
        (seen) => MEMBERS.every((name) => row(name).test(seen)),
      );

      expect(clusters).toMatch(/^NAME +HUB ACCEPTED +MANAGED CLUSTER URLS +JOINED +AVAILABLE +AGE\n/);
    });

    test("Install OpenKruise on Managed Clusters: its manager runs and its CRDs are installed", async () => {
      for (const member of MEMBERS) {
        expect(await kubectl(member, "get", "pods", "-n", "kruise-system")).toMatch(
          /kruise-controller-manager-\S+ +1\/1 +Running/,
        );
        const definitions = await kubectl(member, "get", "crd");
        for (const name of DEFINITIONS) expect(definitions).toContain(name);
      }
    });

    test("Grant RBAC Access to OCM Agent: the binding for the work agent applies", async () => {
      for (const member of MEMBERS) {
        const binding = await kubectl(
          member,
          "create",
          "clusterrolebinding",
          "ocm-work-agent",
          "--clusterrole=cluster-admin",
          "--serviceaccount=open-cluster-management-agent:klusterlet-work-sa",
          "--dry-run=client",
          "-o",
          "yaml",
        );
        await fleet.kubectl(member, ["apply", "-f", "-"], binding);
        expect(
          await kubectl(member, "get", "clusterrolebinding", "ocm-work-agent", "-o", "jsonpath={.roleRef.name}"),
        ).toBe("cluster-admin");
      }
    });

    test("Verify Complete Setup: agents run on the members, and there is no work yet", async () => {
      for (const member of MEMBERS)
        expect(await kubectl(member, "get", "pods", "-n", "open-cluster-management-agent")).toMatch(
          /klusterlet-\S+ +1\/1 +Running/,
        );
      expect(await kubectl("hub", "get", "manifestwork", "-A")).toBe("");
    });

    test("Troubleshooting Common Issues: the commands succeed", async () => {
      expect(await kubectl("member1", "get", "nodes")).toMatch(/ Ready /);
      expect((await fleet.kubectl("hub", ["get", "csr"])).stderr).toContain("No resources found");
      expect(
        await kubectl("member1", "logs", "-n", "open-cluster-management-agent", "deployment/klusterlet"),
      ).toContain("member1");
      expect(await kubectl("hub", "logs", "-n", "open-cluster-management-hub", "deployment/cluster-manager")).toContain(
        "managed cluster changed",
      );
      await kubectl("hub", "get", "secret", "-n", "open-cluster-management-hub");
    });

    test("ManifestWork for OpenKruise Workloads: the four kinds apply unchanged and only reach their member", async () => {
      const warnings = await apply(...WORKLOADS);
      for (const work of [
        "cloneset-example",
        "advanced-statefulset-example",
        "sidecarset-example",
        "uniteddeployment-example",
      ]) {
        await workIs(work, "Applied", "True");
        await workIs(work, "Available", "True");
      }

      expect(warnings).toContain("spec.workload.manifests[0].spec.topology.pools was read as spec.topology.subsets");
      await until(
        "3",
        "member1",
        "get",
        "cloneset",
        "sample-cloneset",
        "-n",
        "default",
        "-o",
        "jsonpath={.status.readyReplicas}",
      );
      await until(
        "3",
        "member1",
        "get",
        "statefulsets.apps.kruise.io",
        "sample-advanced-statefulset",
        "-n",
        "default",
        "-o",
        "jsonpath={.status.readyReplicas}",
      );
      await until(
        "4",
        "member1",
        "get",
        "uniteddeployment",
        "sample-uniteddeployment",
        "-n",
        "default",
        "-o",
        "jsonpath={.status.readyReplicas}",
      );
      expect(await kubectl("member1", "get", "sidecarset", "sample-sidecarset", "-o", "name")).toBe(
        "sidecarset.apps.kruise.io/sample-sidecarset\n",
      );
      for (const name of DEFINITIONS) expect(await kubectl("member2", "get", name, "-A", "-o", "name"), name).toBe("");
    });

    test("Deployment Examples: the commands show the works and their objects", async () => {
      const works = await kubectl("hub", "get", "manifestwork", "-n", "member1");

      expect(works).toMatch(
        /^NAME +APPLIED +AVAILABLE +AGE\nadvanced-statefulset-example +True +True .*\ncloneset-example +True +True /,
      );
      expect(await kubectl("member1", "get", "cloneset", "-n", "default")).toMatch(
        /sample-cloneset +3 +3 +3 +3 +3 +3 /,
      );
      expect(await kubectl("member1", "get", "appliedmanifestworks", "-o", "name")).toContain("-cloneset-example");
    });

    test("Placement and PlacementDecision: two clusters of the default set are chosen, and a hand-written decision is reported", async () => {
      const warnings = await apply("guide-placement-example", "guide-placement-example-decision");
      await until(
        "2",
        "hub",
        "get",
        "placement",
        "placement-example",
        "-o",
        "jsonpath={.status.numberOfSelectedClusters}",
      );

      const decided = await kubectl(
        "hub",
        "get",
        "placementdecision",
        "-n",
        "default",
        "-l",
        "cluster.open-cluster-management.io/placement=placement-example",
        "-o",
        "jsonpath={range .items[*].status.decisions[*]}{.clusterName}{'\\n'}{end}",
      );
      expect(names(decided)).toEqual(MEMBERS);
      expect(warnings).toContain("the set default counts as bound");
      expect(warnings).toContain("Placement placement-example creates its own decisions");
    });

    test("the introduction: a CloneSet's status is returned, also for the short form that only names it", async () => {
      await apply("introduction-example-cloneset");
      await workIs("example-cloneset", "Available", "True");
      const warnings = await apply("introduction-example-cloneset-feedback");

      const feedback = [
        "get",
        "manifestwork",
        "example-cloneset",
        "-n",
        "member1",
        "-o",
        "jsonpath={range .status.resourceStatus.manifests[0].statusFeedback.values[*]}{.name}={.fieldValue.integer}{'\\n'}{end}",
      ];
      const values = await eventually(
        "the feedback",
        () => kubectl("hub", ...feedback),
        (seen) => names(seen).includes("ReadyReplicas=3"),
      );

      expect(names(values)).toContain("UpdatedReplicas=3");
      expect(warnings).toContain("is taken for the CloneSet default/example-cloneset");
      await kubectl("member1", "scale", "cloneset", "example-cloneset", "-n", "default", "--replicas=7");
      await until(
        "3",
        "member1",
        "get",
        "cloneset",
        "example-cloneset",
        "-n",
        "default",
        "-o",
        "jsonpath={.spec.replicas}",
      );
    });

    test("Multi-Cluster Deployment with Placement: clusters of the set with the label are chosen, once the set exists and is bound", async () => {
      expect(await apply("guide-production-placement", "guide-cloneset-nginx-production")).toContain(
        "namespace default has no ManagedClusterSetBinding; no cluster is selected",
      );
      await workIs("cloneset-nginx-production", "Available", "True");
      const set = {
        apiVersion: "cluster.open-cluster-management.io/v1beta2",
        kind: "ManagedClusterSet",
        metadata: { name: "production-clusters" },
      };
      const binding = {
        apiVersion: "cluster.open-cluster-management.io/v1beta2",
        kind: "ManagedClusterSetBinding",
        metadata: { name: "production-clusters", namespace: "default" },
        spec: { clusterSet: "production-clusters" },
      };

      await fleet.kubectl(
        "hub",
        ["apply", "-f", "-"],
        JSON.stringify({ apiVersion: "v1", kind: "List", items: [set, binding] }),
      );
      await kubectl(
        "hub",
        "label",
        "managedcluster",
        "member2",
        "cluster.open-cluster-management.io/clusterset=production-clusters",
        "environment=production",
        "--overwrite",
      );

      const decided = [
        "get",
        "placementdecision",
        "-n",
        "default",
        "-l",
        "cluster.open-cluster-management.io/placement=production-placement",
        "-o",
        "jsonpath={.items[*].status.decisions[*].clusterName}",
      ];
      await until("member2", "hub", ...decided);
      // The manifest requests three clusters, and the set has one.
      await until("False", "hub", "get", "placement", "production-placement", ...condition("PlacementSatisfied"));
    });

    test("Placement-driven distribution: a ManifestWorkReplicaSet follows the decisions", async () => {
      const template = {
        workload: {
          manifests: [
            {
              apiVersion: "v1",
              kind: "ConfigMap",
              metadata: { name: "everywhere", namespace: "default" },
              data: { from: "hub" },
            },
          ],
        },
      };
      const replicaSet = {
        apiVersion: "work.open-cluster-management.io/v1alpha1",
        kind: "ManifestWorkReplicaSet",
        metadata: { name: "follow", namespace: "default" },
        spec: { placementRefs: [{ name: "production-placement" }], manifestWorkTemplate: template },
      };
      const found = async (member: string): Promise<string> =>
        kubectl(
          member,
          "get",
          "configmap",
          "everywhere",
          "-n",
          "default",
          "--ignore-not-found",
          "-o",
          "jsonpath={.data.from}",
        );
      await fleet.kubectl("hub", ["apply", "-f", "-"], JSON.stringify(replicaSet));
      await eventually(
        "it is on member2",
        () => found("member2"),
        (seen) => seen === "hub",
      );
      expect(await found("member1")).toBe("");

      await kubectl(
        "hub",
        "label",
        "managedcluster",
        "member1",
        "cluster.open-cluster-management.io/clusterset=production-clusters",
        "environment=production",
        "--overwrite",
      );
      await kubectl("hub", "label", "managedcluster", "member2", "environment-");

      await eventually(
        "it is on member1",
        () => found("member1"),
        (seen) => seen === "hub",
      );
      await eventually(
        "it left member2",
        () => found("member2"),
        (seen) => seen === "",
      );
    });

    test("Conditional ManifestWork Deployment: it is applied with the cluster's label, and removed without it", async () => {
      const found = (): Promise<string> =>
        kubectl("member1", "get", "sidecarset", "monitoring-sidecar", "--ignore-not-found", "-o", "name");
      expect(await apply("guide-sidecarset-monitoring")).toContain(
        "ocm.io/conditional-deployment is only supported by Flotilla",
      );
      await workIs("sidecarset-monitoring", "Applied", "False");
      expect(await found()).toBe("");

      await kubectl("hub", "label", "managedcluster", "member1", "monitoring=enabled");
      await workIs("sidecarset-monitoring", "Applied", "True");
      expect(await found()).toBe("sidecarset.apps.kruise.io/monitoring-sidecar\n");

      await kubectl("hub", "label", "managedcluster", "member1", "monitoring-");
      await eventually("it left member1", found, (seen) => seen === "");
    });

    test("ManifestWork with Delete Options: it waits for its namespace, and deletes its objects", async () => {
      await apply("guide-statefulset-database");
      await workIs("statefulset-database", "Applied", "False");
      await kubectl("member1", "create", "namespace", "database");
      await fleet.kubectl("member1", [
        "create",
        "secret",
        "generic",
        "postgres-secret",
        "-n",
        "database",
        "--from-literal=password=secret",
      ]);
      await workIs("statefulset-database", "Available", "True");
      await until(
        "3",
        "member1",
        "get",
        "statefulsets.apps.kruise.io",
        "postgres-statefulset",
        "-n",
        "database",
        "-o",
        "jsonpath={.status.readyReplicas}",
      );

      await kubectl("hub", "delete", "manifestwork", "statefulset-database", "-n", "member1", "--timeout=20s");

      expect(await kubectl("member1", "get", "statefulsets.apps.kruise.io", "-n", "database", "-o", "name")).toBe("");
    });

    test("Workload-Specific Best Practices: the production works reach the member", async () => {
      const files = readdirSync(FOLDER)
        .filter((file) => /^guide-.*-production\.yaml$/.test(file))
        .map((file) => file.replace(".yaml", ""));
      expect(files).toHaveLength(5);
      await fleet.kubectl("member1", [
        "create",
        "secret",
        "generic",
        "mysql-secret",
        "-n",
        "database",
        "--from-literal=root-password=secret",
      ]);
      await fleet.kubectl("member1", ["create", "configmap", "fluentd-config", "-n", "default"]);
      await fleet.kubectl(
        "member1",
        ["apply", "-f", "-"],
        JSON.stringify({
          apiVersion: "storage.k8s.io/v1",
          kind: "StorageClass",
          metadata: { name: "fast-ssd" },
          provisioner: "example.com/disk",
        }),
      );

      await apply(...files);

      for (const file of files) await workIs(file.replace("guide-", ""), "Available", "True");
      const ready = ["-o", "jsonpath={.status.readyReplicas}"];
      await until("5", "member1", "get", "cloneset", "webapp-cloneset", "-n", "default", ...ready);
      await until(
        "3",
        "member1",
        "get",
        "statefulsets.apps.kruise.io",
        "mysql-statefulset",
        "-n",
        "database",
        ...ready,
      );
    });

    test("every file applies again without a spec change", async () => {
      // If two files define the same work, the later one is stored.
      const files = readdirSync(FOLDER)
        .filter((file) => file !== "introduction-example-cloneset.yaml")
        .map((file) => file.replace(".yaml", ""));
      await apply(...files);
      const generations = (): Promise<string> =>
        kubectl(
          "hub",
          "get",
          "manifestwork,placement",
          "-A",
          "-o",
          "jsonpath={range .items[*]}{.metadata.name} {.metadata.generation}{'\\n'}{end}",
        );
      const before = await generations();

      await apply(...files);

      expect(names(before).length).toBeGreaterThan(12);
      expect(await generations()).toBe(before);
    });

    test("OCM Debugging: the commands succeed", async () => {
      expect(await kubectl("hub", "get", "pods", "-n", "open-cluster-management-hub")).toContain(
        "cluster-manager-work-controller",
      );
      expect(names(await kubectl("hub", "get", "managedclusters", "-o", "name"))).toHaveLength(2);
      expect(await kubectl("hub", "get", "manifestwork", "-A")).toMatch(/^NAMESPACE +NAME +APPLIED +AVAILABLE +AGE\n/);
      expect(await kubectl("hub", "get", "placement")).toMatch(
        /^NAME +SUCCEEDED +REASON +SELECTEDCLUSTERS\nplacement-example /,
      );
      expect(await kubectl("hub", "get", "placementdecision")).toContain("production-placement-decision-1");
      expect(await kubectl("member2", "get", "pods", "-n", "open-cluster-management-agent")).toContain("klusterlet");
      expect(await kubectl("hub", "describe", "manifestwork", "cloneset-example", "-n", "member1")).toMatch(
        /Type: +Available\n/,
      );
    });
  },
);

describe.runIf(noCommands === undefined)(
  "OpenKruise CRD Distribution: members without OpenKruise",
  { timeout: LIMIT_MS },
  () => {
    let equipped: Fleet;
    let bare: Fleet;

    beforeAll(
      async () =>
        void ([equipped, bare] = await Promise.all([
          startFleet("--members", "1"),
          startFleet("--members", "1", "--kruise", "none"),
        ])),
      LIMIT_MS,
    );
    afterAll(async () => void (await Promise.all([equipped, bare].map((fleet) => fleet?.stop()))), LIMIT_MS);

    test("get its CRDs and a workload of each kind by ManifestWork, in any order", async () => {
      const { stdout } = await equipped.kubectl("member1", ["get", "crd", ...DEFINITIONS, "-o", "json"]);
      const definitions = (
        JSON.parse(stdout) as {
          items: { apiVersion: string; kind: string; metadata: { name: string }; spec: object }[];
        }
      ).items.map(({ apiVersion, kind, metadata: { name }, spec }) => ({ apiVersion, kind, metadata: { name }, spec }));
      expect(definitions.every(({ spec }) => isObject(spec))).toBe(true);
      const workOf = ({ metadata: { name }, ...rest }: (typeof definitions)[number]): object => ({
        apiVersion: "work.open-cluster-management.io/v1",
        kind: "ManifestWork",
        metadata: { name: `crd-${name}`, namespace: "member1" },
        spec: { workload: { manifests: [{ ...rest, metadata: { name } }] } },
      });

      // The workloads are applied first, like a reader who forgot the CRDs would.
      await bare.kubectl("hub", ["apply", "-f", "-"], WORKLOADS.map(read).join("\n---\n"));
      // CRDs are too large for the annotation of a client-side apply.
      await bare.kubectl(
        "hub",
        ["apply", "--server-side", "-f", "-"],
        JSON.stringify({ apiVersion: "v1", kind: "List", items: definitions.map(workOf) }),
      );

      const works = async (): Promise<string> =>
        (await bare.kubectl("hub", ["get", "manifestwork", "-n", "member1", "--no-headers"])).stdout;
      await eventually("all works are available", works, (seen) =>
        seen
          .trim()
          .split("\n")
          .every((line) => /^\S+ +True +True /.test(line)),
      );
      for (const name of DEFINITIONS)
        expect((await bare.kubectl("member1", ["get", name, "-A", "-o", "name"])).stdout, name).toMatch(/\/sample-/);
    });
  },
);
