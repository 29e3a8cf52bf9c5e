/**
 * `bin/node24 tools/conformance/stock-karmada.ts`: runs a whole stock Karmada whose API server is an empty logical cluster
 * of Flotilla, joins two simulated members to it, and propagates Deployments to them. docs/conformance.md has the last
 * result.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { startFlotilla } from "../bench/process.ts";
import { usageOf } from "./stock-programs.ts";
import type { Kubectl, StockRun } from "./stock-programs.ts";

const PROGRAMS = [
  "etcd",
  "kube-controller-manager",
  "kubectl",
  "karmadactl",
  "karmada-aggregated-apiserver",
  "karmada-controller-manager",
  "karmada-metrics-adapter",
  "karmada-scheduler",
  "karmada-search",
  "karmada-webhook",
  "karmada-source",
];
const MEMBERS = ["member1", "member2"];

async function main(run: StockRun, deployments: number): Promise<void> {
  const { bin, folder, base } = run;
  const ports = {
    etcd: base,
    etcdPeer: base + 1,
    aggregated: base + 2,
    webhook: base + 3,
    search: base + 4,
    metrics: base + 11,
  };
  const authority = await createCertificateAuthority({ clock: systemClock });
  const serving = await authority.issueServing(
    ["karmada-aggregated-apiserver", "karmada-webhook", "karmada-search", "karmada-metrics-adapter"].map(
      (name) => `${name}.karmada-system.svc`,
    ),
  );
  const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  writeFileSync(cert, serving.certificate);
  writeFileSync(key, serving.key, { mode: 0o600 });
  const caBundle = Buffer.from(authority.certificate).toString("base64");

  const fleet = await startFlotilla(["--members", String(MEMBERS.length), "--kruise", "none"]);
  run.onStop(() => fleet.stop());
  const kubeconfig = run.makeCluster(fleet.kubeconfig("hub"), "karmada");
  const kubectl = run.kubectl(kubeconfig);
  run.mark("logical cluster created");

  const source = join(bin, "karmada-source");
  const manifest = (name: string): string =>
    readFileSync(join(source, "artifacts/deploy", name), "utf8").replaceAll("{{caBundle}}", caBundle);
  kubectl(["apply", "-f", join(source, "artifacts/deploy/namespace.yaml")]);
  kubectl(["apply", "--server-side", "-R", "-f", join(source, "charts/karmada/_crds/bases")]);
  for (const name of ["resourcebindings", "clusterresourcebindings"])
    kubectl([
      "patch",
      "crd",
      `${name}.work.karmada.io`,
      "--type=merge",
      "-p",
      JSON.stringify({
        spec: {
          conversion: {
            strategy: "Webhook",
            webhook: {
              clientConfig: { url: `https://127.0.0.1:${ports.webhook}/convert`, caBundle },
              conversionReviewVersions: ["v1"],
            },
          },
        },
      }),
    ]);
  const local = (text: string, port: number): string =>
    text
      .replaceAll(/externalName: .*/g, "externalName: localhost")
      .replaceAll(/^    namespace: +karmada-system/gm, `    namespace: karmada-system\n    port: ${port}`);
  kubectl(
    ["apply", "-f", "-"],
    manifest("webhook-configuration.yaml").replaceAll(
      "https://karmada-webhook.karmada-system.svc:443",
      `https://127.0.0.1:${ports.webhook}`,
    ),
  );
  kubectl(["apply", "-f", "-"], local(manifest("karmada-aggregated-apiserver-apiservice.yaml"), ports.aggregated));
  kubectl(["apply", "-f", "-"], local(manifest("karmada-search-apiservice.yaml"), ports.search));
  kubectl(["apply", "-f", "-"], local(manifest("karmada-metrics-adapter-apiservice.yaml"), ports.metrics));
  // Karmada's administrator is system:admin; that of a logical cluster is admin.
  kubectl(["apply", "-f", "-"], manifest("cluster-proxy-admin-rbac.yaml").replaceAll("system:admin", "admin"));
  run.mark("definitions, webhooks and APIServices applied");

  const data = join(folder, "etcd");
  mkdirSync(data);
  run.start("etcd", [
    `--data-dir=${data}`,
    `--listen-client-urls=http://127.0.0.1:${ports.etcd}`,
    `--advertise-client-urls=http://127.0.0.1:${ports.etcd}`,
    `--listen-peer-urls=http://127.0.0.1:${ports.etcdPeer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${ports.etcdPeer}`,
    `--initial-cluster=default=http://127.0.0.1:${ports.etcdPeer}`,
  ]);
  const serves = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--tls-cert-file=${cert}`,
    `--tls-private-key-file=${key}`,
    "--bind-address=127.0.0.1",
  ];
  const stores = [...serves, `--etcd-servers=http://127.0.0.1:${ports.etcd}`];
  run.start("karmada-aggregated-apiserver", [...stores, `--secure-port=${ports.aggregated}`]);
  run.start("karmada-search", [...stores, `--secure-port=${ports.search}`]);
  run.start("karmada-metrics-adapter", [
    ...serves,
    `--secure-port=${ports.metrics}`,
    `--metrics-bind-address=127.0.0.1:${base + 12}`,
  ]);
  run.start("karmada-webhook", [
    `--kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${ports.webhook}`,
    `--cert-dir=${folder}`,
    `--metrics-bind-address=127.0.0.1:${base + 5}`,
    `--health-probe-bind-address=127.0.0.1:${base + 6}`,
  ]);
  run.start("karmada-controller-manager", [
    `--kubeconfig=${kubeconfig}`,
    "--cluster-status-update-frequency=10s",
    `--metrics-bind-address=127.0.0.1:${base + 7}`,
    `--health-probe-bind-address=127.0.0.1:${base + 8}`,
  ]);
  run.start("karmada-scheduler", [
    `--kubeconfig=${kubeconfig}`,
    `--metrics-bind-address=127.0.0.1:${base + 9}`,
    `--health-probe-bind-address=127.0.0.1:${base + 10}`,
  ]);
  for (const name of ["v1alpha1.cluster.karmada.io", "v1alpha1.search.karmada.io", "v1beta1.metrics.k8s.io"])
    await run.until(`APIService ${name} is available`, 90, () =>
      kubectl(["get", "apiservice", name, "-o", "json"]).includes('"reason": "Passed"'),
    );
  run.mark("APIServices available");

  for (const member of MEMBERS)
    run.command("karmadactl", [
      "join",
      member,
      "--kubeconfig",
      kubeconfig,
      "--cluster-kubeconfig",
      fleet.kubeconfig(member),
    ]);
  kubectl(["wait", "--for=condition=Ready", ...MEMBERS.map((member) => `cluster/${member}`), "--timeout=120s"]);
  run.mark("members joined and Ready");

  kubectl(["create", "namespace", "shop"]);
  kubectl(["apply", "-f", "-"], JSON.stringify(policy()));
  kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: workloads(deployments) }));
  run.mark(`${deployments} Deployments applied`);
  await run.until(`${deployments} Deployments are ready`, 300, () => {
    const { items } = JSON.parse(kubectl(["-n", "shop", "get", "deployments", "-o", "json"])) as DeploymentList;
    return items.filter(({ status }) => status?.readyReplicas === 2).length === deployments;
  });
  run.mark(`${deployments} Deployments ready on the members, and their status is back`);

  const counts = MEMBERS.map(
    (member) =>
      run.kubectl(fleet.kubeconfig(member))(["-n", "shop", "get", "deployments", "-o", "name"]).split("\n").length - 1,
  );
  run.print(`deployments on the members: ${counts.join(" and ")}`);
  const denied = run.fails(
    kubectl,
    ["apply", "-f", "-"],
    JSON.stringify(policy({ spreadConstraints: [{ spreadByField: "cluster", spreadByLabel: "zone", minGroups: 1 }] })),
  );
  run.print(`a policy that Karmada's webhook rejects: ${denied}`);
  const converted = kubectl(["get", "--raw", "/apis/work.karmada.io/v1alpha1/namespaces/shop/resourcebindings"]);
  run.print(
    `bindings in v1alpha1, by the conversion webhook: ${converted.split('"kind":"ResourceBinding"').length - 1}`,
  );
  const pods = kubectl([
    "get",
    "--raw",
    "/apis/cluster.karmada.io/v1alpha1/clusters/member1/proxy/api/v1/namespaces/shop/pods",
  ]);
  run.print(`pods of member1 through the proxy of its Cluster: ${(JSON.parse(pods) as DeploymentList).items.length}`);
  await showMetrics(run, kubectl, deployments);
  kubectl(["delete", "namespace", "shop", "--timeout=120s"]);
  run.mark("namespace deleted");
  await showOwners(run, kubectl);
  await showGarbageCollection(run, kubeconfig);
}

