/** `flotilla exec`: runs a command in a container on a member. */
import { defineCommand } from "../command.ts";
import { requestTimeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { clusterFlags } from "../members/members-places.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

export const execCommand = defineCommand({
  name: "exec",
  summary: "run a command in a container on a member",
  details:
    "The exit code is that of the command. The member need not be named if only one has the pod. For a " +
    "workload, the first running pod is used. Simulated members run no processes; they emulate a few " +
    "simple programs.",
  example: [
    { says: "A command in a pod, on the member that runs it.", run: "flotilla exec web-7d4b9c-x2x1p -- env" },
    {
      says: "A shell in a pod of a CloneSet on one member.",
      run: "flotilla exec cloneset/web -n shop --clusters member1 -it -- sh",
    },
    { says: "Pipe standard input to the command.", run: "cat data.sql | flotilla exec db-0 -i -- psql" },
  ],
  args: [
    {
      name: "POD|TYPE/NAME",
      description: "the name of a pod, or a workload as in kubectl",
      required: true,
      completes: "pod",
    },
    { name: "COMMAND", description: "the command and its arguments, after --", required: true, repeated: true },
  ],
  flags: {
    ...namespaceFlag,
    ...clusterFlags,
    container: {
      type: "string",
      short: "c",
      value: "NAME",
      description: "the container (default: the pod's default-container annotation, or the first)",
    },
    stdin: { type: "boolean", short: "i", description: "pass standard input to the command" },
    tty: { type: "boolean", short: "t", description: "allocate a terminal for the command" },
    ...requestTimeoutFlag,
    ...hubFlags,
  },
  async run({ args: [named = "", ...command], flags, output, signal, clock, connect, environment, terminal }) {
    // Loaded lazily, so that the help does not load it.
    const { runExec } = await import("../members/run-exec.ts");
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      const options = {
        named,
        namespace: chosenNamespace(flags, hub),
        clusters: flags.clusters,
        container: flags.container,
        command,
        stdin: flags.stdin,
        tty: flags.tty,
      };
      return await runExec(options, {
        hub,
        asking: { client: hub.client, clock, responseTimeoutMs: flags["request-timeout"] * 1000, signal },
        output,
        terminal,
      });
    } finally {
      await hub.close();
    }
  },
});
