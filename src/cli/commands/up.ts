/** `flotilla up`: runs a hub and simulated members in this process, until Ctrl-C. */
import { resolve } from "node:path";
import { UsageError } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";
import type { Fleet } from "../fleet.ts";
import type { Paint } from "../paint.ts";

const DEFAULT_MEMBERS = 3;

export const upCommand = defineCommand({
  name: "up",
  summary: "start a hub and simulated member clusters, and run until Ctrl-C",
  details:
    "Everything runs in this process: no cluster, no Docker, no root. A line that starts with 'ready' is printed when every component responds. State is kept in the data directory: the next start resumes from it, even after kill -9.",
  serves: true,
  example: [
    { says: "Start a hub and three members, or resume them.", run: "flotilla up" },
    { says: "Start a larger fleet.", run: "flotilla up --members 5 --nodes 10" },
    { says: "Keep the data here, and use another port.", run: "flotilla up --data ./fleet --port 7443" },
    { says: "Query it from another terminal.", run: "kubectl --kubeconfig ~/.flotilla/hub.kubeconfig get clusters" },
  ],
  args: [],
  flags: {
    members: {
      type: "integer",
      maximum: 10_000,
      description: "minimum number of simulated member clusters; members of an earlier start stay (default 3)",
    },
    pull: {
      type: "string",
      value: "all|A,B",
      description: "pull-mode members: an agent in this process serves them, and the hub does not connect to them",
    },
    nodes: {
      type: "integer",
      default: 3,
      maximum: 5_000,
      description: "simulated nodes per member; with 0 members store objects but run nothing",
    },
    "start-ms": {
      type: "integer",
      value: "MS",
      default: 1000,
      maximum: 3_600_000,
      description: "how long simulated pods take to start, to restart and to stop",
    },
    "auto-approved-csr-users": {
      type: "string",
      value: "A,B",
      description:
        "Open Cluster Management agents that first authenticate as one of these users are accepted without 'flotilla accept' (default: none)",
    },
    kruise: {
      type: "string",
      choices: ["installed", "none"],
      default: "installed",
      description: "whether members have OpenKruise",
    },
    "kruise-gates": {
      type: "string",
      value: "GATES",
      description: "feature gates of OpenKruise, in its manager's syntax: CloneSetShortHash=true,…",
    },
    "cluster-status-update-frequency": {
      type: "integer",
      value: "SECONDS",
      default: 10,
      minimum: 1,
      maximum: 3600,
      description: "how often the health of members is checked",
    },
    "cluster-success-threshold": {
      type: "integer",
      value: "SECONDS",
      default: 30,
      maximum: 86_400,
      description: "how long a recovered member must respond before it is ready again",
    },
    "enable-empty-workload-propagation": {
      type: "boolean",
      description: "members that get no replicas of a divided workload still get the object, with 0 replicas",
    },
    "multiple-pod-templates-scheduling": {
      type: "boolean",
      description: "workloads with several components are scheduled as a whole, to members with room for all of them",
    },
    "cluster-failure-threshold": {
      type: "integer",
      value: "SECONDS",
      default: 30,
      maximum: 86_400,
      description: "how long a ready member may be unreachable before it is not ready",
    },
    "resource-eviction-rate": {
      type: "number",
      value: "N",
      default: 0.5,
      maximum: 10_000,
      description: "evictions per second from tainted members; 0 means one in 30 minutes",
    },
    "graceful-eviction-timeout": {
      type: "integer",
      value: "SECONDS",
      default: 600,
      maximum: 604_800,
      description: "how long a copy under eviction waits for its replacement, unless the policy sets it",
    },
    "enable-no-execute-taint-eviction": {
      type: "boolean",
      description: "NoExecute taints also evict workloads whose policy does not configure cluster failover",
    },
    "no-execute-taint-eviction-purge-mode": {
      type: "string",
      choices: ["Gracefully", "Directly"],
      default: "Gracefully",
      description: "how these are evicted: after their replacement is up, or at once",
    },
    "allow-no-execute-taint-policy": {
      type: "boolean",
      description: "ClusterTaintPolicies may set NoExecute taints, which evict workloads",
    },
    data: {
      type: "string",
      value: "DIR",
      description: "directory for state, certificates and kubeconfigs (default ~/.flotilla)",
    },
    port: {
      type: "integer",
      value: "P",
      default: 6443,
      maximum: 65_535,
      description: "port of the API server on 127.0.0.1; 0 picks a free one",
    },
    ephemeral: { type: "boolean", description: "keep objects in memory only; they are lost after a stop" },
    "log-format": {
      type: "string",
      choices: ["text", "json"],
      default: "text",
      description: "format of the log on standard error, for people or for programs; the file is always JSON",
    },
    "log-level": {
      type: "string",
      choices: ["debug", "info", "warn", "error"],
      default: "warn",
      description: "log level of standard error; DIR/flotilla.log records changes in any case",
    },
  },
  async run({ flags, output, signal, startFleet, environment }) {
    if (flags.data === "") throw new UsageError("--data needs a directory name");
    const data = flags.data ?? defaultDataDirectory(environment);
    const fleet = await startFleet(
      {
        members: flags.members ?? DEFAULT_MEMBERS,
        nodes: flags.nodes,
        pull: flags.pull
          ? flags.pull === "all"
            ? "all"
            : flags.pull.split(",").filter((name) => name !== "")
          : undefined,
        autoApprovedUsers: flags["auto-approved-csr-users"]
          ? flags["auto-approved-csr-users"].split(",").filter((name) => name !== "")
          : undefined,
        startMs: flags["start-ms"],
        kruise: flags.kruise === "none" ? "none" : "installed",
        kruiseGates: flags["kruise-gates"],
        membership: {
          periodMs: flags["cluster-status-update-frequency"] * 1000,
          successMs: flags["cluster-success-threshold"] * 1000,
          failureMs: flags["cluster-failure-threshold"] * 1000,
        },
        scheduling: {
          enableEmptyWorkloadPropagation: flags["enable-empty-workload-propagation"],
          multiplePodTemplatesScheduling: flags["multiple-pod-templates-scheduling"],
        },
        failover: {
          evictionsPerSecond: flags["resource-eviction-rate"],
          evictionTimeoutMs: flags["graceful-eviction-timeout"] * 1000,
          unasked: flags["enable-no-execute-taint-eviction"]
            ? ({
                purgeMode: flags["no-execute-taint-eviction-purge-mode"] === "Directly" ? "Directly" : "Gracefully",
              } as const)
            : undefined,
          allowNoExecuteTaintPolicy: flags["allow-no-execute-taint-policy"],
        },
        data,
        port: flags.port,
        ephemeral: flags.ephemeral,
        logLevel: flags["log-level"] as "warn",
        logFormat: flags["log-format"] === "json" ? "json" : "text",
        onTrouble: (text) => output.warn(output.called(`flotilla up: ${text}`)),
      },
      (text) => output.progress(text),
      signal,
    );
    output.progress("");
    const { url, members, kubeconfigs, logFile } = fleet;
    const isDefaultData = fleet.data === resolve(defaultDataDirectory(environment));
    output.result(
      { url, data: fleet.data, members: [...members], kubeconfigs: Object.fromEntries(kubeconfigs), logFile },
      () =>
        output.called(
          renderReady(fleet, { ephemeral: flags.ephemeral, asked: flags.members, isDefaultData, paint: output.paint }),
        ),
    );
    try {
      const failure = await Promise.race([fleet.failed, aborted(signal)]);
      if (failure) throw failure;
      output.say("stopping; press Ctrl-C again to exit at once");
    } finally {
      await fleet.stop();
    }
  },
});

