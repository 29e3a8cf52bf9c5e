/**
 * `flotilla agent`: serves one cluster from inside its network; `flotilla agent manifests` prints the manifests that
 * install it there.
 */
import { UsageError } from "@flotilla/base";
import { formatYaml } from "@flotilla/apimachinery";
import { checkClusterName } from "../agent/cluster-name.ts";
import { agentManifests } from "../agent/manifests.ts";
import { defineCommand } from "../command.ts";
import { logOptions } from "./log-flags.ts";

const DAY_SECONDS = 24 * 60 * 60;
const MINUTE_MS = 60_000;

export const agentCommand = defineCommand({
  name: "agent",
  summary: "run the agent of a pull-mode cluster: apply the hub's works and report status",
  details:
    "Runs until it is stopped. It keeps running while the hub is unreachable, and renews its credentials before they expire.",
  serves: true,
  example: [
    {
      says: "Serve a cluster that joins with a token.",
      run: "flotilla agent --bootstrap-kubeconfig bootstrap.kubeconfig --cluster-kubeconfig paris.kubeconfig --cluster-name paris",
    },
    {
      says: "Serve a registered cluster.",
      run: "flotilla agent --hub-kubeconfig paris-agent.kubeconfig --cluster-kubeconfig paris.kubeconfig --cluster-name paris",
    },
    {
      says: "Run the agent on the cluster itself.",
      run:
        "flotilla agent manifests --image registry.example.com/flotilla:1 --bootstrap-kubeconfig " +
        "bootstrap.kubeconfig --cluster-name paris | kubectl apply -f -",
    },
  ],
  args: [
    {
      name: "manifests",
      description: "print the manifests that run the agent on the cluster itself, instead of running it here",
      required: false,
      choices: ["manifests"],
    },
  ],
  flags: {
    "cluster-name": { type: "string", value: "NAME", description: "the name of the cluster on the hub" },
    "bootstrap-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "the bootstrap kubeconfig for the hub; 'flotilla token --bootstrap-kubeconfig FILE' writes one",
    },
    "hub-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "the agent's own kubeconfig, as 'flotilla register' writes it",
    },
    "cluster-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "kubeconfig of the cluster (default: the cluster this runs in)",
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
      default: "open-cluster-management-agent",
      description: "the namespace on the cluster where the agent keeps its credentials",
    },
    state: { type: "string", value: "DIR", description: "keep the credentials in this directory instead" },
    "certificate-days": {
      type: "integer",
      value: "N",
      maximum: 3650,
      description:
        "requested lifetime of certificates (default: what the hub signs); they are renewed before they expire",
    },
    "cluster-provider": {
      type: "string",
      value: "TEXT",
      description: "the provider of the cluster, if it registered through Karmada's API",
    },
    "cluster-region": { type: "string", value: "TEXT", description: "the region of the cluster" },
    "cluster-zones": { type: "string", value: "A,B", description: "its zones" },
    "leader-elect": {
      type: "boolean",
      description: "run one of several replicas at a time, with a Lease in the namespace",
    },
    "evict-after": {
      type: "integer",
      value: "MINUTES",
      maximum: 525_600,
      description:
        "remove the objects of a ManifestWork this long after it disappeared from the hub without being deleted (default: never)",
    },
    image: { type: "string", value: "IMAGE", description: "with manifests: the image that contains flotilla" },
    replicas: {
      type: "integer",
      value: "N",
      default: 1,
      minimum: 1,
      maximum: 5,
      description: "with manifests: number of pods; one serves, the others stand by",
    },
    "metrics-address": {
      type: "string",
      value: "HOST:PORT",
      description: "serve /metrics for Prometheus at this address, for example 127.0.0.1:9102",
    },
    "log-format": {
      type: "string",
      choices: ["json", "text"],
      default: "json",
      description: "log lines for programs, or for people",
    },
    "log-level": {
      type: "string",
      choices: ["debug", "info", "warn", "error"],
      default: "info",
      description: "the level of the log on standard error",
    },
  },
  async run({ args, flags, output, signal, agents, readFile }) {
    const cluster = flags["cluster-name"];
    checkClusterName(cluster, "the name of the cluster on the hub");
    const [bootstrap, own] = [flags["bootstrap-kubeconfig"], flags["hub-kubeconfig"]];
    if ((bootstrap === undefined) === (own === undefined))
      throw new UsageError(
        "specify either --bootstrap-kubeconfig FILE, for a cluster that joins, or --hub-kubeconfig FILE, for a registered one",
      );
    if (args[0] === "manifests") {
      if (!flags.image) throw new UsageError("--image IMAGE is required: an image that contains flotilla");
      const kubeconfig = await readFile(bootstrap ?? own ?? "");
      const objects = agentManifests({
        cluster,
        namespace: flags.namespace,
        image: flags.image,
        kubeconfig,
        isBootstrap: bootstrap !== undefined,
        replicas: flags.replicas,
      });
      output.result(objects, () =>
        objects
          .map((object) => formatYaml(object))
          .join("---\n")
          .trimEnd(),
      );
      return;
    }
    if (args[0] !== undefined)
      throw new UsageError(
        `unknown argument '${args[0]}'; 'flotilla agent manifests' prints the manifests that install the agent`,
      );
    const days = flags["certificate-days"];
    await agents.run(
      {
        cluster,
        bootstrapKubeconfig: bootstrap,
        hubKubeconfig: own,
        clusterKubeconfig: flags["cluster-kubeconfig"],
        clusterContext: flags["cluster-context"],
        namespace: flags.namespace,
        state: flags.state,
        certificateSeconds: days ? days * DAY_SECONDS : undefined,
        leaderElects: flags["leader-elect"] || undefined,
        evictionGraceMs: flags["evict-after"] !== undefined ? flags["evict-after"] * MINUTE_MS : undefined,
        provider: flags["cluster-provider"] || undefined,
        region: flags["cluster-region"] || undefined,
        zones: (flags["cluster-zones"] ?? "").split(",").filter((zone) => zone !== ""),
        ...logOptions(flags),
        metricsAddress: flags["metrics-address"],
      },
      (text) => output.say(text),
      signal,
    );
  },
});
