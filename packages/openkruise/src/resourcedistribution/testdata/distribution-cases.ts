/**
 * Runs ResourceDistributions on recorded inputs and returns results in the format of the recordings
 * (`openkruise-selection.jsonl`). Only for tests and `npm run golden`.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ConfigMap, Namespace } from "@flotilla/kubernetes";
import { RECORDED_AT } from "../../testdata/read-cases.ts";
import { concernsNamespace, planCopies, planStatus } from "../plan-resourcedistribution.ts";
import type { ResourceDistribution } from "../resourcedistribution-kind.ts";

interface Input {
  resourceDistribution: DeepReadonly<ResourceDistribution>;
  namespaces: DeepReadonly<Namespace>[];
  configMaps?: DeepReadonly<ConfigMap>[];
}

export function distributionCase({ resourceDistribution, namespaces, configMaps = [] }: Input): unknown {
  const name = (resourceDistribution.spec.resource as unknown as KubernetesObject).metadata.name;
  const present = new Map(
    configMaps.filter(({ metadata }) => metadata.name === name).map((one) => [one.metadata.namespace ?? "", one]),
  );
  const steps = planCopies(resourceDistribution, { namespaces, existing: (namespace) => present.get(namespace) });
  const failures = steps.flatMap(({ step }) => (step.verb === "fail" ? [step.failure] : []));
  const after = new Map<string, DeepReadonly<KubernetesObject>>(present);
  for (const { namespace, step } of steps) {
    if (step.verb === "create" || step.verb === "update") after.set(namespace, step.copy);
    if (step.verb === "delete") after.delete(namespace);
  }
  const matched = steps.filter(({ isTarget }) => isTarget).map(({ namespace }) => namespace);
  return {
    matched,
    unmatched: namespaces.map(({ metadata }) => metadata.name).filter((one) => !matched.includes(one)).toSorted(),
    status: withoutZeros(planStatus(resourceDistribution, steps, failures, RECORDED_AT)),
    configMaps: Object.fromEntries([...after].map(([namespace, copy]) => [namespace, plainCopy(copy)])),
    namespaceEventMatches: Object.fromEntries(
      namespaces.map((namespace) => [namespace.metadata.name, concernsNamespace(resourceDistribution, namespace)]),
    ),
    error: null,
  };
}

/** As Go writes them: without zero counts, without the type, and without empty lists. */
const withoutZeros = (status: object): object => Object.fromEntries(Object.entries(status).filter(([, value]) => value !== 0));

function plainCopy({ apiVersion: _version, kind: _kind, metadata, ...content }: DeepReadonly<KubernetesObject>): object {
  const isFilled = (value: unknown): boolean => typeof value !== "object" || value === null || Object.keys(value).length > 0;
  return { ...content, metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => isFilled(value))) };
}
