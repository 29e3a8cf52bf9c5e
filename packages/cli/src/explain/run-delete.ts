/** Implements `flotilla delete`: shows which members lose what, asks for confirmation, deletes, and waits if requested. */
import { FlotillaError, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Cluster } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { titleOf } from "../members/types.ts";
import type { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { bindingOf, keyOf, waitUntilGone, wordsOf } from "./wait-gone.ts";
import type { Deletion } from "./wait-gone.ts";

export interface DeleteOptions {
  deletions: readonly Deletion[];
  /** Without confirmation. */
  yes: boolean;
  /** Objects that do not exist are not an error. */
  ignoreNotFound: boolean;
  /** If unset, does not wait. */
  waitMs?: number;
}

export interface DeleteTools {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  output: Output;
  terminal: Pick<Terminal, "canAsk" | "ask">;
}

const FAILED = 1;

export async function runDelete(options: DeleteOptions, tools: DeleteTools): Promise<number> {
  const { client, output, signal, terminal } = tools;
  if (!options.yes && !terminal.canAsk)
    throw new UsageError("cannot ask for confirmation without a terminal: use --yes to delete without it");
  const member = options.deletions.find(({ kind }) => kind.group === Cluster.group && kind.kind === Cluster.kind);
  if (member) throw new UsageError(`to remove a member from the fleet, run 'flotilla unjoin ${member.name}'`);
  const existing: Deletion[] = [];
  for (const deletion of options.deletions) {
    const found = await find(client, deletion.kind, keyOf(deletion), { signal });
    if (found) existing.push(deletion);
    else if (!options.ignoreNotFound)
      throw new FlotillaError("NotFound", `${wordsOf(deletion)} not found on the hub; nothing was deleted`);
  }
  for (const deletion of existing) output.say(describeDeletion(deletion, await bindingOf(client, deletion, signal)));
  if (existing.length === 0) {
    output.say("Nothing to delete.");
    return 0;
  }
  if (!options.yes) {
    const what = existing.length === 1 ? "this object" : `these ${existing.length} objects`;
    const answer = await terminal.ask(`Delete ${what}? [y/N] `, signal);
    if (!/^\s*y(es)?\s*$/i.test(answer ?? "")) {
      output.say("Nothing was deleted.");
      return FAILED;
    }
  }
  for (const deletion of existing) {
    await client.delete(deletion.kind, keyOf(deletion), { signal });
    output.say(`${titleOf(deletion.kind)}/${deletion.name} deleted`);
  }
  if (options.waitMs !== undefined) await waitUntilGone(existing, options.waitMs, tools);
  if (output.format !== "table")
    output.result(
      existing.map(({ kind, namespace, name }): Json => ({
        resource: `${titleOf(kind)}/${name}`,
        namespace: namespace ?? null,
      })),
      () => "",
    );
  return 0;
}

/** Which members lose the object. Pure. */
export function describeDeletion(
  deletion: Deletion,
  binding: DeepReadonly<Pick<ResourceBinding, "spec">> | undefined,
): string {
  const clusters = (binding?.spec.clusters ?? []).map(({ name, replicas }) =>
    replicas === undefined ? name : `${name} (${replicas} ${replicas === 1 ? "replica" : "replicas"})`,
  );
  const words = wordsOf(deletion);
  if (clusters.length === 0) return `- ${words}: on the hub only`;
  return binding?.spec.preserveResourcesOnDeletion
    ? `- ${words}: on the hub; its policy preserves it on ${clusters.join(", ")}`
    : `- ${words}: on the hub and on ${clusters.join(", ")}`;
}
