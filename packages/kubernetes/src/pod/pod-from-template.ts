/** A pod as a controller builds it from a template. */
import { controllerReference } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Pod } from "./pod-kind.ts";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { randomSuffix } from "@flotilla/base";
import type { DeepReadonly, Random } from "@flotilla/base";

/** The prefix limit of `generateName`: a name that is also a host name has 63 characters, five of which are random. */
export const MAX_PREFIX = 58;

type Owner = DeepReadonly<KubernetesObject>;
type Template = DeepReadonly<PodTemplateSpec>;

/** `name` is the complete name. */
export function namedPod(owner: Owner, template: Template | undefined, name: string): DeepReadonly<Pod> {
  const { namespace } = owner.metadata;
  const { metadata, spec } = template ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: namespace || undefined,
      labels: metadata?.labels ? metadata.labels : undefined,
      annotations: metadata?.annotations ? metadata.annotations : undefined,
      finalizers: metadata?.finalizers ? metadata.finalizers : undefined,
      ownerReferences: [controllerReference(owner)],
    },
    spec: spec ?? { containers: [] },
  };
}

/**
 * The prefix, truncated if necessary, and a random suffix. Generated here and not by the server, so that the controller
 * knows the name.
 */
export function generatedPod(
  owner: Owner,
  template: Template | undefined,
  random: Random,
  prefix = `${owner.metadata.name}-`,
): DeepReadonly<Pod> {
  const pod = namedPod(owner, template, prefix.slice(0, MAX_PREFIX) + randomSuffix(random));
  return { ...pod, metadata: { ...pod.metadata, generateName: prefix } };
}
