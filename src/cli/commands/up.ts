/** `flotilla up`: a hub and simulated members in this process, until Ctrl-C. */
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
    "Everything runs in this process: no cluster, no Docker, no root. A line that starts with 'ready' is printed when everything answers. State is kept in the data directory: the next start goes on where this one ended, also after kill -9.",
  serves: true,
  example: [
    { says: "Start a hub and three members, and go on where they were.", run: "flotilla up" },
    { says: "Start a larger fleet.", run: "flotilla up --members 5 --nodes 10" },
    { says: "Keep the data here, and take another port.", run: "flotilla up --data ./fleet --port 7443" },
    { says: "Look at it from another terminal.", run: "kubectl --kubeconfig ~/.flotilla/hub.kubeconfig get clusters" },
  ],
  args: [],
  flags: {
    members: {
      type: "integer",
      maximum: 10_000,
      description: "how many member clusters to simulate, at least: those of an earlier start stay (default 3)",
    },
    pull: {
      type: "string",
      value: "all|A,B",
      description: "members that pull: an agent in this process serves them, and the hub does not reach them",
    },
    nodes: {
      type: "integer",
      default: 3,
      maximum: 5_000,
      description: "simulated nodes per member; 0 gives members that store but run nothing",
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
        "agents of Open Cluster Management that first sign in as one of these users are let in without 'flotilla accept' (default: nobody)",
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
      description: "feature gates of OpenKruise, as its manager takes them: CloneSetShortHash=true,…",
    },
    "cluster-status-update-frequency": {
      type: "integer",
      value: "SECONDS",
      default: 10,
      minimum: 1,
      maximum: 3600,
      description: "how often members are asked whether they are well",
    },
    "cluster-success-threshold": {
      type: "integer",
      value: "SECONDS",
      default: 30,
      maximum: 86_400,
      description: "how long a member that was away must answer before it is ready again",
    },
    "enable-empty-workload-propagation": {
      type: "boolean",
      description: "members that get no replicas of a divided workload get it with 0",
    },
    "multiple-pod-templates-scheduling": {
      type: "boolean",
      description: "workloads of several components are placed as a whole, where there is room for all of them",
    },
    "cluster-failure-threshold": {
      type: "integer",
      value: "SECONDS",
      default: 30,
      maximum: 86_400,
      description: "how long a ready member may not answer before it is not ready",
    },
    "resource-eviction-rate": {
      type: "number",
      value: "N",
      default: 0.5,
      maximum: 10_000,
      description: "how many workloads leave tainted members per second; 0 is one in 30 minutes",
    },
    "graceful-eviction-timeout": {
      type: "integer",
      value: "SECONDS",
      default: 600,
      maximum: 604_800,
      description: "how long a copy that is to go waits for its replacement, where the policy does not say",
    },
    "enable-no-execute-taint-eviction": {
      type: "boolean",
      description: "NoExecute taints also move workloads whose policy does not speak of cluster failover",
    },
    "no-execute-taint-eviction-purge-mode": {
      type: "string",
      choices: ["Gracefully", "Directly"],
      default: "Gracefully",
      description: "how these leave: after their replacement is up, or at once",
    },
    "allow-no-execute-taint-policy": {
      type: "boolean",
      description: "ClusterTaintPolicies may set NoExecute, which moves workloads",
    },
    data: {
      type: "string",
      value: "DIR",
      description: "where to keep state, certificates and kubeconfigs (default ~/.flotilla)",
    },
    port: {
      type: "integer",
      value: "P",
      default: 6443,
      maximum: 65_535,
      description: "port of the API server on 127.0.0.1; 0 takes any free one",
    },
    ephemeral: { type: "boolean", description: "keep objects in memory only; they are gone after a stop" },
    "log-format": {
      type: "string",
      choices: ["text", "json"],
      default: "text",
      description: "lines of the log on standard error for people, or for programs; the file has JSON",
    },
    "log-level": {
      type: "string",
      choices: ["debug", "info", "warn", "error"],
      default: "warn",
      description: "what to log to standard error; DIR/flotilla.log has what changed in any case",
    },
  },
  async run({ flags, output, signal, startFleet, environment }) {
    if (flags.data === "") throw new UsageError("--data needs the name of a directory");
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
      output.say("stopping; Ctrl-C again ends at once");
    } finally {
      await fleet.stop();
    }
  },
});

export interface ReadyPage {
  ephemeral: boolean;
  /** How many members somebody asked for; undefined when nobody did. */
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
      : [
          `members   are those of an earlier start: --members ${asked} takes none away; for fewer, --data another folder`,
        ]),
    ...(members[0] === undefined ? [] : [`members   have kubeconfigs beside it: ${members[0]}.kubeconfig, …`]),
    ephemeral
      ? "data      in memory: objects are gone after a stop"
      : `data      ${data}; the next start goes on from there`,
    `log       ${logFile}`,
    "",
    "Ctrl-C stops.",
  ].join("\n");
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}
