/**
 * ResourceDistribution: keeps a copy of a Secret or ConfigMap in every namespace that it selects.
 *
 * Reads: ResourceDistribution, Namespace, the Secrets and ConfigMaps of its resource's name.
 * Writes: Secret, ConfigMap (create, update, delete), ResourceDistribution status.
 */
import { ApiError, isNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { Namespace } from "@flotilla/kubernetes";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { COPIED_KINDS, copiedKindOf, distributionOf } from "./copied-kinds.ts";
import { concernsNamespace, planCopies, planStatus } from "./plan-resourcedistribution.ts";
import type { CopyStep, NamespaceFailure } from "./plan-resourcedistribution.ts";
import { ResourceDistribution } from "./resourcedistribution-kind.ts";

const FAILED = {
  create: "CreateResourceFailed",
  update: "UpdateResourceFailed",
  delete: "DeleteResourceFailed",
} as const;
/** A rejected copy may be accepted later, for example when a quota allows it. */
const RETRY_MS = 30_000;

export function createResourceDistributionController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const distributions = informers.of(ResourceDistribution);
  const namespaces = informers.of(Namespace);

  return defineController({
    name: "resourcedistribution",
    for: ResourceDistribution,
    watches: [watch(Namespace, distributionsFor), ...COPIED_KINDS.map((kind) => watch(kind, distributionOfCopy))],
    writes: [...COPIED_KINDS, ResourceDistribution],

    async reconcile(distribution, { key, signal }) {
      const { cluster } = key;
      const kind = copiedKindOf(distribution.spec.resource);
      // Copies are deleted with their owner by garbage collection.
      if (!kind || distribution.metadata.deletionTimestamp !== undefined) return done;
      const name = (distribution.spec.resource as unknown as KubernetesObject).metadata?.name ?? "";
      const copies = informers.of(kind);
      const steps = planCopies(distribution, {
        namespaces: namespaces.list({ cluster }),
        existing: (namespace) => copies.get({ cluster, namespace, name }),
      });

      const failures: NamespaceFailure[] = [];
      for (const { namespace, step } of steps) {
        const failure = await carryOut(kind, cluster, namespace, step, signal);
        if (failure) failures.push(failure);
      }
      const status = planStatus(distribution, steps, failures, clock.now());
      if (!equalJson(status, distribution.status))
        await unlessChanged(
          client.updateStatus(ResourceDistribution, cluster, { ...distribution, status }, { signal }),
        );
      return failures.some(({ condition }) => Object.values<string>(FAILED).includes(condition))
        ? { requeueAfterMs: RETRY_MS }
        : done;
    },
  });

  async function carryOut(
    kind: Kind,
    cluster: string,
    namespace: string,
    step: CopyStep,
    signal: AbortSignal,
  ): Promise<NamespaceFailure | undefined> {
    if (step.verb === "keep") return undefined;
    if (step.verb === "fail") return step.failure;
    try {
      if (step.verb === "create") await client.create(kind, cluster, step.copy, { signal });
      else if (step.verb === "update") await client.update(kind, cluster, step.copy, { signal });
      else
        await client.delete(kind, keyOf(cluster, step.copy), {
          preconditions: { uid: step.copy.metadata.uid },
          signal,
        });
      return undefined;
    } catch (error) {
      if (step.verb === "delete" && isNotFound(error)) return undefined;
      if (!(error instanceof ApiError)) throw error;
      return { condition: FAILED[step.verb], namespace, reason: messageOf(error) };
    }
  }

  function distributionsFor({ cluster, object, old, deleted }: ObjectEvent<Namespace>): ObjectKey[] {
    const isMinor =
      !deleted &&
      old !== undefined &&
      equalJson(old.metadata.labels, object.metadata.labels) &&
      old.metadata.deletionTimestamp === object.metadata.deletionTimestamp;
    if (isMinor) return [];
    return distributions
      .list({ cluster })
      .filter((one) => concernsNamespace(one, object) || (old !== undefined && concernsNamespace(one, old)))
      .map((one) => keyOf(cluster, one));
  }

  /** The copy itself, and an object of another owner that leaves the name of a copy free. */
  function distributionOfCopy({ cluster, object, old, deleted }: ObjectEvent): ObjectKey[] {
    const names = new Set([distributionOf(object), old && distributionOf(old)].filter((name) => name !== undefined));
    const freed =
      deleted && names.size === 0 ? distributions.list({ cluster }).filter((one) => copies(one, object)) : [];
    return [...names, ...freed.map(({ metadata }) => metadata.name)].map((name) => ({ cluster, name }));
  }
}

function copies({ spec }: DeepReadonly<ResourceDistribution>, object: DeepReadonly<KubernetesObject>): boolean {
  const resource = spec.resource as unknown as KubernetesObject;
  return resource.kind === object.kind && resource.metadata?.name === object.metadata.name;
}
