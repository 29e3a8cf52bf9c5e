/** `flotilla join`: joins a Kubernetes cluster as a push-mode member, which the hub connects to. */
import { Cluster } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { findCondition, HUB } from "@flotilla/apimachinery";
import { FlotillaError, sleep, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { defineCommand } from "../command.ts";
import { missingControllers } from "../health/controllers-state.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { checkUnknown, recordMember, secretsNamespace } from "../membership/hub-records.ts";
import { createAccounts } from "../membership/member-account.ts";
import type { Permissions } from "../membership/member-account.ts";

const POLL_MS = 250;
const DAY_SECONDS = 24 * 60 * 60;

export const joinCommand = defineCommand({
  name: "join",
  summary: "join a Kubernetes cluster to the fleet",
  details:
    "Creates accounts on the cluster, and credentials and a Cluster on the hub, which then connects to the " +
    "member. Safe to repeat, which renews the credentials. For a cluster that the hub cannot reach, see " +
    "'flotilla token'.",
  example: [
    {
      says: "Join a cluster that the hub can reach.",
      run: "flotilla join paris --cluster-kubeconfig paris.kubeconfig",
    },
    {
      says: "Take the cluster from a context of your kubeconfig, and set its region.",
      run: "flotilla join oslo --cluster-kubeconfig ~/.kube/config --cluster-context oslo --cluster-region eu-north",
    },
    {
      says: "Grant the hub all rights on the cluster, as karmadactl join does.",
      run: "flotilla join paris --cluster-kubeconfig paris.kubeconfig --permissions admin",
    },
  ],
  args: [{ name: "NAME", description: "the name of the cluster on the hub", required: true }],
  flags: {
    "cluster-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "kubeconfig of an administrator of the cluster; used once and not stored",
    },
    "cluster-context": {
      type: "string",
      value: "NAME",
      completes: "context",
      description: "context in that kubeconfig (default: the current one)",
    },
    "cluster-namespace": {
      type: "string",
      value: "NS",
      default: secretsNamespace,
      description: "the namespace for accounts on the cluster and for credentials on the hub",
    },
    "cluster-provider": {
      type: "string",
      value: "TEXT",
      description: "the provider of the cluster, for policies that spread over providers",
    },
    "cluster-region": {
      type: "string",
      value: "TEXT",
      description: "the region of the cluster, for policies that spread over regions",
    },
    "cluster-zones": {
      type: "string",
      value: "A,B",
      description: "the zones of the cluster, for policies that spread over zones",
    },
    permissions: {
      type: "string",
      choices: ["scoped", "admin"],
      default: "scoped",
      description: "the hub's rights there: read and write objects of every kind, or everything as karmadactl grants",
    },
    "token-days": {
      type: "integer",
      value: "N",
      default: 90,
      maximum: 3650,
      description: "lifetime of the hub's tokens, which it renews before they expire; 0 uses tokens that never expire",
    },
    wait: {
      type: "integer",
      value: "SECONDS",
      default: 60,
      maximum: 3600,
      description: "how long to wait for the member to be ready",
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, connectCluster, environment }) {
    const [name = ""] = args;
    const file = flags["cluster-kubeconfig"];
    if (!file) throw new UsageError("--cluster-kubeconfig FILE is required: the kubeconfig of the cluster that joins");
    const namespace = flags["cluster-namespace"];
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      const member = await connectCluster({ kubeconfigs: [file], context: flags["cluster-context"] }, name);
      try {
        if (member.serverName !== undefined)
          throw new UsageError(
            `${file} sets tls-server-name, which a Cluster does not support; use an address that the cluster's certificate contains`,
          );
        output.progress(`checking ${member.server}`);
        const { metadata } = await member.client.get(Namespace, { cluster: name, name: "kube-system" }, { signal });
        const id = metadata.uid ?? "";
        await checkUnknown(hub.client, { name, id, apiEndpoint: member.server, proxyUrl: member.proxyUrl }, signal);
        output.progress(`creating accounts on ${name}`);
        const tokens = await createAccounts(
          member.client,
          {
            cluster: name,
            namespace,
            permissions: flags.permissions as Permissions,
            tokenSeconds: flags["token-days"] * DAY_SECONDS,
          },
          clock,
          signal,
        );
        output.progress(`registering ${name} on the hub`);
        const zones = (flags["cluster-zones"] ?? "").split(",").filter((zone) => zone !== "");
        await recordMember(
          hub.client,
          {
            name,
            namespace,
            id,
            apiEndpoint: member.server,
            ca: member.ca,
            insecure: member.insecure,
            proxyUrl: member.proxyUrl,
            provider: flags["cluster-provider"] || undefined,
            region: flags["cluster-region"] || undefined,
            zones,
            ...tokens,
          },
          signal,
        );
      } finally {
        await member.close();
      }
      const cluster = await untilReady(
        { client: hub.client, clock, signal, progress: (text) => output.progress(text) },
        name,
        flags.wait * 1000,
      );
      output.progress("");
      output.result(
        { name, version: cluster.status?.kubernetesVersion ?? "", nodes: cluster.status?.nodeSummary?.totalNum ?? 0 },
        () => renderJoined(cluster),
      );
    } finally {
      await hub.close();
    }
  },
});

interface WaitTools {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  progress(text: string): void;
}

export async function untilReady(
  { client, clock, signal, progress }: WaitTools,
  name: string,
  waitMs: number,
): Promise<DeepReadonly<Cluster>> {
  const untilMs = clock.now() + waitMs;
  for (;;) {
    const cluster = await client.get(Cluster, { cluster: HUB, name }, { signal });
    const ready = findCondition(cluster.status?.conditions ?? [], "Ready");
    if (ready?.status === "True") return cluster;
    const reason =
      ready?.message ?? (await missingControllers({ client, clock, signal })) ?? "the hub has not checked it yet";
    if (clock.now() >= untilMs)
      throw new FlotillaError(
        "NotReady",
        `${name} has joined but is not ready after ${waitMs / 1000} s: ${reason}; run 'kubectl describe cluster ${name}' to follow its status`,
      );
    progress(`waiting for ${name} to be ready: ${reason}`);
    await sleep(clock, POLL_MS, signal);
  }
}

function renderJoined({ metadata, status }: DeepReadonly<Cluster>): string {
  const nodes = status?.nodeSummary?.totalNum ?? 0;
  return `cluster ${metadata.name} has joined: ${status?.kubernetesVersion ?? "unknown version"}, ${nodes} node${nodes === 1 ? "" : "s"}, ready`;
}
