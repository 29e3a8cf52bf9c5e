/**
 * ConfigMaps and Secrets that a container's variables come from: one that is missing keeps the container from being made, as
 * kubelets have it, and its appearance lets it go on. OpenKruise holds containers back with such a key to start them in order.
 *
 * The kinds are watched only once a pod refers to one: most members never need it, and there may be thousands of members.
 */
import { ConfigMap, Pod, Secret } from "../../api/index.ts";
import type { Container, KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { createDynamicSource, keyOf } from "../../runtime/index.ts";
import type { Informers, Source } from "../../runtime/index.ts";

type ReadonlyContainer = DeepReadonly<Container>;
type ReadonlyPod = DeepReadonly<Pod>;

interface Reference {
  readonly kind: "configmap" | "secret";
  readonly name: string;
  /** Unset: the object itself must be there. */
  readonly key?: string;
}

export interface ContainerConfig {
  /** Pods that wait for an object which changed. */
  readonly source: Source<ObjectKey>;
  /** What a container of this namespace refers to and cannot have; undefined when nothing is missing. */
  problemOf(cluster: string, namespace: string, container: ReadonlyContainer): string | undefined;
}

interface WithData extends KubernetesObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

const KINDS = { configmap: ConfigMap, secret: Secret } as const;
const BY_CONFIG = "simulation-config";

/** Variables that must have a value. Pure. */
export function referencesOf({ env, envFrom }: ReadonlyContainer): Reference[] {
  const found: Reference[] = [];
  for (const { valueFrom } of env ?? []) {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    if (configMapKeyRef?.name && !configMapKeyRef.optional) found.push({ kind: "configmap", name: configMapKeyRef.name, key: configMapKeyRef.key });
    if (secretKeyRef?.name && !secretKeyRef.optional) found.push({ kind: "secret", name: secretKeyRef.name, key: secretKeyRef.key });
  }
  for (const { configMapRef, secretRef } of envFrom ?? []) {
    if (configMapRef?.name && !configMapRef.optional) found.push({ kind: "configmap", name: configMapRef.name });
    if (secretRef?.name && !secretRef.optional) found.push({ kind: "secret", name: secretRef.name });
  }
  return found;
}

/** To be called once for a set of informers, because it adds an index to them. */
export function createContainerConfig(informers: Informers): ContainerConfig {
  const pods = informers.of(Pod);
  pods.addIndex(BY_CONFIG, (pod, cluster) => namesIn(pod).map((name) => `${cluster}/${pod.metadata.namespace}/${name}`));
  const source = createDynamicSource<ObjectKey>(informers, ({ cluster, object: { kind, metadata } }) => pods.by(BY_CONFIG, `${cluster}/${metadata.namespace}/${kind.toLowerCase()}/${metadata.name}`).map((pod) => keyOf(cluster, pod)));
  return {
    source,
    problemOf(cluster, namespace, container) {
      for (const { kind, name, key } of referencesOf(container)) {
        source.add(KINDS[kind]);
        const object: DeepReadonly<WithData> | undefined = informers.of<WithData>(KINDS[kind]).get({ cluster, namespace, name });
        // Not seen yet is not missing; but a container must not start on a guess, and what comes wakes the pod.
        if (!object) return `${kind} ${JSON.stringify(name)} not found`;
        const has = key === undefined || Object.hasOwn(object.data ?? {}, key) || Object.hasOwn(object.binaryData ?? {}, key);
        if (!has) return `couldn't find key ${key} in ${kind === "configmap" ? "ConfigMap" : "Secret"} ${namespace}/${name}`;
      }
      return undefined;
    },
  };
}

const NONE: readonly string[] = [];

/** `configmap/<name>` for everything that the pod's containers must have. Asked for every change of every pod, so the usual pod costs nothing. */
function namesIn({ spec }: ReadonlyPod): readonly string[] {
  const refers = ({ env, envFrom }: ReadonlyContainer): boolean => env !== undefined || envFrom !== undefined;
  if (!spec.containers.some(refers) && !spec.initContainers?.some(refers)) return NONE;
  const names = new Set<string>();
  for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) for (const { kind, name } of referencesOf(container)) names.add(`${kind}/${name}`);
  return [...names];
}
