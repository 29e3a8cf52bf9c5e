/**
 * What is deleted together with a Namespace or a CustomResourceDefinition: the objects that it contains, and their
 * copies on members. Reads bindings, Works and the objects of the kind; a limit bounds each of them.
 */
import { HUB, parseApiVersion, isForbidden } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { clusterNameOf, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import { CustomResourceDefinition, Namespace } from "@flotilla/kubernetes";
import { copiesOf } from "@flotilla/flotilla";
import { resolveVersions } from "./resolve-type.ts";
import { keyOf, worksOf } from "./wait-gone.ts";
import type { Deletion } from "./wait-gone.ts";

type Binding = DeepReadonly<Pick<ResourceBinding, "spec">>;

/** Bindings of what is contained; `isPartial` if the hub has more of them than were read. */
interface ContainedBindings {
  items: readonly Binding[];
  isPartial: boolean;
}

export interface DeletionContents {
  container: "Namespace" | "CustomResourceDefinition";
  /** Of a definition: the kind, and how many of its objects the hub has; the count is unset if they may not be listed. */
  kind?: { name: string; count: number | undefined };
  /** Members that have the namespace, also without a policy for it; unset if Works may not be listed. */
  members?: readonly string[] | undefined;
  /** Unset if the user may not list them. */
  bindings?: ContainedBindings | undefined;
}

const PAGE = 500;
/** Bindings that are read for one deletion. */
const MAX_BINDINGS = 10_000;
/** Objects of a namespace that are named; more are counted. */
const MAX_LISTED = 10;

const isOf = ({ group, kind }: Kind, deletion: Deletion): boolean =>
  deletion.kind.group === group && deletion.kind.kind === kind;

/** Undefined for an object that contains no others. */
export async function contentsOf(
  client: Client,
  deletion: Deletion,
  signal: AbortSignal,
): Promise<DeletionContents | undefined> {
  if (isOf(Namespace, deletion)) {
    const [works, bindings] = await Promise.all([
      worksOf(client, deletion, signal),
      readBindings(client, { kind: ResourceBinding, namespace: deletion.name }, signal),
    ]);
    const members = works?.flatMap(({ metadata }) => clusterNameOf(metadata.namespace ?? "") ?? []);
    return { container: "Namespace", members: members?.toSorted(), bindings };
  }
  if (!isOf(CustomResourceDefinition, deletion)) return undefined;
  const definition = await find(client, CustomResourceDefinition, keyOf(deletion), { signal });
  if (!definition) return undefined;
  const { group, names, scope } = definition.spec;
  const bindingKind = scope === "Namespaced" ? ResourceBinding : (ClusterResourceBinding as typeof ResourceBinding);
  const [count, bindings] = await Promise.all([
    countOf(client, `${names.plural}.${group}`, signal),
    readBindings(
      client,
      {
        kind: bindingKind,
        selects: ({ spec: { resource } }) =>
          resource.kind === names.kind && parseApiVersion(resource.apiVersion).group === group,
      },
      signal,
    ),
  ]);
  return { container: "CustomResourceDefinition", kind: { name: names.kind, count }, bindings };
}

async function countOf(client: Client, type: string, signal: AbortSignal): Promise<number | undefined> {
  const [kind]: readonly AnyKind[] = await resolveVersions(client, type, signal);
  if (!kind) return undefined;
  return unlessForbidden(async () => {
    const list = await client.list<KubernetesObject>(kind, { cluster: HUB, limit: 1, signal });
    return list.items.length + (list.remainingItemCount ?? 0);
  });
}

async function readBindings(
  client: Client,
  what: { kind: Kind<ResourceBinding>; namespace?: string; selects?(binding: Binding): boolean },
  signal: AbortSignal,
): Promise<ContainedBindings | undefined> {
  return unlessForbidden(async () => {
    const items: Binding[] = [];
    let next: string | undefined;
    for (let read = 0; read < MAX_BINDINGS; read += PAGE) {
      const page = await client.list(what.kind, {
        cluster: HUB,
        namespace: what.namespace,
        limit: PAGE,
        continue: next,
        signal,
      });
      items.push(...page.items.filter((binding) => what.selects?.(binding) ?? true));
      next = page.continue || undefined;
      if (next === undefined) break;
    }
    return { items, isPartial: next !== undefined };
  });
}

async function unlessForbidden<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** As the end of a sentence about the container; includes what was not counted. Pure. */
export function renderContents(contents: DeletionContents): string {
  return contents.container === "Namespace" ? renderNamespace(contents) : renderKind(contents);
}

function renderNamespace({ members, bindings }: DeletionContents): string {
  const where =
    members === undefined
      ? ", and on members that have it (you may not list Works)"
      : members.length > 0
        ? ` and on ${members.join(", ")}`
        : "";
  if (!bindings)
    return `on the hub${where}, and everything in it, with its copies on members; its objects are not listed, because you may not list ResourceBindings in it`;
  const propagated = bindings.items.filter(({ spec }) => copiesOf(spec).length > 0);
  const listed = propagated.slice(0, MAX_LISTED).map(renderObject);
  const more = propagated.length - listed.length;
  if (more > 0) listed.push(`and ${bindings.isPartial ? "at least " : ""}${more} more propagated objects`);
  const inside = listed.length === 0 ? " (no policy propagates any of it)" : `: ${listed.join("; ")}`;
  return (
    `on the hub${where}, and everything in it${inside}. Objects in it that no policy propagates, such as ` +
    "ManifestWorks, are deleted too and are not listed"
  );
}

function renderObject({ spec }: Binding): string {
  const { kind, name } = spec.resource;
  const clusters = renderTargets(spec);
  return spec.preserveResourcesOnDeletion
    ? `${kind} ${name} (its policy preserves it on ${clusters})`
    : `${kind} ${name} on ${clusters}`;
}

/** `member1 (2 replicas), member2 (1 replica)` */
export const renderTargets = (spec: Binding["spec"]): string =>
  copiesOf(spec)
    .map(({ name, replicas }) =>
      replicas === undefined ? name : `${name} (${replicas} ${replicas === 1 ? "replica" : "replicas"})`,
    )
    .join(", ");

function renderKind({ kind, bindings }: DeletionContents): string {
  const { name = "", count } = kind ?? {};
  const objects =
    count === undefined
      ? `all objects of kind ${name} (not counted: you may not list them)`
      : count === 0
        ? `no object of kind ${name} on the hub`
        : count === 1
          ? `the only ${name} of the hub`
          : `all ${count} ${name}s of the hub`;
  if (!bindings) return `and ${objects}, with their copies on members (not counted: you may not list bindings)`;
  const lost = membersOf(bindings.items.filter(({ spec }) => !spec.preserveResourcesOnDeletion));
  const kept = membersOf(bindings.items.filter(({ spec }) => spec.preserveResourcesOnDeletion));
  const partial = bindings.isPartial ? ` (only the first ${MAX_BINDINGS} bindings of the hub were read)` : "";
  return [
    `and ${objects}`,
    ...(lost.length > 0 ? [`with ${count === 1 ? "its" : "their"} copies on ${lost.join(", ")}`] : []),
    ...(kept.length > 0 ? [`except copies on ${kept.join(", ")} that policies preserve`] : []),
  ]
    .join(", ")
    .concat(partial);
}

const membersOf = (bindings: readonly Binding[]): string[] =>
  [...new Set(bindings.flatMap(({ spec }) => copiesOf(spec).map(({ name }) => name)))].toSorted();
