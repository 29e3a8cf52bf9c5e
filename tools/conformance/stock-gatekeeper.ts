/**
 * `bin/node24 tools/conformance/stock-gatekeeper.ts`: installs a stock Gatekeeper, a policy engine, on an empty logical
 * cluster and on the hub, and shows that it denies, changes and audits objects there. docs/conformance.md has the last
 * result.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startFlotilla } from "../bench/process.ts";
import { usageOf } from "./stock-programs.ts";
import type { Kubectl, StockRun } from "./stock-programs.ts";

const PROGRAMS = ["gatekeeper", "gatekeeper-config", "kubectl"];
const NAMESPACE = "gatekeeper-system";
const POD = "gatekeeper";

async function main(run: StockRun, count: number): Promise<void> {
  const fleet = await startFlotilla(["--members", "1", "--kruise", "none"]);
  run.onStop(() => fleet.stop());
  const cluster = run.makeCluster(fleet.kubeconfig("hub"), "policies");
  for (const [index, [name, kubeconfig]] of [
    ["logical cluster", cluster] as const,
    ["hub", fleet.kubeconfig("hub")] as const,
  ].entries()) {
    run.mark(`${name}: begins`);
    const kubectl = run.kubectl(kubeconfig);
    kubectl(["create", "namespace", "shop"]);
    kubectl(["apply", "-f", "-"], JSON.stringify(deployment("before", {})));
    await install(run, { name: `gatekeeper-${index}`, kubeconfig, port: run.base + 3 * index });
    run.mark(`${name}: ready, its certificate is in its webhook configurations`);
    await show(run, kubectl, count);
    run.mark(`${name}: done`);
  }
}

async function install(
  run: StockRun,
  { name, kubeconfig, port }: { name: string; kubeconfig: string; port: number },
): Promise<void> {
  const kubectl = run.kubectl(kubeconfig);
  const published = readFileSync(join(run.bin, "gatekeeper-config/gatekeeper.yaml"), "utf8");
  kubectl(
    ["apply", "--server-side", "-f", "-"],
    published
      .split(/^---\n/m)
      // It runs outside of a container here.
      .filter((document) => !/^kind: Deployment$/m.test(document))
      .join("---\n"),
  );
  kubectl([
    "-n",
    NAMESPACE,
    "annotate",
    "service",
    "gatekeeper-webhook-service",
    `flotilla.dev/address=127.0.0.1:${port}`,
  ]);
  const token = kubectl(["-n", NAMESPACE, "create", "token", "gatekeeper-admin", "--duration=2h"]).trim();
  const config = JSON.parse(kubectl(["config", "view", "--raw", "--minify", "-o", "json"])) as {
    users: { name: string; user: object }[];
  };
  for (const each of config.users) each.user = { token };
  const own = join(run.folder, `${name}.kubeconfig`);
  writeFileSync(own, JSON.stringify(config), { mode: 0o600 });
  const [certificates, cache] = [join(run.folder, `${name}-certificates`), join(run.folder, `${name}-cache`)];
  for (const folder of [certificates, cache]) mkdirSync(folder);
  // It owns the statuses that Gatekeeper writes.
  kubectl(
    ["create", "-f", "-"],
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: POD, namespace: NAMESPACE },
      spec: {
        schedulerName: "outside",
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "manager",
            image: "outside",
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
          },
        ],
      },
    }),
  );
  run.start(
    "gatekeeper",
    [
      `--kubeconfig=${own}`,
      "--host=127.0.0.1",
      `--port=${port}`,
      `--health-addr=127.0.0.1:${port + 1}`,
      `--prometheus-port=${port + 2}`,
      `--cert-dir=${certificates}`,
      "--operation=webhook",
      "--operation=mutation-webhook",
      "--operation=audit",
      "--operation=status",
      "--operation=mutation-status",
      "--operation=mutation-controller",
      "--operation=generate",
      "--audit-interval=5",
      `--exempt-namespace=${NAMESPACE}`,
      "--default-create-vap-for-templates=true",
      "--default-create-vap-binding-for-constraints=true",
      `--api-cache-dir=${cache}`,
      "--logtostderr",
    ],
    name,
    { POD_NAMESPACE: NAMESPACE, POD_NAME: POD },
  );
  await run.until("Gatekeeper has made its certificate", 90, () => {
    const { data = {} } = JSON.parse(
      kubectl(["-n", NAMESPACE, "get", "secret", "gatekeeper-webhook-server-cert", "-o", "json"]),
    ) as { data?: Record<string, string> };
    // What a kubelet does with the Secret in the volume of its pod.
    for (const [file, text] of Object.entries(data))
      writeFileSync(join(certificates, file), Buffer.from(text, "base64"), { mode: 0o600 });
    return data["tls.crt"] !== undefined;
  });
  await run.until("Gatekeeper answers", 120, () => {
    run.command("kubectl", ["--kubeconfig", own, "get", "crd", "constrainttemplates.templates.gatekeeper.sh"]);
    return kubectl(["get", "validatingwebhookconfigurations", "-o", "json"]).includes('"caBundle"');
  });
}

async function show(run: StockRun, kubectl: Kubectl, count: number): Promise<void> {
  const apply = (object: object): string => kubectl(["apply", "-f", "-"], JSON.stringify(object));
  apply(template("k8srequiredteam", "K8sRequiredTeam", regoCode("team")));
  apply(template("k8srequiredtier", "K8sRequiredTier", celCode("tier")));
  for (const [kind, name] of [
    ["K8sRequiredTeam", "team"],
    ["K8sRequiredTier", "tier"],
  ] as const)
    await run.until(`kind ${kind} exists`, 60, () => apply(constraint(kind, name)) !== "");
  apply(mutator());

  const deniedBy = async (labels: Record<string, string>, text: string): Promise<string> => {
    let denial = "";
    await run.until(`a Deployment is denied: ${text}`, 90, () => {
      denial = run.fails(kubectl, ["create", "--dry-run=server", "-f", "-"], JSON.stringify(deployment("web", labels)));
      return denial.includes(text);
    });
    return denial;
  };
  run.print(`by its webhook, Rego: ${await deniedBy({ tier: "x" }, "validation.gatekeeper.sh")}`);
  run.print(`by the policy that it generated, CEL: ${await deniedBy({ team: "x" }, "ValidatingAdmissionPolicy")}`);
  kubectl(
    ["create", "-f", "-"],
    JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: Array.from({ length: count }, (_, index) => deployment(`web-${index}`, { team: "a", tier: "b" })),
    }),
  );
  const policies = kubectl([
    "-n",
    "shop",
    "get",
    "deployments",
    "--selector=team",
    "-o",
    "jsonpath={.items[*].spec.template.spec.containers[0].imagePullPolicy}",
  ]).split(" ");
  const changed = policies.filter((policy) => policy === "Never").length;
  run.print(`changed by its mutating webhook: ${changed} of ${policies.length} Deployments`);
  if (changed !== count) throw new Error(`${count - changed} Deployments were not changed`);
  await run.until("the audit reports the Deployment that was there before", 90, () =>
    kubectl(["get", "k8srequiredteam", "team", "-o", "jsonpath={.status.violations[*].name}"]).includes("before"),
  );
  run.print("its audit reports the Deployment that was there before");
}

const template = (name: string, kind: string, code: object): object => ({
  apiVersion: "templates.gatekeeper.sh/v1",
  kind: "ConstraintTemplate",
  metadata: { name },
  spec: {
    crd: { spec: { names: { kind } } },
    targets: [{ target: "admission.k8s.gatekeeper.sh", code: [code] }],
  },
});

const regoCode = (label: string): object => ({
  engine: "Rego",
  source: {
    version: "v1",
    rego: `package labels\nviolation contains {"msg": msg} if {\n  not input.review.object.metadata.labels.${label}\n  msg := "label ${label} is required"\n}`,
  },
});

const celCode = (label: string): object => ({
  engine: "K8sNativeValidation",
  source: {
    validations: [
      {
        expression: `has(object.metadata.labels) && "${label}" in object.metadata.labels`,
        message: `label ${label} is required`,
      },
    ],
  },
});

const constraint = (kind: string, name: string): object => ({
  apiVersion: "constraints.gatekeeper.sh/v1beta1",
  kind,
  metadata: { name },
  spec: { match: { kinds: [{ apiGroups: ["apps"], kinds: ["Deployment"] }], namespaces: ["shop"] } },
});

const mutator = (): object => ({
  apiVersion: "mutations.gatekeeper.sh/v1",
  kind: "Assign",
  metadata: { name: "pull-never" },
  spec: {
    applyTo: [{ groups: ["apps"], versions: ["v1"], kinds: ["Deployment"] }],
    match: { scope: "Namespaced", namespaces: ["shop"] },
    location: "spec.template.spec.containers[name:*].imagePullPolicy",
    parameters: { assign: { value: "Never" } },
  },
});

const deployment = (name: string, labels: Record<string, string>): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "shop", labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
});

process.exitCode = await usageOf("stock-gatekeeper", process.argv.slice(2), PROGRAMS, main);
