/**
 * `flotilla agent`: serves one cluster from inside its network; `flotilla agent manifests` prints what installs it
 * there.
 */
import { UsageError } from "../../base/index.ts";
import { formatYaml } from "../../machinery/index.ts";
import { checkClusterName } from "../agent/cluster-name.ts";
import { agentManifests } from "../agent/manifests.ts";
import { defineCommand } from "../command.ts";

const DAY_SECONDS = 24 * 60 * 60;
const MINUTE_MS = 60_000;

export const agentCommand = defineCommand({
  name: "agent",
  summary: "serve a cluster that pulls: apply what the hub has for it, and report",
  details: "Runs until it is stopped. It goes on without its hub, and renews its credentials in time.",
  serves: true,
  example: [
    {
      says: "Serve a cluster that asks to join with a token.",
      run: "flotilla agent --bootstrap-kubeconfig bootstrap.kubeconfig --cluster-kubeconfig paris.kubeconfig --cluster-name paris",
    },
    {
      says: "Serve a cluster that has registered.",
      run: "flotilla agent --hub-kubeconfig paris-agent.kubeconfig --cluster-kubeconfig paris.kubeconfig --cluster-name paris",
    },
    {
      says: "Run the agent on the cluster itself.",
      run: "flotilla agent manifests --image registry.example.com/flotilla:1 --bootstrap-kubeconfig bootstrap.kubeconfig --cluster-name paris | kubectl apply -f -",
    },
  ],
  args: [
    {
      name: "manifests",
      description: "print the objects that run the agent on the cluster itself, instead of running it here",
      required: false,
      choices: ["manifests"],
    },
  ],
  flags: {
    "cluster-name": { type: "string", value: "NAME", description: "what the hub calls the cluster" },
    "bootstrap-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "how to ask the hub for credentials; 'flotilla token --bootstrap-kubeconfig FILE' writes one",
    },
    "hub-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "the agent's own credentials, as 'flotilla register' writes them",
    },
    "cluster-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "kubeconfig of the cluster (default: the cluster in which this runs)",
    },
    "cluster-context": {
      type: "string",
      value: "NAME",
      completes: "context",
      description: "its context (default: the current one)",
    },
    namespace: {
      type: "string",
      value: "NS",
      default: "open-cluster-management-agent",
      description: "where the agent keeps its credentials on the cluster",
    },
    state: { type: "string", value: "DIR", description: "keep them in this directory instead" },
    "certificate-days": {
      type: "integer",
      value: "N",
      maximum: 3650,
      description: "how long certificates shall hold (default: what the hub signs); they are renewed in time",
    },
    "cluster-provider": {
      type: "string",
      value: "TEXT",
      description: "whose cluster it is, when it registered Karmada's way",
    },
    "cluster-region": { type: "string", value: "TEXT", description: "where it is" },
    "cluster-zones": { type: "string", value: "A,B", description: "its zones" },
    "leader-elect": { type: "boolean", description: "of several replicas one serves, by a Lease in the namespace" },
    "evict-after": {
      type: "integer",
      value: "MINUTES",
      maximum: 525_600,
      description:
        "remove what a ManifestWork brought so long after the hub lost it without deleting it (default: never)",
    },
    image: { type: "string", value: "IMAGE", description: "with manifests: the image that contains flotilla" },
    replicas: {
      type: "integer",
      value: "N",
      default: 1,
      minimum: 1,
      maximum: 5,
      description: "with manifests: how many pods; one serves, the others stand by",
    },
    "metrics-address": {
      type: "string",
      value: "HOST:PORT",
      description: "serve /metrics for Prometheus there, for example 127.0.0.1:9102",
    },
    "log-format": {
      type: "string",
      choices: ["json", "text"],
      default: "json",
      description: "lines of the log for programs, or for people",
    },
    "log-level": {
      type: "string",
      choices: ["debug", "info", "warn", "error"],
      default: "info",
      description: "what to log to standard error",
    },
  },
  async run({ args, flags, output, signal, agents, readFile }) {
    const cluster = flags["cluster-name"];
    checkClusterName(cluster, "what the hub calls the cluster");
    const [bootstrap, own] = [flags["bootstrap-kubeconfig"], flags["hub-kubeconfig"]];
    if ((bootstrap === undefined) === (own === undefined))
      throw new UsageError(
        "give either --bootstrap-kubeconfig FILE, for a cluster that asks to join, or --hub-kubeconfig FILE, for one that has registered",
      );
    if (args[0] === "manifests") {
      if (!flags.image) throw new UsageError("--image IMAGE is missing: an image that contains flotilla");
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
        `'flotilla agent' does not know '${args[0]}'; 'flotilla agent manifests' prints what installs it`,
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
        logLevel: flags["log-level"] as "info",
        logFormat: flags["log-format"] === "text" ? "text" : "json",
        metricsAddress: flags["metrics-address"],
      },
      (text) => output.say(text),
      signal,
    );
  },
});