export interface ReadyPage {
  ephemeral: boolean;
  /** The value of --members; undefined if it was not given. */
  asked: number | undefined;
  isDefaultData: boolean;
  paint: Paint;
}

export function renderReady(
  { url, members, kubeconfigs, data, logFile }: Pick<Fleet, "url" | "members" | "kubeconfigs" | "data" | "logFile">,
  { ephemeral, asked, isDefaultData, paint }: ReadyPage,
): string {
  const shown = members.length > 4 ? `${members.slice(0, 3).join(", ")} … ${members.at(-1)}` : members.join(", ");
  const status = isDefaultData ? "flotilla status" : `flotilla status --data ${data}`;
  return [
    `${paint.green("ready")}  ${url}  hub and ${members.length} member${members.length === 1 ? "" : "s"}${members.length > 0 ? ` (${shown})` : ""}`,
    "",
    "Next, in another terminal:",
    `  ${paint.cyan(`export KUBECONFIG=${kubeconfigs.get("hub") ?? ""}`)}`,
    `  ${paint.cyan("kubectl get clusters")}`,
    `  ${paint.cyan(status)}`,
    "",
    ...(asked === undefined || members.length <= asked
      ? []
      : [`members   are from an earlier start: --members ${asked} removes none; for fewer, use another --data folder`]),
    ...(members[0] === undefined ? [] : [`members   have kubeconfigs beside it: ${members[0]}.kubeconfig, …`]),
    ephemeral
      ? "data      in memory: objects are lost after a stop"
      : `data      ${data}; the next start resumes from there`,
    `log       ${logFile}`,
    "",
    "Ctrl-C stops.",
  ].join("\n");
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}
