/**
 * Waits until objects are gone from the hub and from their members. A Work exists until its member has deleted the
 * object, also after the template and its binding are gone.
 */
import { findCondition, HUB, parseApiVersion, isForbidden } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, sleep } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { bindingName, clusterNameOf, ClusterResourceBinding, ResourceBinding, Work, workName } from "@flotilla/karmada";
import { copiesOf } from "@flotilla/flotilla";
import { missingControllers } from "../health/controllers-state.ts";
import { leftBehind } from "../health/notices.ts";
import type { Output } from "../output.ts";

export interface Deletion {
  kind: AnyKind;
  namespace?: string | undefined;
  name: string;
}

interface WaitTools {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  output: Pick<Output, "say" | "progress">;
}

const POLL_MS = 500;
/** More members are counted. */
const MAX_MEMBERS = 5;

/** `shop/web` with its kind. */
export const wordsOf = ({ kind, namespace, name }: Deletion): string =>
  `${kind.kind} ${namespace ? `${namespace}/` : ""}${name}`;

export const keyOf = ({
  namespace,
  name,
}: Deletion): { cluster: string; namespace?: string | undefined; name: string } => ({ cluster: HUB, namespace, name });

export async function bindingOf(
  client: Client,
  deletion: Deletion,
  signal: AbortSignal,
): Promise<DeepReadonly<ResourceBinding> | undefined> {
  const { kind, namespace, name } = deletion;
  const bindings: Kind<ResourceBinding> = namespace ? ResourceBinding : ClusterResourceBinding;
  const key = { cluster: HUB, namespace, name: bindingName(kind.kind, name) };
  const binding = await find(client, bindings, key, { signal });
  // A kind of the same name in another group would have the same binding name.
  return binding && parseApiVersion(binding.spec.resource.apiVersion).group === kind.group ? binding : undefined;
}

/** The Works that still deliver the object or wait for its deletion; undefined if the user may not list Works. */
export async function worksOf(
  client: Client,
  { kind, namespace = "", name }: Deletion,
  signal: AbortSignal,
): Promise<DeepReadonly<Work>[] | undefined> {
  const fieldSelector = `metadata.name=${workName(kind.kind, name, namespace)}`;
  try {
    const { items } = await client.list(Work, { cluster: HUB, fieldSelector, signal });
    return items.filter(({ spec }) => {
      const [manifest] = (spec.workload?.manifests ?? []) as unknown as readonly DeepReadonly<KubernetesObject>[];
      return manifest !== undefined && parseApiVersion(manifest.apiVersion).group === kind.group;
    });
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** Where members still have it: `on member1: <what holds it there>`. Undefined if none has it. Pure. */
function renderRemaining(works: readonly DeepReadonly<Work>[]): string | undefined {
  if (works.length === 0) return undefined;
  const members = works.map((work) => {
    const member = clusterNameOf(work.metadata.namespace ?? "") ?? work.metadata.namespace;
    const applied = findCondition(work.status?.conditions, "Applied");
    return applied?.status === "False" ? `${member}: ${applied.message}` : `${member}`;
  });
  const more = members.length > MAX_MEMBERS ? ` and ${members.length - MAX_MEMBERS} more` : "";
  return `on ${members.slice(0, MAX_MEMBERS).join(", ")}${more}`;
}

/** Where members still have an object that the hub does not have, and why. */
export async function findRemaining(
  client: Client,
  deletion: Deletion,
  signal: AbortSignal,
): Promise<string | undefined> {
  const binding = await bindingOf(client, deletion, signal);
  const left = binding && leftBehind(binding);
  if (left)
    return `${renderRemaining((await worksOf(client, deletion, signal)) ?? []) ?? "as a binding"}: ${left.seen} → run '${left.command}' to delete the copies`;
  return renderRemaining((await worksOf(client, deletion, signal)) ?? []);
}

/** Where the object still is; `unseen` if it is not on the hub, and its Works may not be listed. */
async function locate(
  { client, signal }: WaitTools,
  deletion: Deletion,
): Promise<{ where?: string; unseen?: boolean }> {
  const object: DeepReadonly<KubernetesObject> | undefined = await find(client, deletion.kind, keyOf(deletion), {
    signal,
  });
  const { finalizers = [] } = object?.metadata ?? {};
  if (object) return { where: finalizers.length > 0 ? `on the hub, held by ${finalizers.join(", ")}` : "on the hub" };
  const binding = await bindingOf(client, deletion, signal);
  if (binding) {
    const left = copiesOf(binding.spec).map(({ name }) => name);
    return { where: `on ${left.join(", ") || "a member"}` };
  }
  const works = await worksOf(client, deletion, signal);
  return works ? { where: renderRemaining(works) } : { unseen: true };
}

export async function waitUntilGone(deletions: readonly Deletion[], waitMs: number, tools: WaitTools): Promise<void> {
  const { clock, signal, output } = tools;
  const untilMs = clock.now() + waitMs;
  for (const deletion of deletions) {
    for (;;) {
      const { where, unseen } = await locate(tools, deletion);
      if (where === undefined) {
        output.say(
          unseen
            ? `${wordsOf(deletion)} is gone from the hub; its members are not checked, because you are not allowed to list works`
            : `${wordsOf(deletion)} is gone`,
        );
        break;
      }
      if (clock.now() >= untilMs)
        throw new FlotillaError(
          "NotReady",
          `${wordsOf(deletion)} still exists ${where} after ${waitMs / 1000} s; ${(await missingControllers(tools)) ?? "the hub keeps trying"}`,
        );
      output.progress(`waiting until ${wordsOf(deletion)} is gone, still ${where}`);
      await sleep(clock, POLL_MS, signal);
    }
  }
  output.progress("");
}
