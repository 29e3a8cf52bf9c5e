/** `flotilla unjoin`: removes a member from the fleet. Its workloads keep running unless `--purge` is given. */
import { Cluster } from "@flotilla/karmada";
import { findCondition, HUB } from "@flotilla/apimachinery";
import { FlotillaError, sleep } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { defineCommand } from "../command.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { secretsNamespace } from "../membership/hub-records.ts";
import { removeAccounts } from "../membership/member-account.ts";
import { memberNotFound } from "../membership/taints.ts";
import { FORCE_ANNOTATION, PURGE_ANNOTATION, UNJOINING } from "@flotilla/flotilla";

const POLL_MS = 250;

/** The member is not waited for any more, so only the hub's own cleanup is left. */
const FORCED_WAIT_MS = 30_000;

export const unjoinCommand = defineCommand({
  name: "unjoin",
  summary: "remove a member from the fleet; its workloads stay unless they are purged",
  details:
    "Waits until the hub has released everything there. On a terminal it asks first; in a script it does not, as with --yes.",
  example: [
    {
      says: "Remove a member, and the hub's account on it.",
      run: "flotilla unjoin paris --cluster-kubeconfig paris.kubeconfig",
    },
    { says: "Also delete the objects that the hub created there.", run: "flotilla unjoin paris --purge" },
    { says: "Remove a member that does not respond.", run: "flotilla unjoin paris --force --wait 10" },
  ],
  args: [{ name: "NAME", description: "the member", required: true, completes: "cluster" }],
  flags: {
    purge: {
      type: "boolean",
      description: "delete the objects that the hub created on the member; without it everything keeps running",
    },
    force: {
      type: "boolean",
      description: "after --wait, remove the member even if it does not respond; its objects stay unchanged",
    },
    yes: { type: "boolean", short: "y", description: "do not ask for confirmation" },
    wait: {
      type: "integer",
      value: "SECONDS",
      default: 60,
      minimum: 1,
      maximum: 3600,
      description: "how long to wait for the member to be removed",
    },
    "cluster-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "kubeconfig of an administrator of the cluster, to remove the hub's account there",
    },
    "cluster-context": {
      type: "string",
      value: "NAME",
      completes: "context",
      description: "context in that kubeconfig (default: the current one)",
    },
    "cluster-namespace": {
      type: "string",
      value: "NS",
      default: secretsNamespace,
      description: "the namespace of the hub's accounts on the cluster",
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, connectCluster, environment, terminal }) {
    const [name = ""] = args;
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      const cluster = await find(hub.client, Cluster, { cluster: HUB, name }, { signal });
      if (!cluster) throw await memberNotFound(hub.client, name, signal);
      if (!flags.yes && terminal.canAsk) {
        const what = flags.purge
          ? "and delete the objects that the hub created there"
          : "and leave its workloads running";
        const answer = await terminal.ask(`Remove ${name} from the fleet ${what}? [y/N] `, signal);
        if (!/^y(es)?$/i.test(answer?.trim() ?? "")) {
          output.say("Nothing was changed.");
          return 1;
        }
      }
      if (flags.purge) await annotate(hub.client, name, PURGE_ANNOTATION, signal);
      output.progress(`unjoining ${name}`);
      await hub.client.delete(Cluster, { cluster: HUB, name }, { signal });
      const tools = { client: hub.client, clock, signal, progress: (text: string) => output.progress(text) };
      const left = await waitUntilRemoved(tools, name, flags.wait * 1000);
      if (left !== undefined) {
        if (!flags.force)
          throw new FlotillaError(
            "Unjoin",
            `${name} is still being unjoined after ${flags.wait} s: ${left}; the hub keeps trying, and --force removes it without a response from the member`,
          );
        output.progress(`removing ${name} without its response`);
        await annotate(hub.client, name, FORCE_ANNOTATION, signal);
        const stuck = await waitUntilRemoved(tools, name, FORCED_WAIT_MS);
        if (stuck !== undefined) throw new FlotillaError("Unjoin", `${name} is still registered: ${stuck}`);
      }
      const notes: string[] = [];
      if (flags["cluster-kubeconfig"]) {
        output.progress(`removing the hub's account from ${name}`);
        const member = await connectCluster(
          { kubeconfigs: [flags["cluster-kubeconfig"]], context: flags["cluster-context"] },
          name,
        );
        try {
          notes.push(
            ...(await removeAccounts(member.client, { cluster: name, namespace: flags["cluster-namespace"] }, signal)),
          );
        } finally {
          await member.close();
        }
      } else if (cluster.spec.secretRef)
        notes.push(`the account karmada-${name} is still on the member; use --cluster-kubeconfig FILE to remove it`);
      output.progress("");
      for (const note of notes) output.warn(note);
      output.result(
        { name, purged: flags.purge, forced: left !== undefined },
        () =>
          `cluster ${name} has left; ` +
          (flags.purge && left === undefined
            ? "the objects that the hub created there are deleted"
            : "its workloads keep running"),
      );
      return 0;
    } finally {
      await hub.close();
    }
  },
});

async function annotate(client: Client, name: string, annotation: string, signal: AbortSignal): Promise<void> {
  await client.patch(
    Cluster,
    { cluster: HUB, name },
    { metadata: { annotations: { [annotation]: "true" } } },
    { type: "merge", signal },
  );
}

/** Undefined when the member is removed, else what the removal waits for. */
async function waitUntilRemoved(
  {
    client,
    clock,
    signal,
    progress,
  }: { client: Client; clock: Clock; signal: AbortSignal; progress(text: string): void },
  name: string,
  waitMs: number,
): Promise<string | undefined> {
  const untilMs = clock.now() + waitMs;
  for (;;) {
    const cluster = await find(client, Cluster, { cluster: HUB, name }, { signal });
    if (!cluster) return undefined;
    const reason = findCondition(cluster.status?.conditions ?? [], UNJOINING)?.message ?? "its Works are being removed";
    if (clock.now() >= untilMs) return reason;
    progress(`waiting for ${name} to be removed: ${reason}`);
    await sleep(clock, POLL_MS, signal);
  }
}
