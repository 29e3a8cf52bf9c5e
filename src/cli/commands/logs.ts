/** `flotilla logs`: what the containers of a pod, or of all pods of a workload, wrote; over all members. */
import { UsageError } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { namespaceFlag, patienceFlag, readSeconds } from "../members/flags.ts";
import { clusterFlags } from "../members/places.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

/** As kubectl shows of pods that a selector found. */
const TAIL_OF_SELECTED = 10;

export const logsCommand = defineCommand({
  name: "logs",
  summary: "print the logs of a pod, or of all pods of a workload, over all members",
  details:
    "Lines of more than one container begin with [cluster/pod]. Without -c the first container of each pod is shown, or the one that its annotation kubectl.kubernetes.io/default-container names. Members are reached through the hub. With -o json every line is an object of its own, with cluster, pod and container.",
  example: [
    {
      says: "All pods of a CloneSet, on every member that runs it.",
      run: "flotilla logs cloneset/web -n shop --tail 5",
    },
    { says: "Follow a Deployment on two members.", run: "flotilla logs deployment/web -f --clusters member1,member2" },
    { says: "One pod, wherever it is, in the last hour.", run: "flotilla logs web-7d4b9c-x2x1p --since 1h" },
    { says: "Every container of the pods with a label.", run: "flotilla logs -l app=web --all-containers" },
  ],
  args: [
    {
      name: "POD|TYPE/NAME",
      description: "the name of a pod, or a workload as kubectl names it",
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
    follow: { type: "boolean", short: "f", description: "go on with what is written from now, until Ctrl-C" },
    previous: { type: "boolean", short: "p", description: "of the container that ran before the last restart" },
    tail: {
      type: "integer",
      value: "LINES",
      minimum: -1,
      description: "only the last lines of each container (default: all; 10 with -l)",
    },
    since: { type: "string", value: "DURATION", description: "only what is newer, as 90s, 5m or 2h" },
    timestamps: { type: "boolean", description: "begin every line with its time" },
    prefix: { type: "boolean", description: "begin every line with [cluster/pod], also when there is one only" },
    "max-log-requests": {
      type: "integer",
      value: "N",
      default: 20,
      minimum: 1,
      maximum: 500,
      description: "how many containers may be followed at once",
    },
    ...patienceFlag,
    ...hubFlags,
  },
  async run({ args: [named], flags, output, signal, clock, connect, environment, terminal }) {
    if ((named === undefined) === (flags.selector === undefined))
      throw new UsageError("name one pod or workload ('flotilla logs deployment/web'), or give a selector with -l");
    if (flags.container !== undefined && flags["all-containers"])
      throw new UsageError("give -c or --all-containers, not both");
    const sinceSeconds = flags.since === undefined ? undefined : readSeconds("--since", flags.since);
    const tail = flags.tail ?? (flags.selector === undefined ? -1 : TAIL_OF_SELECTED);
    // Loaded here, so that the help does not pay for it.
    const { runLogs } = await import("../members/run-logs.ts");
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      return await runLogs(
        {
          named,
          labelSelector: flags.selector,
          namespace: flags.namespace ?? hub.namespace ?? "default",
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
          asking: { client: hub.client, clock, patienceMs: flags["request-timeout"] * 1000, signal },
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
