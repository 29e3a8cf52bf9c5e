/** `flotilla logs`: prints the container logs of a pod, or of all pods of a workload, on all members. */
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { readSeconds, requestTimeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { clusterFlags } from "../members/members-places.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

/** As kubectl does for pods found by a selector. */
const TAIL_OF_SELECTED = 10;

export const logsCommand = defineCommand({
  name: "logs",
  summary: "print the logs of a pod, or of all pods of a workload, on all members",
  details:
    "With more than one container, lines start with [cluster/pod]. Without -c the first container of each " +
    "pod is shown, or the one that its annotation kubectl.kubernetes.io/default-container names. Members " +
    "are reached through the hub. With -o json every line is a JSON object with cluster, pod and container.",
  example: [
    {
      says: "All pods of a CloneSet, on every member that runs it.",
      run: "flotilla logs cloneset/web -n shop --tail 5",
    },
    { says: "Follow a Deployment on two members.", run: "flotilla logs deployment/web -f --clusters member1,member2" },
    { says: "The last hour of one pod, on any member.", run: "flotilla logs web-7d4b9c-x2x1p --since 1h" },
    { says: "Every container of the pods with a label.", run: "flotilla logs -l app=web --all-containers" },
  ],
  args: [
    {
      name: "POD|TYPE/NAME",
      description: "the name of a pod, or a workload as in kubectl",
      required: false,
      completes: "pod",
    },
  ],
  flags: {
    ...namespaceFlag,
    ...clusterFlags,
    selector: {
      type: "string",
      short: "l",
      value: "SELECTOR",
      description: "the pods with these labels, instead of a name",
    },
    container: { type: "string", short: "c", value: "NAME", description: "the container of each pod" },
    "all-containers": { type: "boolean", description: "all containers of each pod" },
    follow: { type: "boolean", short: "f", description: "follow the logs until Ctrl-C" },
    previous: { type: "boolean", short: "p", description: "print the logs of the container before its last restart" },
    tail: {
      type: "integer",
      value: "LINES",
      minimum: -1,
      description: "only the last lines of each container (default: all; 10 with -l)",
    },
    since: { type: "string", value: "DURATION", description: "only lines newer than this, for example 90s, 5m or 2h" },
    timestamps: { type: "boolean", description: "prefix every line with its timestamp" },
    prefix: { type: "boolean", description: "prefix every line with [cluster/pod], even for a single pod" },
    "max-log-requests": {
      type: "integer",
      value: "N",
      default: 20,
      minimum: 1,
      maximum: 500,
      description: "the most containers to follow at once",
    },
    ...requestTimeoutFlag,
    ...hubFlags,
  },
  async run({ args: [named], flags, output, signal, clock, connect, environment, terminal }) {
    if ((named === undefined) === (flags.selector === undefined))
      throw new UsageError("specify one pod or workload ('flotilla logs deployment/web'), or a selector with -l");
    if (flags.container !== undefined && flags["all-containers"])
      throw new UsageError("specify either -c or --all-containers");
    const sinceSeconds = flags.since === undefined ? undefined : readSeconds("--since", flags.since);
    const tail = flags.tail ?? (flags.selector === undefined ? -1 : TAIL_OF_SELECTED);
    // Loaded lazily, so that the help does not load it.
    const { runLogs } = await import("../members/run-logs.ts");
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      return await runLogs(
        {
          named,
          labelSelector: flags.selector,
          namespace: chosenNamespace(flags, hub),
          clusters: flags.clusters,
          container: flags.container,
          allContainers: flags["all-containers"],
          follow: flags.follow,
          previous: flags.previous,
          timestamps: flags.timestamps,
          tail: tail >= 0 ? tail : undefined,
          sinceSeconds,
          prefix: flags.prefix,
          maxRequests: flags["max-log-requests"],
        },
        {
          asking: { client: hub.client, clock, responseTimeoutMs: flags["request-timeout"] * 1000, signal },
          client: hub.client,
          output,
          terminal,
        },
      );
    } finally {
      await hub.close();
    }
  },
});
