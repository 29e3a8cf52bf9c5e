/** `flotilla controllers`: runs the hub's controllers against an API server anywhere, until Ctrl-C. */
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { controllerFlags, controllerOptions } from "./serve-flags.ts";

export const controllersCommand = defineCommand({
  name: "controllers",
  summary: "run the hub's controllers against an API server, with leader election",
  details:
    "Schedules workloads, delivers them to members and aggregates their status, for the hub of a kubeconfig. Several processes may run: one holds a Lease on the hub and is active, the others stand by. A line that starts with 'ready' is printed when this process leads or stands by, and a line when it takes over or loses its leadership.",
  serves: true,
  example: [
    {
      says: "Run the controllers of a hub that 'flotilla apiserver' serves.",
      run: "flotilla controllers --kubeconfig ./hub/controllers.kubeconfig",
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
    "leader-elect": {
      type: "string",
      choices: ["true", "false"],
      default: "true",
      description: "whether to wait for the Lease, so that only one process is active",
    },
    "metrics-address": {
      type: "string",
      value: "HOST:PORT",
      description: "serve /metrics, /metrics/members, /healthz and /readyz there, for example 127.0.0.1:9103",
    },
    ...controllerFlags,
    "log-format": {
      type: "string",
      choices: ["json", "text"],
      default: "text",
      description: "format of log lines on standard error",
    },
    "log-level": {
      type: "string",
      choices: ["debug", "info", "warn", "error"],
      default: "warn",
      description: "what to log to standard error",
    },
  },
  async run({ flags, output, signal, roles }) {
    if (!flags.kubeconfig)
      throw new UsageError("--kubeconfig FILE is required; 'flotilla apiserver' writes controllers.kubeconfig");
    const running = await roles.controllers(
      {
        // Whether a ClusterTaintPolicy may set NoExecute is decided when it is written, by the API server.
        ...controllerOptions(flags, true),
        kubeconfig: flags.kubeconfig,
        leaderElects: flags["leader-elect"] === "true",
        onLeadership: (change) =>
          output.say(
            change === "won"
              ? "leading: this process has taken over the controllers"
              : "standing by: this process has lost the Lease and its controllers have stopped; it waits for the Lease again",
          ),
        metricsAddress: flags["metrics-address"],
        logLevel: flags["log-level"] as "warn",
        logFormat: flags["log-format"] === "json" ? "json" : "text",
      },
      (text) => output.progress(text),
      signal,
    );
    const standing = await Promise.race([running.standing, running.ended]);
    output.progress("");
    if (standing !== undefined) {
      const leads = standing === "leading";
      output.result({ server: running.server, leading: leads, leader: leads ? null : standing.standby }, () =>
        [
          `${output.paint.green("ready")}  ${running.server}  ${leads ? "controllers lead" : `standing by; ${standing.standby} leads`}`,
          "",
          "Ctrl-C stops.",
        ].join("\n"),
      );
    }
    await running.ended;
  },
});
