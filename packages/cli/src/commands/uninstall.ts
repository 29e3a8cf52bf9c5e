/** `flotilla uninstall`: removes what `flotilla install` added to a cluster. */
import { HUB } from "@flotilla/apimachinery";
import { UsageError } from "@flotilla/base";
import { INSTALL_NAMESPACE } from "@flotilla/flotilla";
import { defineCommand } from "../command.ts";
import { installedObjects } from "../install/apply-install.ts";
import { previewRemoval, removeInstall } from "../install/remove-install.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

export const uninstallCommand = defineCommand({
  name: "uninstall",
  summary: "remove what 'flotilla install' added to a cluster; workloads on members keep running",
  details:
    "Stops the controllers first, and then removes admission, aggregated APIs, accounts and programs. " +
    "Members, policies and works stay on the cluster unless you add --delete-fleet, so a new installation " +
    "continues with them. Templates are never deleted, and nothing on a member is changed. To have the hub " +
    "remove its accounts from members, run 'flotilla unjoin' for each before.",
  example: [
    { says: "Show what would be removed.", run: "flotilla uninstall --kubeconfig cluster.kubeconfig --dry-run" },
    {
      says: "Remove the programs, and keep the fleet's objects.",
      run: "flotilla uninstall --kubeconfig cluster.kubeconfig --yes",
    },
    {
      says: "Also remove the members, policies and works, with their definitions.",
      run: "flotilla uninstall --kubeconfig cluster.kubeconfig --delete-fleet --yes",
    },
  ],
  args: [],
  flags: {
    "delete-fleet": {
      type: "boolean",
      description:
        "also delete the kinds of Karmada and Open Cluster Management with all their objects, and the namespaces with credentials of members",
    },
    namespace: { type: "string", value: "NS", default: INSTALL_NAMESPACE, description: "namespace of the programs" },
    wait: {
      type: "integer",
      value: "SECONDS",
      default: 60,
      maximum: 3600,
      description: "how long to wait for the controllers to stop",
    },
    "dry-run": { type: "boolean", description: "show what would be removed, and remove nothing" },
    yes: { type: "boolean", short: "y", description: "do not ask for confirmation" },
    "in-cluster": { type: "boolean", description: "use the service account of this pod" },
    ...hubFlags,
  },
  async run({ flags, output, signal, clock, connectCluster, environment, terminal }) {
    const access = flags["in-cluster"] ? { kubeconfigs: [], isInCluster: true } : hubKubeconfig(flags, environment);
    const cluster = await connectCluster(access, HUB);
    try {
      const { client, server } = cluster;
      // After the kubeconfig was read: a context that does not exist comes first.
      if (!flags.yes && !flags["dry-run"] && !terminal.canAsk)
        throw new UsageError("cannot ask for confirmation without a terminal: use --yes to remove without it");
      const tools = { client, clock, signal, progress: (text: string) => output.progress(text) };
      output.progress("reading the cluster");
      const [objects, fleet] = [await installedObjects(tools), await previewRemoval(tools)];
      const preview = [
        `On ${server}, ${objects.length} objects of the installation are removed.`,
        flags["delete-fleet"]
          ? `Also ${fleet.objects} objects of the fleet: ${fleet.members} members, ${fleet.works} works, their policies, and the members' credentials.`
          : `${fleet.objects} objects of the fleet stay: ${fleet.members} members, ${fleet.works} works, and policies.`,
        "Templates stay. Workloads on members keep running as they are.",
      ].join("\n");
      if (flags["dry-run"]) {
        output.result(
          { server, objects: objects.length, fleet: { ...fleet }, dryRun: true },
          () => `${preview}\n\nNothing was removed (--dry-run).`,
        );
        return 0;
      }
      if (!flags.yes) {
        output.progress("");
        const answer = await terminal.ask(`${preview}\nRemove it? [y/N] `, signal);
        if (!/^y(es)?$/i.test(answer?.trim() ?? "")) {
          output.say("Nothing was removed.");
          return 1;
        }
      }
      const removed = await removeInstall(
        { namespace: flags.namespace, deletesFleet: flags["delete-fleet"], waitMs: flags.wait * 1000 },
        tools,
      );
      output.result(
        { server, removed: removed.map((each) => ({ ...each, namespace: each.namespace ?? null })), dryRun: false },
        () =>
          `${removed.length} objects were removed from ${server}. ` +
          `${flags["delete-fleet"] ? "The fleet's objects are gone" : "The fleet's objects stay"}; ` +
          "templates and workloads on members are unchanged.",
      );
      return 0;
    } finally {
      await cluster.close();
    }
  },
});
