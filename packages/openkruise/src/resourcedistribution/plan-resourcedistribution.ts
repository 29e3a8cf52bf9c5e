/** Decides which namespaces get a copy of the resource, what each needs, and what the status reports. */
import { createHash } from "node:crypto";
import { controllerReference, labelSelectorOf, matchesLabels, sortedKeys } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, formatTime } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Namespace } from "@flotilla/kubernetes";
import { distributionOf } from "./copied-kinds.ts";
import type { ResourceDistribution } from "./resourcedistribution-kind.ts";

const HASH_ANNOTATION = "kruise.io/resourcedistribution.resource.hashcode";
const SOURCE_ANNOTATION = "kruise.io/resourcedistribution.resource.from";

type ReadonlyDistribution = DeepReadonly<ResourceDistribution>;
type ReadonlyNamespace = DeepReadonly<Namespace>;
type ReadonlyCopy = DeepReadonly<KubernetesObject>;
type Status = NonNullable<ResourceDistribution["status"]>;

/** In the order in which the status lists them. */
const CONDITIONS = [
  "GetResourceFailed",
  "CreateResourceFailed",
  "UpdateResourceFailed",
  "DeleteResourceFailed",
  "ConflictOccurred",
  "NamespaceNotExists",
] as const;

export interface NamespaceFailure {
  condition: (typeof CONDITIONS)[number];
  namespace: string;
  reason: string;
}

export type CopyStep =
  | { verb: "create" | "update"; copy: ReadonlyCopy }
  | { verb: "delete"; copy: ReadonlyCopy }
  | { verb: "keep" }
  | { verb: "fail"; failure: NamespaceFailure };

export interface NamespaceStep {
  namespace: string;
  /** The namespace should have a copy; otherwise an existing copy is removed from it. */
  isTarget: boolean;
  step: CopyStep;
}

interface Observed {
  namespaces: readonly ReadonlyNamespace[];
  /** The object of the resource's kind and name in a namespace. */
  existing(namespace: string): ReadonlyCopy | undefined;
}

/** Sorted by namespace. */
export function planCopies(distribution: ReadonlyDistribution, { namespaces, existing }: Observed): NamespaceStep[] {
  const living = new Map(
    namespaces
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((namespace) => [namespace.metadata.name, namespace]),
  );
  const targets = targetNamespaces(distribution, namespaces);
  const wanted = [...targets].toSorted().map((namespace): NamespaceStep => ({
    namespace,
    isTarget: true,
    step: living.has(namespace)
      ? stepFor(distribution, namespace, existing(namespace))
      : failed("NamespaceNotExists", namespace, "namespace not found or is terminating"),
  }));
  const surplus = [...living.keys()]
    .filter((name) => !targets.has(name))
    .flatMap((namespace): NamespaceStep[] => {
      const copy = existing(namespace);
      const isCopy = copy !== undefined && distributionOf(copy) === distribution.metadata.name;
      return isCopy ? [{ namespace, isTarget: false, step: { verb: "delete", copy } }] : [];
    });
  return [...wanted, ...surplus.toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1))];
}

function targetNamespaces({ spec }: ReadonlyDistribution, namespaces: readonly ReadonlyNamespace[]): Set<string> {
  const { allNamespaces, includedNamespaces, excludedNamespaces, namespaceLabelSelector } = spec.targets ?? {};
  const selector = labelSelectorOf(namespaceLabelSelector);
  const selects = ({ metadata }: ReadonlyNamespace): boolean =>
    allNamespaces === true || (selector.requirements.length > 0 && matchesLabels(selector, metadata.labels ?? {}));
  const targets = new Set(namespaces.filter(selects).map(({ metadata }) => metadata.name));
  if (!allNamespaces) for (const { name = "" } of includedNamespaces?.list ?? []) targets.add(name);
  for (const { name = "" } of excludedNamespaces?.list ?? []) targets.delete(name);
  return targets;
}

/** Whether a change of this namespace can change the copies. */
export function concernsNamespace(distribution: ReadonlyDistribution, namespace: ReadonlyNamespace): boolean {
  return targetNamespaces(distribution, [namespace]).has(namespace.metadata.name);
}

function stepFor(distribution: ReadonlyDistribution, namespace: string, old: ReadonlyCopy | undefined): CopyStep {
  if (!old) return { verb: "create", copy: copyFor(distribution, namespace) };
  if (distributionOf(old) !== distribution.metadata.name)
    return failed(
      "ConflictOccurred",
      namespace,
      "conflict with existing resources because of the same namespace, group, version, kind and name",
    );
  const copy = copyFor(distribution, namespace, old);
  return equalJson(contentOf(old), contentOf(copy)) ? { verb: "keep" } : { verb: "update", copy };
}

const failed = (condition: NamespaceFailure["condition"], namespace: string, reason: string): CopyStep => ({
  verb: "fail",
  failure: { condition, namespace, reason },
});

/** Metadata is not compared: a copy may have labels and annotations of others. */
function contentOf({ metadata: _metadata, ...content }: ReadonlyCopy): JsonObject {
  return content;
}

/** Labels, annotations and finalizers of the existing copy stay. */
function copyFor(distribution: ReadonlyDistribution, namespace: string, old?: ReadonlyCopy): ReadonlyCopy {
  const resource = distribution.spec.resource as unknown as ReadonlyCopy;
  const { labels, annotations, finalizers = [], ...metadata } = resource.metadata ?? { name: "" };
  const kept = old?.metadata;
  return {
    ...resource,
    metadata: {
      ...metadata,
      namespace,
      resourceVersion: kept?.resourceVersion,
      labels: { ...kept?.labels, ...labels },
      annotations: {
        ...kept?.annotations,
        ...annotations,
        [HASH_ANNOTATION]: hashOf(distribution.spec.resource),
        [SOURCE_ANNOTATION]: distribution.metadata.name,
      },
      finalizers: [...new Set([...finalizers, ...(kept?.finalizers ?? [])])].toSorted(),
      ownerReferences: [controllerReference(distribution)],
    },
  };
}

const hashOf = (resource: DeepReadonly<JsonObject>): string =>
  createHash("sha256")
    .update(JSON.stringify(sortedKeys(resource as JsonObject)))
    .digest("hex");

export function planStatus(
  { metadata, status }: ReadonlyDistribution,
  steps: readonly NamespaceStep[],
  failures: readonly NamespaceFailure[],
  nowMs: number,
): Status {
  const desired = steps.filter(({ isTarget }) => isTarget).length;
  const targets = new Set(steps.filter(({ isTarget }) => isTarget).map(({ namespace }) => namespace));
  const failed = failures.filter(({ namespace }) => targets.has(namespace)).length;
  return {
    desired,
    succeeded: desired - failed,
    failed,
    observedGeneration: metadata.generation,
    conditions: CONDITIONS.map((type) => {
      const own = failures.filter(({ condition }) => condition === type);
      const isTrue = own.length > 0 ? "True" : "False";
      const before = status?.conditions?.find((condition) => condition.type === type);
      return {
        type,
        status: isTrue,
        lastTransitionTime: before?.status === isTrue ? before.lastTransitionTime : formatTime(nowMs),
        reason: own.at(-1)?.reason ?? "Succeeded",
        failedNamespace: own.length > 0 ? own.map(({ namespace }) => namespace) : undefined,
      };
    }),
  };
}