/** Flotilla's own garbage collection: ResourceRegistries are stored by karmada-search. */
async function showOwners(run: StockRun, kubectl: Kubectl): Promise<void> {
  const registry = (name: string, ownerReferences: object[] = []): string =>
    JSON.stringify({
      apiVersion: "search.karmada.io/v1alpha1",
      kind: "ResourceRegistry",
      metadata: { name, ownerReferences },
      spec: { targetCluster: {}, resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }] },
    });
  const uidOf = (kind: string, name: string): string =>
    kubectl(["get", kind, name, "-o", "jsonpath={.metadata.uid}"]).trim();
  const exists = (kind: string, name: string): boolean => kubectl(["get", kind, name, "--ignore-not-found"]) !== "";

  kubectl(["create", "clusterrole", "owner", "--verb=get", "--resource=pods"]);
  const owner = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "owner" };
  kubectl(["create", "-f", "-"], registry("owned", [{ ...owner, uid: uidOf("clusterrole", "owner") }]));
  kubectl(["create", "-f", "-"], registry("root"));
  const root = { apiVersion: "search.karmada.io/v1alpha1", kind: "ResourceRegistry", name: "root" };
  const owners = [{ ...root, uid: uidOf("resourceregistry", "root"), blockOwnerDeletion: true }];
  kubectl(["create", "-f", "-"], registry("owned-by-root", owners));

  kubectl(["delete", "clusterrole", "owner"]);
  await run.until(
    "the ResourceRegistry of the deleted ClusterRole is deleted",
    120,
    () => !exists("resourceregistry", "owned"),
  );
  run.mark("an object of an aggregated server is deleted after its owner, a ClusterRole");
  kubectl(["delete", "resourceregistry", "root", "--cascade=foreground", "--timeout=120s"]);
  if (exists("resourceregistry", "owned-by-root")) throw new Error("a dependent outlived a foreground deletion");
  run.mark("a ResourceRegistry is deleted in the foreground, after its dependent");
}

