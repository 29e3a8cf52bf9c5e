/**
 * `flotilla register`: registers a cluster with a hub that cannot reach it, as `karmadactl register` does; an agent
 * then serves it.
 */
import { Namespace, Secret } from "@flotilla/kubernetes";
import { formatYaml, isAlreadyExists } from "@flotilla/apimachinery";
import { UsageError } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { checkClusterName } from "../agent/cluster-name.ts";
import { agentManifests } from "../agent/manifests.ts";
import { defineCommand } from "../command.ts";
import { wrapCommand } from "../text-layout.ts";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";

const DAY_SECONDS = 24 * 60 * 60;

export const registerCommand = defineCommand({
  name: "register",
  summary: "register a cluster that the hub cannot reach, for pull mode with an agent",
  details:
    "Requests a certificate for the agent with a token of 'flotilla token --through karmada'; the hub then " +
    "grants the agent its permissions. 'flotilla agent' uses the certificate.",
  example: [
    {
      says: "Register a cluster, and store the agent's credentials on it.",
      run:
        "flotilla register hub.example.com:6443 --token TOKEN --discovery-token-ca-cert-hash sha256:HASH " +
        "--cluster-kubeconfig paris.kubeconfig --cluster-name paris",
    },
    {
      says: "Register a cluster whose agent runs elsewhere.",
      run:
        "flotilla register 127.0.0.1:6443 --token TOKEN --discovery-token-ca-cert-hash sha256:HASH " +
        "--cluster-name paris --write-kubeconfig paris-agent.kubeconfig",
    },
  ],
  args: [{ name: "HOST", description: "host and port of the hub's API server", required: true }],
  flags: {
    token: { type: "string", value: "TOKEN", description: "the token that 'flotilla token --through karmada' prints" },
    "discovery-token-ca-cert-hash": {
      type: "string",
      value: "HASH",
      repeated: true,
      description: "the hash of the hub's CA that 'flotilla token' prints; may be repeated",
    },
    "discovery-token-unsafe-skip-ca-verification": {
      type: "boolean",
      description: "trust any CA that the token vouches for; anyone who knows the token can then impersonate the hub",
    },
    "discovery-timeout": {
      type: "integer",
      value: "SECONDS",
      default: 300,
      minimum: 1,
      maximum: 3600,
      description: "how long to wait for the hub",
    },
    "cluster-name": { type: "string", value: "NAME", description: "the name of the cluster on the hub" },
    "cluster-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "kubeconfig of an administrator of the cluster, to store the agent's credentials there",
    },
    "cluster-context": {
      type: "string",
      value: "NAME",
      completes: "context",
      description: "context in that kubeconfig (default: the current one)",
    },
    namespace: {
      type: "string",
      value: "NS",
      default: KARMADA_SYSTEM_NAMESPACE,
      description: "the namespace for the credentials, in the Secret karmada-kubeconfig",
    },
    "write-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "also write the credentials to a file, for an agent that runs outside the cluster",
    },
    "cert-expiration-days": {
      type: "integer",
      value: "N",
      default: 7,
      minimum: 1,
      maximum: 30,
      description: "lifetime of the agent's certificate; it is renewed before it expires",
    },
    image: {
      type: "string",
      value: "IMAGE",
      description: "print the manifests that run this image as the agent, instead of the command that starts one",
    },
  },
  async run({ args, flags, output, signal, agents, connectCluster, writeFile }) {
    const cluster = flags["cluster-name"];
    const { token } = flags;
    const hashes = flags["discovery-token-ca-cert-hash"];
    checkClusterName(cluster, "the name of the cluster on the hub");
    if (!token)
      throw new UsageError("--token TOKEN is required; create one with 'flotilla token --through karmada' on the hub");
    if (hashes.length === 0 && !flags["discovery-token-unsafe-skip-ca-verification"])
      throw new UsageError(
        "--discovery-token-ca-cert-hash HASH is required; 'flotilla token --through karmada' on the hub prints it",
      );
    const [file, written] = [flags["cluster-kubeconfig"], flags["write-kubeconfig"]];
    if (file === undefined && written === undefined)
      throw new UsageError(
        "specify where to store the agent's credentials: --cluster-kubeconfig FILE for the cluster, or --write-kubeconfig FILE for a file",
      );
    const { kubeconfig, server } = await agents.register(
      {
        endpoint: args[0] ?? "",
        token,
        caHashes: hashes,
        trustsAnyAuthority: flags["discovery-token-unsafe-skip-ca-verification"],
        cluster,
        certificateSeconds: flags["cert-expiration-days"] * DAY_SECONDS,
        timeoutMs: flags["discovery-timeout"] * 1000,
        onProblem: (text) => output.warn(output.called(`flotilla register: ${text}`)),
      },
      (text) => output.progress(text),
      signal,
    );
    if (written !== undefined) await writeFile(written, kubeconfig);
    if (file !== undefined) {
      output.progress(`storing credentials on ${cluster}`);
      const member = await connectCluster({ kubeconfigs: [file], context: flags["cluster-context"] }, cluster);
      try {
        await leaveCredentials(member.client, cluster, flags.namespace, kubeconfig, signal);
      } finally {
        await member.close();
      }
    }
    output.progress("");
    output.result({ cluster, server }, () => {
      if (flags.image)
        return agentManifests({
          cluster,
          namespace: flags.namespace,
          image: flags.image,
          kubeconfig,
          isBootstrap: false,
        })
          .map((object) => formatYaml(object))
          .join("---\n")
          .trimEnd();
      const access = file === undefined ? "" : ` --cluster-kubeconfig ${file}`;
      return [
        `cluster(${cluster}) is registered at ${server}; it joins when its agent starts:`,
        "",
        wrapCommand(
          output.called(`flotilla agent --hub-kubeconfig ${written ?? "FILE"}${access} --cluster-name ${cluster}`),
          output.width,
          "  ",
        ),
      ].join("\n");
    });
  },
});

async function leaveCredentials(
  client: Client,
  cluster: string,
  namespace: string,
  kubeconfig: string,
  signal: AbortSignal,
): Promise<void> {
  const data = { "karmada-kubeconfig": Buffer.from(kubeconfig).toString("base64") };
  try {
    await client.create(
      Namespace,
      cluster,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      { signal },
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  try {
    await client.create(
      Secret,
      cluster,
      { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "karmada-kubeconfig" }, type: "Opaque", data },
      { signal },
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await client.patch(Secret, { cluster, namespace, name: "karmada-kubeconfig" }, { data }, { type: "merge", signal });
  }
}
