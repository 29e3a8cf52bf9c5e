/** `flotilla exec`: runs a command in a container of a member. */
import { defineCommand } from "../command.ts";
import { namespaceFlag, patienceFlag } from "../members/flags.ts";
import { clusterFlags } from "../members/places.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

export const execCommand = defineCommand({
  name: "exec",
  summary: "run a command in a container of a member",
  details:
    "The exit code is that of the command. The member need not be named when one alone has the pod. Of a workload, the first pod that runs is taken. Simulated members run no processes: a few plain programs answer what they would.",
  example: [
    { says: "A command in a pod, on the member that has it.", run: "flotilla exec web-7d4b9c-x2x1p -- env" },
    {
      says: "A shell in a pod of a CloneSet on one member.",
      run: "flotilla exec cloneset/web -n shop --clusters member1 -it -- sh",
    },
    { says: "What comes in here goes to the command.", run: "cat data.sql | flotilla exec db-0 -i -- psql" },
  ],
  args: [
    {
      name: "POD|TYPE/NAME",
      description: "the name of a pod, or a workload as kubectl names it",
      required: true,
      completes: "pod",
    },
    { name: "COMMAND", description: "the command and its arguments, behind --", required: true, repeated: true },
  ],
  flags: {
    ...namespaceFlag,
    ...clusterFlags,
    container: {
      type: "string",
      short: "c",
      value: "NAME",
      description: "the container (default: the first, or the one that the pod's annotation names)",
    },
    stdin: { type: "boolean", short: "i", description: "hand standard input to the command" },
    tty: { type: "boolean", short: "t", description: "give the command a terminal" },
    ...patienceFlag,
    ...hubFlags,
  },
  async run({ args: [named = "", ...command], flags, output, signal, clock, connect, environment, terminal }) {
    // Loaded here, so that the help does not pay for it.
    const { runExec } = await import("../members/run-exec.ts");
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      const options = {
        named,
        namespace: flags.namespace ?? hub.namespace ?? "default",
        clusters: flags.clusters,
        container: flags.container,
        command,
        stdin: flags.stdin,
        tty: flags.tty,
      };
      return await runExec(options, {
        hub,
        asking: { client: hub.client, clock, patienceMs: flags["request-timeout"] * 1000, signal },
        output,
        terminal,
      });
    } finally {
      await hub.close();
    }
  },
});
