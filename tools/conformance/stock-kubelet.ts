/**
 * `bin/node24 tools/conformance/stock-kubelet.ts`: nodes of KWOK on an empty logical cluster, whose kubelets serve logs, commands
 * and ports with the kubelet's own streaming library. Each installed version of kubectl uses them through Flotilla.
 * docs/conformance.md has the last result.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { messageOf, systemClock } from "@flotilla/base";
import { startFlotilla } from "../bench/process.ts";
import { CLIENTS_DIRECTORY } from "./clients/programs.ts";
import { usageOf } from "./stock-programs.ts";
import type { StockRun } from "./stock-programs.ts";

const PROGRAMS = ["kubectl", "kwok"];
const NODE = "edge-1";
const POD = "web";
const LINES = ["one", "two", "three"];

async function main(run: StockRun): Promise<void> {
  const { folder, base, bin } = run;
  const [kubelet, page] = [base, base + 1];
  const authority = await createCertificateAuthority({ clock: systemClock });
  const serving = await authority.issueServing(["127.0.0.1"]);
  const [cert, key] = [join(folder, "kubelet.crt"), join(folder, "kubelet.key")];
  writeFileSync(cert, serving.certificate);
  writeFileSync(key, serving.key, { mode: 0o600 });
  const ca = join(folder, "kubelet-ca.crt");
  writeFileSync(ca, authority.certificate);

  const fleet = await startFlotilla(["--members", "1", "--kruise", "none", "--kubelet-certificate-authority", ca]);
  run.onStop(() => fleet.stop());
  const kubeconfig = run.makeCluster(fleet.kubeconfig("hub"), "edge");
  const kubectl = run.kubectl(kubeconfig);

  const [logs, work] = [join(folder, "container.log"), join(folder, "container")];
  writeFileSync(logs, LINES.map((line) => `2026-01-01T00:00:00Z stdout F ${line}\n`).join(""));
  mkdirSync(work);
  const config = join(folder, "kwok.yaml");
  const kwok = (kind: string, spec: object, name = "all"): string =>
    JSON.stringify({ apiVersion: "kwok.x-k8s.io/v1alpha1", kind, metadata: { name }, spec });
  writeFileSync(
    config,
    [
      kwok("Stage", stage("Pod", "phase: Running\npodIP: 10.0.0.1"), "pods"),
      kwok("Stage", stage("Node", NODE_STATUS), "nodes"),
      kwok("ClusterLogs", { logs: [{ logsFile: logs }] }),
      kwok("ClusterAttach", { attaches: [{ logsFile: logs }] }),
      kwok("ClusterExec", { execs: [{ local: { workDir: work } }] }),
      kwok("ClusterPortForward", { forwards: [{ ports: [80], target: { port: page, address: "127.0.0.1" } }] }),
    ].join("\n---\n"),
  );
  run.start("kwok", [
    `--kubeconfig=${kubeconfig}`,
    `--config=${config}`,
    "--manage-all-nodes",
    `--server-address=127.0.0.1:${kubelet}`,
    "--node-ip=127.0.0.1",
    `--node-port=${kubelet}`,
    `--tls-cert-file=${cert}`,
    `--tls-private-key-file=${key}`,
  ]);
  // Another process: this one waits for kubectl synchronously.
  const web = spawn(process.execPath, [
    "-e",
    `http.createServer((q, r) => r.end("page " + q.url)).listen(${page}, "127.0.0.1")`,
  ]);
  run.onStop(async () => void web.kill());
  kubectl(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: NODE } }));
  kubectl(
    ["create", "-f", "-"],
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: POD },
      spec: { nodeName: NODE, containers: [{ name: "c", image: "web", ports: [{ containerPort: 80 }] }] },
    }),
  );
  await run.until(
    "the pod runs",
    60,
    () => kubectl(["get", "pod", POD, "-o", "jsonpath={.status.phase}"]) === "Running",
  );
  run.mark("the pod runs on a node of KWOK");

  let failed = 0;
  for (const program of versions(bin)) {
    const problems = await check(program, kubeconfig, page);
    failed += problems.length;
    run.mark(`${program.split("/").at(-1) ?? ""}: ${problems.length === 0 ? "all passed" : problems.join("; ")}`);
  }
  if (failed > 0) throw new Error(`${failed} checks failed`);
}

/** What a kubelet reports first. */
const NODE_STATUS = `
conditions: [{ type: Ready, status: "True", reason: KubeletReady, message: "" }]
addresses: [{ type: InternalIP, address: {{ NodeIP | Quote }} }]
daemonEndpoints: { kubeletEndpoint: { Port: {{ NodePort }} } }
phase: Running
`;
const stage = (kind: string, statusTemplate: string): object => ({
  resourceRef: { apiGroup: "v1", kind },
  selector: { matchExpressions: [{ key: '.status.phase | select(. == "Running")', operator: "DoesNotExist" }] },
  next: { statusTemplate },
});

const versions = (bin: string): string[] => [
  ...(existsSync(CLIENTS_DIRECTORY)
    ? readdirSync(CLIENTS_DIRECTORY)
        .filter((name) => name.startsWith("kubectl-"))
        .sort()
        .map((name) => join(CLIENTS_DIRECTORY, name))
    : []),
  join(bin, "kubectl"),
];

/** What did not work, of everything that connects to a kubelet. */
async function check(program: string, kubeconfig: string, page: number): Promise<string[]> {
  const problems: string[] = [];
  const call = (args: readonly string[], input?: string): string =>
    execFileSync(program, ["--kubeconfig", kubeconfig, ...args], { input, encoding: "utf8", timeout: 30_000 });
  const expect = (what: string, wanted: string, got: () => string): void => {
    let found: string;
    try {
      found = got();
    } catch (error) {
      found = messageOf(error).trim().split("\n").at(-1) ?? "";
    }
    if (found.trim() !== wanted) problems.push(`${what}: ${JSON.stringify(found)}`);
  };
  expect("logs", LINES.join("\n"), () => call(["logs", POD]));
  expect("logs --tail", LINES.slice(-1).join("\n"), () => call(["logs", POD, "--tail=1"]));
  expect("exec", "hello", () => call(["exec", POD, "--", "echo", "hello"]));
  // KWOK does not close the input of a command, so each reads a number of bytes.
  expect("exec -i", "from stdin", () => call(["exec", "-i", POD, "--", "head", "-c", "10"], "from stdin"));
  const size = 4 << 20;
  expect("exec of 4 MiB", String(size), () =>
    call(["exec", "-i", POD, "--", "sh", "-c", `head -c ${size} | wc -c`], "x".repeat(size)),
  );
  expect("node proxy", "ok", () => call(["get", "--raw", `/api/v1/nodes/${NODE}/proxy/healthz`]));
  expect("port-forward", "page /a", () => forwarded(program, kubeconfig, page + 1));
  return problems;
}

/** Fetches a page through `kubectl port-forward`. */
function forwarded(program: string, kubeconfig: string, port: number): string {
  const child = spawn(program, ["--kubeconfig", kubeconfig, "port-forward", `pod/${POD}`, `${port}:80`], {
    stdio: "ignore",
  });
  try {
    return execFileSync(
      "curl",
      [
        "-s",
        "--retry",
        "40",
        "--retry-delay",
        "0",
        "--retry-connrefused",
        "--max-time",
        "20",
        `http://127.0.0.1:${port}/a`,
      ],
      { encoding: "utf8" },
    );
  } finally {
    child.kill("SIGKILL");
  }
}

process.exitCode = await usageOf("stock-kubelet", process.argv.slice(2), PROGRAMS, main);
