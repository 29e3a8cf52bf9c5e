/** Implements `flotilla delete`: shows which members lose what, asks for confirmation, deletes, and waits if requested. */
import { FlotillaError, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Cluster } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { copiesOf } from "@flotilla/flotilla";
import { titleOf } from "../members/served-types.ts";
import { nearestObject } from "./nearest-object.ts";
import type { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { foreignFinalizers } from "../doctor/finalizer-owners.ts";
import { contentsOf, renderContents, renderTargets } from "./deletion-contents.ts";
import type { DeletionContents } from "./deletion-contents.ts";
import { bindingOf, findRemaining, keyOf, waitUntilGone, wordsOf } from "./wait-gone.ts";
import type { Deletion } from "./wait-gone.ts";

interface DeleteOptions {
  deletions: readonly Deletion[];
  /** Without confirmation. */
  yes: boolean;
  /** Objects that do not exist are not an error. */
  ignoreNotFound: boolean;
  /** If unset, does not wait. */
  waitMs?: number;
}

interface DeleteTools {
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
    else if (!options.ignoreNotFound) throw await absence(client, deletion, signal);
  }
  for (const deletion of existing)
    output.say(
      describeDeletion(deletion, await bindingOf(client, deletion, signal), await contentsOf(client, deletion, signal)),
    );
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
    // Named, because the API's default for a Job is to keep dependents: its binding, and so its copies on members.
    await client.delete(deletion.kind, keyOf(deletion), { propagationPolicy: "Background", signal });
    output.say(`${titleOf(deletion.kind)}/${deletion.name} ${await resultOf(client, deletion, signal)}`);
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

/** An object that controllers still hold is not deleted; what only the hub holds is, in a moment. */
async function resultOf(client: Client, deletion: Deletion, signal: AbortSignal): Promise<string> {
  const left = await find(client, deletion.kind, keyOf(deletion), { signal });
  const held = left?.metadata.deletionTimestamp === undefined ? [] : foreignFinalizers(left.metadata.finalizers ?? []);
  return held.length === 0
    ? "deleted"
    : `deletion requested; it waits for the finalizer ${held.join(", ")}, and members keep their copies until then`;
}

async function absence(client: Client, deletion: Deletion, signal: AbortSignal): Promise<FlotillaError> {
  const remaining = await findRemaining(client, deletion, signal);
  const where =
    remaining === undefined
      ? `${await nearestObject(client, deletion, "delete", signal)}; nothing was deleted`
      : `; nothing was deleted, and it is still ${remaining}`;
  return new FlotillaError("NotFound", `${wordsOf(deletion)} not found on the hub${where}`);
}

/** Which members lose the object, and what is deleted with it. Pure. */
export function describeDeletion(
  deletion: Deletion,
  binding: DeepReadonly<Pick<ResourceBinding, "spec">> | undefined,
  contents?: DeletionContents,
): string {
  const words = wordsOf(deletion);
  // The namespace sync propagates namespaces also without a policy.
  if (contents?.container === "Namespace") return `- ${words}: ${renderContents(contents)}`;
  const places = renderPlaces(binding);
  if (contents) return `- ${words}: ${places ?? "on the hub"}, ${renderContents(contents)}`;
  return `- ${words}: ${places ?? "on the hub only"}`;
}

/** Undefined if no member has it. */
function renderPlaces(binding: DeepReadonly<Pick<ResourceBinding, "spec">> | undefined): string | undefined {
  if (!binding || copiesOf(binding.spec).length === 0) return undefined;
  const clusters = renderTargets(binding.spec);
  return binding.spec.preserveResourcesOnDeletion
    ? `on the hub; its policy preserves it on ${clusters}`
    : `on the hub and on ${clusters}`;
}
