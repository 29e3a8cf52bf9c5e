/** The conditions of a namespace that cannot be deleted yet. Pure. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import type { Remaining } from "./content-removal.ts";

/** What other servers hold in a namespace, as far as it is known. */
interface ForeignContent {
  readonly unknown: readonly string[];
  readonly remaining: ReadonlyMap<string, number>;
}

/** Reports what blocks the deletion of a namespace in its conditions. */
export function namespaceConditions(
  namespace: JsonObject,
  remaining: readonly Remaining[],
  now: string,
  foreign: ForeignContent = { unknown: [], remaining: new Map() },
): Json[] {
  const counts = new Map<string, number>(foreign.remaining);
  const finalizers = new Map<string, number>();
  for (const { resource, object } of remaining) {
    const name = resource.name.group
      ? `${resource.name.resource}.${resource.name.group}`
      : `${resource.name.resource}.`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const finalizer of finalizersOf(metadataOf(object)))
      finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  const list = (items: Map<string, number>, text: (name: string, count: number) => string): string =>
    [...items]
      .map(([name, count]) => text(name, count))
      .sort()
      .join(", ");
  const status =
    isObject(namespace.status) && Array.isArray(namespace.status.conditions)
      ? namespace.status.conditions.filter(isObject)
      : [];
  const condition = (type: string, isTrue: boolean, reason: string, message: string): JsonObject => {
    const wanted = { type, status: isTrue ? "True" : "False", reason, message };
    const before = status.find((candidate) => candidate.type === type);
    return {
      ...wanted,
      lastTransitionTime: before?.status === wanted.status ? (before.lastTransitionTime ?? now) : now,
    };
  };
  return [
    foreign.unknown.length > 0
      ? condition(
          "NamespaceDeletionDiscoveryFailure",
          true,
          "DiscoveryFailed",
          `Discovery failed for some groups, ${foreign.unknown.length} failing: unable to retrieve the ` +
            "complete list of server " +
            `APIs: ${foreign.unknown.map((version) => `${version}: stale GroupVersion discovery: ${version}`).join(", ")}`,
        )
      : condition(
          "NamespaceDeletionDiscoveryFailure",
          false,
          "ResourcesDiscovered",
          "All resources successfully discovered",
        ),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      false,
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    condition(
      "NamespaceDeletionContentFailure",
      false,
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    counts.size > 0
      ? condition(
          "NamespaceContentRemaining",
          true,
          "SomeResourcesRemain",
          `Some resources are remaining: ${list(counts, (name, count) => `${name} has ${count} resource instances`)}`,
        )
      : condition("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"),
    finalizers.size > 0
      ? condition(
          "NamespaceFinalizersRemaining",
          true,
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${list(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
        )
      : condition(
          "NamespaceFinalizersRemaining",
          false,
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        ),
  ];
}
