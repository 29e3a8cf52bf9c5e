/** `flotilla controllers`: runs the hub's controllers against an API server anywhere, until Ctrl-C. */
import { UsageError } from "@flotilla/base";
import { CONTROLLER_GROUPS } from "@flotilla/flotilla";
import type { ControllerGroup, Shard } from "@flotilla/flotilla";
import { defineCommand } from "../command.ts";
import { logFlags, logOptions } from "./log-flags.ts";
import { controllerFlags, controllerOptions, namesIn } from "./serve-flags.ts";

export const controllersCommand = defineCommand({
  name: "controllers",
  summary: "run the hub's controllers against an API server, with leader election",
  details:
    "Schedules workloads, delivers them to members and aggregates their status, for the hub of a " +
    "kubeconfig. Several processes may run: each group of controllers has a Lease on the hub, one process " +
    "holds it and is active, the others have read the hub and stand by. Groups can be spread over " +
    "processes with --controllers, and the members of the group delivery with --shard. A line that starts " +
    "with 'ready' is printed when every group of this process has a leader, and a line when it takes over " +
    "or loses its leadership.",
  serves: true,
  example: [
    {
      says: "Run the controllers of a hub that 'flotilla apiserver' serves.",
      run: "flotilla controllers --kubeconfig ./hub/controllers.kubeconfig",
    },
    {
      says: "Deliver to the first of three parts of the members.",
      run: "flotilla controllers --kubeconfig ./hub/controllers.kubeconfig --controllers delivery --shard 0/3",
    },
    {
      says: "Serve metrics and health checks.",
      run: "flotilla controllers --kubeconfig ./hub/controllers.kubeconfig --metrics-address 127.0.0.1:9103",
    },
  ],
  args: [],
  flags: {
    kubeconfig: {
      type: "string",
      value: "FILE",
      description: "kubeconfig of the hub; 'flotilla apiserver' writes DIR/controllers.kubeconfig",
    },
    "in-cluster": {
      type: "boolean",
      description: "use the service account of this pod, for the hub that 'flotilla install' made of its cluster",
    },
    controllers: {
      type: "string",
      value: "A,B",
      description: `groups of controllers that may run here: ${CONTROLLER_GROUPS.join(", ")} (default: all)`,
    },
    shard: {
      type: "string",
      value: "I/N",
      description:
        "deliver to one of N parts of the members, counted from 0; N processes, or more for standbys, serve all (default 0/1)",
    },
    "leader-elect": {
      type: "string",
      choices: ["true", "false"],
      default: "true",
      description: "whether to wait for the Lease of each group, so that only one process runs it",
    },
    "metrics-address": {
      type: "string",
      value: "HOST:PORT",
      description: "serve /metrics, /metrics/members, /healthz and /readyz there, for example 127.0.0.1:9103",
    },
    ...controllerFlags,
    ...logFlags,
  },
  async run({ flags, output, signal, roles }) {
    if (!flags.kubeconfig && !flags["in-cluster"])
      throw new UsageError(
        "--kubeconfig FILE or --in-cluster is required; 'flotilla apiserver' writes controllers.kubeconfig",
      );
    const running = await roles.controllers(
      {
        // Whether a ClusterTaintPolicy may set NoExecute is decided when it is written, by the API server.
        ...controllerOptions(flags, true),
        kubeconfig: flags["in-cluster"] ? undefined : flags.kubeconfig,
        groups: groupsOf(flags.controllers),
        shard: shardIn(flags.shard),
        leaderElects: flags["leader-elect"] === "true",
        onLeadership: (change) =>
          output.say(
            change !== "lost"
              ? `leading: this process has taken over ${change.won === "all" ? "the controllers" : change.won}`
              : "standing by: this process has lost the Lease and its controllers have stopped; it waits for the Lease again",
          ),
        metricsAddress: flags["metrics-address"],
        ...logOptions(flags),
      },
      (text) => output.progress(text),
      signal,
    );
    const standing = await Promise.race([running.standing, running.ended]);
    output.progress("");
    if (standing !== undefined) {
      const { leads, leader } = standing;
      output.result(
        { server: running.server, leading: leader === undefined, leads: [...leads], leader: leader ?? null },
        () =>
          [
            `${output.paint.green("ready")}  ${running.server}  ${renderStanding(leads, leader)}`,
            "",
            "Ctrl-C stops.",
          ].join("\n"),
      );
    }
    await running.ended;
  },
});

/** Pure. */
function renderStanding(leads: readonly string[], leader: string | undefined): string {
  if (leader === undefined)
    return leads.length === CONTROLLER_GROUPS.length ? "controllers lead" : `leading ${leads.join(", ")}`;
  return leads.length === 0 ? `standing by; ${leader} leads` : `leading ${leads.join(", ")}; ${leader} leads others`;
}

function groupsOf(text: string | undefined): ControllerGroup[] | undefined {
  return namesIn(text)?.map((name) => {
    const group = CONTROLLER_GROUPS.find((each) => each === name);
    if (!group)
      throw new UsageError(
        `--controllers: '${name}' is not a group of controllers; use ${CONTROLLER_GROUPS.join(", ")}`,
      );
    return group;
  });
}

/** One part of a thousand members is one member. */
const MAX_SHARDS = 1000;

function shardIn(text: string | undefined): Shard | undefined {
  if (text === undefined) return undefined;
  const [, index, count] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number);
  if (index === undefined || count === undefined || index >= count || count > MAX_SHARDS)
    throw new UsageError(`--shard '${text}' is not I/N with I from 0 to N-1 and N up to ${MAX_SHARDS}, such as 0/3`);
  return { index, count };
}