/** A stock kube-controller-manager follows owners that an aggregated server stores: here a Cluster. */
async function showGarbageCollection(run: StockRun, kubeconfig: string): Promise<void> {
  const kubectl = run.kubectl(kubeconfig);
  const [, member = ""] = MEMBERS;
  run.start("kube-controller-manager", [
    `--kubeconfig=${kubeconfig}`,
    "--secure-port=0",
    "--controllers=garbage-collector-controller,namespace-controller",
  ]);
  const uid = kubectl(["get", "cluster", member, "-o", "jsonpath={.metadata.uid}"]);
  const owner = { apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", name: member, uid };
  kubectl(
    ["create", "-f", "-"],
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "owned", namespace: "default", ownerReferences: [owner] },
    }),
  );
  const exists = (): boolean => kubectl(["-n", "default", "get", "configmap", "owned", "--ignore-not-found"]) !== "";
  await run.until("kube-controller-manager has its lease", 60, () =>
    kubectl(["-n", "kube-system", "get", "lease", "kube-controller-manager", "-o", "json"]).includes("holderIdentity"),
  );
  kubectl(["delete", "cluster", member, "--timeout=120s"]);
  await run.until("the ConfigMap of the deleted Cluster is deleted", 120, () => !exists());
  run.mark("kube-controller-manager has deleted an object whose owner was a Cluster of the aggregated server");
}

/** The metrics adapter sums up what the members measure; a FederatedHPA scales by it. */
async function showMetrics(run: StockRun, kubectl: Kubectl, deployments: number): Promise<void> {
  const path = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods";
  const measured = (): number => (JSON.parse(kubectl(["get", "--raw", path])) as DeploymentList).items.length;
  await run.until("metrics of all pods", 120, () => measured() === 2 * deployments);
  run.mark(`metrics of ${measured()} pods of both members, by the metrics adapter`);
  kubectl(["apply", "-f", "-"], JSON.stringify(federatedAutoscaler()));
  await run.until("the FederatedHPA reads metrics", 120, () =>
    kubectl(["-n", "shop", "get", "federatedhpa", "web-0", "-o", "json"]).includes('"currentMetrics"'),
  );
  run.mark("a FederatedHPA reads them");
}

const federatedAutoscaler = (): object => ({
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind: "FederatedHPA",
  metadata: { name: "web-0", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web-0" },
    minReplicas: 1,
    maxReplicas: 4,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "500m" } } }],
  },
});

interface DeploymentList {
  items: { status?: { readyReplicas?: number } }[];
}

const policy = (placement: object = {}): object => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "all", namespace: "shop" },
  spec: {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
    placement: {
      clusterAffinity: { clusterNames: MEMBERS },
      ...placement,
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Weighted",
        weightPreference: {
          staticWeightList: MEMBERS.map((member) => ({ targetCluster: { clusterNames: [member] }, weight: 1 })),
        },
      },
    },
  },
});

const workloads = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => {
    const name = `web-${index}`;
    return {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: "shop" },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
      },
    };
  });

process.exitCode = await usageOf("stock-karmada", process.argv.slice(2), PROGRAMS, main);
