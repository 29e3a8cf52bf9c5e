/**
 * An existing Kubernetes cluster that becomes a hub: a real kube-apiserver with the controllers that every cluster has and
 * that run no workloads, or a logical cluster of our own API server that has nothing but Kubernetes' kinds.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { createCommand } from "./command-line.ts";
import { temporaryDirectory, up } from "./flotilla-process.ts";
import { apiServerFlags, etcdFlags, freePort, isReady, writeKubeFiles } from "./kube.ts";
import { createPrograms } from "./real-programs.ts";

export interface HostCluster {
  /** Of an administrator. */
  kubeconfig: string;
  stop(): Promise<void>;
}

/** Those of a kube-controller-manager that Karmada runs beside its API server, too. */
const CONTROLLERS = [
  "namespace",
  "garbagecollector",
  "serviceaccount",
  "serviceaccount-token",
  "ttl-after-finished",
  "bootstrapsigner",
  "tokencleaner",
  "csrapproving",
  "csrcleaner",
  "csrsigning",
  "clusterrole-aggregation",
];

export async function startRealHost(binaries: string): Promise<HostCluster> {
  const directory = temporaryDirectory();
  const at = (name: string): string => join(directory.path, name);
  const front = await createCertificateAuthority({ clock: systemClock, commonName: "front-proxy-ca" });
  const proxy = await front.issueClient({ commonName: "front-proxy-client", organizations: [] });
  for (const [file, content] of Object.entries({
    "front.crt": front.certificate,
    "proxy.crt": proxy.certificate,
    "proxy.key": proxy.key,
  }))
    writeFileSync(at(file), content);
  const [api, etcd, peer, manager] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const kubeconfig = await writeKubeFiles(at, `https://127.0.0.1:${api}`);
  const programs = createPrograms(binaries, directory.path);
  const stop = async (): Promise<void> => {
    await programs.stop();
    directory.remove();
  };
  try {
    await programs.run("etcd", etcdFlags(at, { etcd, peer }), () => Promise.resolve(true));
    await programs.run(
      "kube-apiserver",
      [
        ...apiServerFlags(at, { api, etcd }),
        `--requestheader-client-ca-file=${at("front.crt")}`,
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        `--proxy-client-cert-file=${at("proxy.crt")}`,
        `--proxy-client-key-file=${at("proxy.key")}`,
      ],
      () => isReady(kubeconfig),
    );
    await programs.run(
      "kube-controller-manager",
      [
        `--kubeconfig=${kubeconfig}`,
        "--bind-address=127.0.0.1",
        `--secure-port=${manager}`,
        `--controllers=${CONTROLLERS.join(",")}`,
        `--service-account-private-key-file=${at("sa.key")}`,
        `--root-ca-file=${at("ca.crt")}`,
        `--cluster-signing-cert-file=${at("ca.crt")}`,
        `--cluster-signing-key-file=${at("ca.key")}`,
        "--use-service-account-credentials=true",
      ],
      () => Promise.resolve(true),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { kubeconfig, stop };
}

/** Needs kubectl. */
export async function startOwnHost(): Promise<HostCluster> {
  const data = temporaryDirectory();
  const server = await up(data.path, "--members", "0", "--ephemeral");
  const kubectl = createCommand("kubectl", server.kubeconfig("hub"));
  try {
    const manifest = join(data.path, "host.json");
    writeFileSync(
      manifest,
      JSON.stringify({
        apiVersion: "flotilla.dev/v1alpha1",
        kind: "LogicalCluster",
        metadata: { name: "host" },
        spec: { profile: "empty" },
      }),
    );
    const created = await kubectl.run(["create", "-f", manifest]);
    if (created.code !== 0) throw new Error(created.stderr);
    const path = "/apis/flotilla.dev/v1alpha1/logicalclusters/host/kubeconfig?expirationSeconds=86400";
    const issued = await kubectl.run(["create", "--raw", path, "-f", "/dev/null"]);
    if (issued.code !== 0) throw new Error(issued.stderr);
    const kubeconfig = join(data.path, "host.kubeconfig");
    writeFileSync(kubeconfig, issued.stdout, { mode: 0o600 });
    return {
      kubeconfig,
      async stop() {
        await server.stop("SIGTERM");
        data.remove();
      },
    };
  } finally {
    kubectl.remove();
  }
}
