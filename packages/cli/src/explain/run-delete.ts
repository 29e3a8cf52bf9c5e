/** Implements `flotilla delete`: shows which members lose what, asks for confirmation, deletes, and waits if requested. */
import { HUB, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, sleep, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { bindingName, Cluster, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import { titleOf } from "../members/types.ts";
import type { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";

export interface Deletion {
  kind: AnyKind;
  namespace?: string;
  name: string;
}

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

const POLL_MS = 500;
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

const wordsOf = ({ kind, namespace, name }: Deletion): string =>
  `${kind.kind} ${namespace ? `${namespace}/` : ""}${name}`;
const keyOf = ({ namespace, name }: Deletion): { cluster: string; namespace?: string; name: string } => ({
  cluster: HUB,
  namespace,
  name,
});

function bindingKeyOf({ kind, namespace, name }: Deletion): {
  kind: Kind<ResourceBinding>;
  key: ReturnType<typeof keyOf>;
} {
  return {
    kind: namespace ? ResourceBinding : ClusterResourceBinding,
    key: { cluster: HUB, namespace, name: bindingName(kind.kind, name) },
  };
}

async function bindingOf(
  client: Client,
  deletion: Deletion,
  signal: AbortSignal,
): Promise<DeepReadonly<ResourceBinding> | undefined> {
  const { kind, key } = bindingKeyOf(deletion);
  const binding = await find(client, kind, key, { signal });
  // A kind of the same name in another group would have the same binding name.
  return binding && parseApiVersion(binding.spec.resource.apiVersion).group === deletion.kind.group
    ? binding
    : undefined;
}

/** The binding is removed when every member has confirmed the deletion. */
async function waitUntilGone(
  deletions: readonly Deletion[],
  waitMs: number,
  { client, clock, signal, output }: DeleteTools,
): Promise<void> {
  const untilMs = clock.now() + waitMs;
  const isThere = async (deletion: Deletion): Promise<string | undefined> => {
    const object: DeepReadonly<KubernetesObject> | undefined = await find(client, deletion.kind, keyOf(deletion), {
      signal,
    });
    const { finalizers = [] } = object?.metadata ?? {};
    if (object) return finalizers.length > 0 ? `on the hub, held by ${finalizers.join(", ")}` : "on the hub";
    const binding = await bindingOf(client, deletion, signal);
    const left = (binding?.spec.clusters ?? []).map(({ name }) => name);
    return binding && `on ${left.join(", ") || "a member"}`;
  };
  for (const deletion of deletions) {
    for (;;) {
      const where = await isThere(deletion);
      if (where === undefined) break;
      if (clock.now() >= untilMs)
        throw new FlotillaError(
          "NotReady",
          `${wordsOf(deletion)} still exists ${where} after ${waitMs / 1000} s; the hub keeps trying`,
        );
      output.progress(`waiting until ${wordsOf(deletion)} is gone, still ${where}`);
      await sleep(clock, POLL_MS, signal);
    }
    output.say(`${wordsOf(deletion)} is gone`);
  }
  output.progress("");
}
