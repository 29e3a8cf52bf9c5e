/**
 * `bin/node24 tools/conformance/stock-ocm.ts`: runs a whole stock Open Cluster Management hub whose API server is an empty
 * logical cluster of Flotilla, with stock agents on two simulated members, and applies ManifestWorks. docs/conformance.md
 * has the last result.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { connectionOf, loadKubeconfig, renderKubeconfig } from "@flotilla/client";
import { startFlotilla } from "../bench/process.ts";
import { usageOf } from "./stock-programs.ts";
import type { StockRun } from "./stock-programs.ts";

const PROGRAMS = ["kubectl", "ocm-manifests", "ocm-placement", "ocm-registration", "ocm-webhook", "ocm-work"];
const MEMBERS = ["member1", "member2"];
const HUB_NAMESPACE = "open-cluster-management-hub";
const AGENT_NAMESPACE = "open-cluster-management-agent";
const WEBHOOKS = ["registration", "work"] as const;

async function main(run: StockRun, works: number): Promise<void> {
  const { bin, folder, base } = run;
  const manifests = join(bin, "ocm-manifests");
  const authority = await createCertificateAuthority({ clock: systemClock });
  const serving = await authority.issueServing(
    WEBHOOKS.map((name) => `cluster-manager-${name}-webhook.${HUB_NAMESPACE}.svc`),
  );
  writeFileSync(join(folder, "tls.crt"), serving.certificate);
  writeFileSync(join(folder, "tls.key"), serving.key, { mode: 0o600 });
  const caBundle = Buffer.from(authority.certificate).toString("base64");
  /** The shipped manifests are templates whose only conditions are about labels. */
  const rendered = (file: string): string =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => !/\{\{-? *(?:if|range|end|else)/.test(line) && !/\{\{ *\$/.test(line))
      .join("\n")
      .replaceAll(/\{\{ *\.[A-Za-z]*CABundle *\}\}/g, caBundle)
      .replaceAll(/\{\{ *\.[A-Za-z]*Namespace *\}\}/g, HUB_NAMESPACE)
      .replaceAll(/\{\{ *\.[A-Za-z.]*Port *\}\}/g, "443");

  const fleet = await startFlotilla(["--members", String(MEMBERS.length), "--kruise", "none"]);
  run.onStop(() => fleet.stop());
  const kubeconfig = run.makeCluster(fleet.kubeconfig("hub"), "ocm");
  const kubectl = run.kubectl(kubeconfig);
  run.mark("logical cluster created");

  kubectl(["create", "namespace", HUB_NAMESPACE]);
  const definitions = join(manifests, "cluster-manager/hub/crds");
  for (const file of readdirSync(definitions))
    kubectl(["apply", "--server-side", "-f", "-"], rendered(join(definitions, file)));
  kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
  for (const [index, name] of WEBHOOKS.entries()) {
    run.start(
      "ocm-webhook",
      [name, `--kubeconfig=${kubeconfig}`, `--port=${base + index}`, `--certdir=${folder}`],
      `${name}-webhook`,
    );
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name: `cluster-manager-${name}-webhook`,
        namespace: HUB_NAMESPACE,
        annotations: { "flotilla.dev/address": `127.0.0.1:${base + index}` },
      },
      spec: { ports: [{ port: 443 }] },
    };
    kubectl(["apply", "-f", "-"], JSON.stringify(service));
    const place = join(manifests, "cluster-manager/hub", name);
    for (const file of readdirSync(place).filter((each) => /^webhook-.*configuration\.yaml$/.test(each)))
      kubectl(["apply", "-f", "-"], rendered(join(place, file)));
  }
  kubectl(["apply", "-f", "-"], JSON.stringify(bootstrapRole()));
  kubectl(["-n", HUB_NAMESPACE, "create", "serviceaccount", "bootstrap"]);
  kubectl([
    "create",
    "clusterrolebinding",
    "bootstrap",
    "--clusterrole=open-cluster-management:bootstrap",
    `--serviceaccount=${HUB_NAMESPACE}:bootstrap`,
  ]);
  run.mark("definitions and webhooks applied");

  const hub = [`--kubeconfig=${kubeconfig}`, `--namespace=${HUB_NAMESPACE}`];
  run.start("ocm-registration", ["controller", `--listen=127.0.0.1:${base + 2}`, ...hub], "registration");
  run.start("ocm-placement", ["controller", `--listen=127.0.0.1:${base + 3}`, ...hub], "placement");
  run.start(
    "ocm-work",
    ["manager", `--listen=127.0.0.1:${base + 4}`, "--feature-gates=ManifestWorkReplicaSet=true", ...hub],
    "work",
  );
  const { server, ca = "" } = await connectionOf(await loadKubeconfig(kubeconfig));
  const token = kubectl(["-n", HUB_NAMESPACE, "create", "token", "bootstrap"]).trim();
  const agentFlags = (member: string): string[] => [
    `--kubeconfig=${fleet.kubeconfig(member)}`,
    `--namespace=${AGENT_NAMESPACE}`,
    `--spoke-cluster-name=${member}`,
    `--agent-id=${member}`,
    `--hub-kubeconfig-dir=${join(folder, member, "hub")}`,
  ];
  for (const [index, member] of MEMBERS.entries()) {
    mkdirSync(join(folder, member));
    const bootstrap = join(folder, member, "bootstrap.kubeconfig");
    writeFileSync(bootstrap, renderKubeconfig({ name: "ocm", server: server.href, ca, token }), { mode: 0o600 });
    const onMember = run.kubectl(fleet.kubeconfig(member));
    const agentNamespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: AGENT_NAMESPACE } };
    onMember(["apply", "-f", "-"], JSON.stringify(agentNamespace));
    run.start(
      "ocm-registration",
      ["agent", `--listen=127.0.0.1:${base + 5 + index}`, `--bootstrap-kubeconfig=${bootstrap}`, ...agentFlags(member)],
      `${member}-registration`,
    );
  }
  for (const member of MEMBERS) {
    let request = "";
    await run.until(`${member} has requested a certificate`, 60, () => {
      const selector = `open-cluster-management.io/cluster-name=${member}`;
      [request = ""] = kubectl(["get", "csr", "-l", selector, "-o", "name"]).trim().split("\n");
      return request !== "" && kubectl(["get", "managedcluster", member, "-o", "name"]) !== "";
    });
    kubectl(["certificate", "approve", request.slice(request.indexOf("/") + 1)]);
    kubectl(["patch", "managedcluster", member, "--type=merge", "-p", '{"spec":{"hubAcceptsClient":true}}']);
  }
  for (const condition of ["ManagedClusterJoined", "ManagedClusterConditionAvailable"])
    kubectl([
      "wait",
      `--for=condition=${condition}`,
      ...MEMBERS.map((name) => `managedcluster/${name}`),
      "--timeout=120s",
    ]);
  run.mark("members joined and available");

  for (const [index, member] of MEMBERS.entries())
    run.start(
      "ocm-work",
      [
        "agent",
        `--listen=127.0.0.1:${base + 8 + index}`,
        `--workload-source-config=${join(folder, member, "hub/kubeconfig")}`,
        ...agentFlags(member),
      ],
      `${member}-work`,
    );
  const items = Array.from({ length: works }, (_, index) =>
    work(`web-${index}`, MEMBERS[index % MEMBERS.length] ?? ""),
  );
  kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  run.mark(`${works} ManifestWorks applied`);
  await run.until(`${works} ManifestWorks are Available`, 300, () => {
    const list = JSON.parse(kubectl(["get", "manifestworks", "-A", "-o", "json"])) as WorkList;
    const isAvailable = ({ status }: WorkList["items"][number]): boolean =>
      status?.conditions?.some(({ type, status: is }) => type === "Available" && is === "True") === true;
    return list.items.filter(isAvailable).length >= works;
  });
  run.mark(`${works} ManifestWorks Available`);
  const denied = run.fails(kubectl, ["apply", "-f", "-"], JSON.stringify(work("empty", "member1", [])));
  run.print(`a work that OCM's webhook rejects: ${denied}`);
  kubectl(["delete", "manifestworks", "--all", "-n", "member1", "--timeout=120s"]);
  run.mark("works of member1 deleted");
}

interface WorkList {
  items: { status?: { conditions?: { type: string; status: string }[] } }[];
}

const bootstrapRole = (): object => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "open-cluster-management:bootstrap" },
  rules: [
    {
      apiGroups: ["certificates.k8s.io", "cluster.open-cluster-management.io"],
      resources: ["certificatesigningrequests", "managedclusters"],
      verbs: ["create", "get", "list", "watch"],
    },
    // OCM's webhook puts every new ManagedCluster into the default set.
    {
      apiGroups: ["cluster.open-cluster-management.io"],
      resources: ["managedclustersets/join"],
      verbs: ["create"],
    },
  ],
});

const work = (name: string, namespace: string, manifests: object[] = [deployment(name)]): object => ({
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "ManifestWork",
  metadata: { name, namespace },
  spec: { workload: { manifests } },
});

const deployment = (name: string): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
});

process.exitCode = await usageOf("stock-ocm", process.argv.slice(2), PROGRAMS, main);
