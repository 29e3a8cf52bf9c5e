/** `flotilla edit`: opens an object of the hub in an editor, shows what the change does to each member, and applies it. */
import { defineCommand } from "../command.ts";
import { readSeconds, timeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { readOne } from "../members/targets.ts";
import { requireHub } from "../membership/hub-only.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const USAGE = "'flotilla edit cloneset/web' or 'flotilla edit cloneset web'";

export const editCommand = defineCommand({
  name: "edit",
  summary: "edit an object of the hub, review what would change on each member, and apply it",
  details:
    "Opens the object as YAML in $KUBE_EDITOR, else $EDITOR, else vi. What the hub sets itself, such as " +
    "the status, is not shown. If the hub rejects the change, the editor opens again with the reason at " +
    "the top. Then the plan is shown and applied after confirmation, as by 'flotilla apply'. Only the " +
    "fields that you changed are written.",
  example: [
    { says: "Edit a workload, review the plan, and confirm it.", run: "flotilla edit cloneset/web -n shop" },
    {
      says: "In a script: replace a text, and wait until all members are healthy.",
      run: "KUBE_EDITOR='sed -i s/app:1/app:2/' flotilla edit cloneset/web --yes --wait",
    },
  ],
  args: [
    { name: "TYPE/NAME", description: "the object as in kubectl, or its TYPE", required: true, completes: "resource" },
    { name: "NAME", description: "its name, if the first argument is only a TYPE", required: false, completes: "name" },
  ],
  flags: {
    ...namespaceFlag,
    yes: { type: "boolean", short: "y", description: "apply without confirmation" },
    wait: { type: "boolean", description: "wait until the members have it and are healthy" },
    ...timeoutFlag,
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment, terminal }) {
    const { word, name } = readOne(args, USAGE);
    const waitSeconds = readSeconds("--timeout", flags.timeout);
    // Loaded lazily, so that other commands and the help do not load the planners.
    const [{ runEdit }, { resolveNamed }] = await Promise.all([
      import("../explain/run-edit.ts"),
      import("../explain/resolve-type.ts"),
    ]);
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      // Before the editor opens: what it reads, a member may have, too.
      await requireHub(hub.client, hub.server, signal);
      const place = chosenNamespace(flags, hub);
      const [kind] = await resolveNamed(hub.client, { type: word, name, namespace: place }, signal, output.warn);
      const namespace = kind.scope === "Namespaced" ? place : undefined;
      return await runEdit(
        { kind, namespace, name, yes: flags.yes, waitMs: flags.wait ? waitSeconds * 1000 : undefined },
        {
          asking: { client: hub.client, clock, responseTimeoutMs: 10_000, signal },
          client: hub.client,
          output,
          terminal,
        },
      );
    } finally {
      output.progress("");
      await hub.close();
    }
  },
});
