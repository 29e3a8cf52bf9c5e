/**
 * ConfigMaps and Secrets that a pod references: as with kubelets, a missing one blocks the creation of a container, or
 * of the whole pod if a volume needs it; its creation unblocks them. OpenKruise's container launch priority blocks
 * containers with such a key to start them in order.
 *
 * The kinds are watched only once a pod references one: most members never need it, and there may be thousands of
 * members.
 */
import { ConfigMap, Pod, Secret } from "@flotilla/kubernetes";
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { createDynamicSource, keyOf } from "@flotilla/controller-runtime";
import type { Informers, Source } from "@flotilla/controller-runtime";

type ReadonlyContainer = DeepReadonly<Container>;
type ReadonlyPod = DeepReadonly<Pod>;

interface Reference {
  readonly kind: "configmap" | "secret";
  readonly name: string;
  /** Unset: the object itself must exist. */
  readonly key?: string;
}

export interface ContainerConfig {
  /** Pods that wait for a changed object. */
  readonly source: Source<ObjectKey>;
  /** False while the referenced objects have not been listed yet. */
  isKnown(pod: ReadonlyPod): boolean;
  /** The missing reference of a container in this namespace; undefined when nothing is missing. */
  problemOf(cluster: string, namespace: string, container: ReadonlyContainer): string | undefined;
  /** The same for the volumes of a pod. */
  mountProblemOf(cluster: string, pod: ReadonlyPod): string | undefined;
}

interface WithData extends KubernetesObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

const KINDS = { configmap: ConfigMap, secret: Secret } as const;
const BY_CONFIG = "simulation-config";

/** Variables that need a value. Pure. */
function referencesOf({ env, envFrom }: ReadonlyContainer): Reference[] {
  const found: Reference[] = [];
  for (const { valueFrom } of env ?? []) {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    if (configMapKeyRef?.name && !configMapKeyRef.optional)
      found.push({ kind: "configmap", name: configMapKeyRef.name, key: configMapKeyRef.key });
    if (secretKeyRef?.name && !secretKeyRef.optional)
      found.push({ kind: "secret", name: secretKeyRef.name, key: secretKeyRef.key });
  }
  for (const { configMapRef, secretRef } of envFrom ?? []) {
    if (configMapRef?.name && !configMapRef.optional) found.push({ kind: "configmap", name: configMapRef.name });
    if (secretRef?.name && !secretRef.optional) found.push({ kind: "secret", name: secretRef.name });
  }
  return found;
}

/**
 * The references of a pod's volumes. Pure. Leaves out the projected volume that every pod has for its service account:
 * its contents come with the namespace.
 */
function mountsOf({ spec }: ReadonlyPod): (Reference & { volume: string })[] {
  const found: (Reference & { volume: string })[] = [];
  for (const { name: volume, configMap, secret } of spec.volumes ?? []) {
    if (configMap?.name && !configMap.optional) found.push({ kind: "configmap", name: configMap.name, volume });
    if (secret?.secretName && !secret.optional) found.push({ kind: "secret", name: secret.secretName, volume });
  }
  return found;
}

/** Call it once per set of informers, because it adds an index to them. */
export function createContainerConfig(informers: Informers): ContainerConfig {
  const pods = informers.of(Pod);
  pods.addIndex(BY_CONFIG, (pod, cluster) =>
    namesIn(pod).map((name) => `${cluster}/${pod.metadata.namespace}/${name}`),
  );
  const source = createDynamicSource<ObjectKey>(informers, ({ cluster, object: { kind, metadata } }) =>
    pods
      .by(BY_CONFIG, `${cluster}/${metadata.namespace}/${kind.toLowerCase()}/${metadata.name}`)
      .map((pod) => keyOf(cluster, pod)),
  );
  const find = (cluster: string, namespace: string, { kind, name }: Reference): DeepReadonly<WithData> | undefined =>
    informers.of<WithData>(KINDS[kind]).get({ cluster, namespace, name });
  return {
    source,
    isKnown(pod) {
      let isKnown = true;
      for (const kind of kindsIn(pod)) {
        source.add(KINDS[kind]);
        isKnown &&= informers.of<WithData>(KINDS[kind]).synced;
      }
      return isKnown;
    },
    problemOf(cluster, namespace, container) {
      for (const reference of referencesOf(container)) {
        const { kind, name, key } = reference;
        const object = find(cluster, namespace, reference);
        if (!object) return `${kind} ${JSON.stringify(name)} not found`;
        const has =
          key === undefined || Object.hasOwn(object.data ?? {}, key) || Object.hasOwn(object.binaryData ?? {}, key);
        if (!has)
          return `couldn't find key ${key} in ${kind === "configmap" ? "ConfigMap" : "Secret"} ${namespace}/${name}`;
      }
      return undefined;
    },
    mountProblemOf(cluster, pod) {
      const missing = mountsOf(pod).find((reference) => !find(cluster, pod.metadata.namespace ?? "", reference));
      return (
        missing &&
        `MountVolume.SetUp failed for volume ${JSON.stringify(missing.volume)} : ${missing.kind} ${JSON.stringify(missing.name)} not found`
      );
    },
  };
}

const NONE: readonly string[] = [];

/** Called for every change of every pod, so the common pod must cost next to nothing. */
function* referencesIn(pod: ReadonlyPod): Generator<Reference> {
  for (const container of pod.spec.containers) if (container.env || container.envFrom) yield* referencesOf(container);
  for (const container of pod.spec.initContainers ?? [])
    if (container.env || container.envFrom) yield* referencesOf(container);
  if (pod.spec.volumes?.some(({ configMap, secret }) => configMap ?? secret)) yield* mountsOf(pod);
}

/** `configmap/<name>` for every required reference of the pod. */
function namesIn(pod: ReadonlyPod): readonly string[] {
  let names: Set<string> | undefined;
  for (const { kind, name } of referencesIn(pod)) (names ??= new Set()).add(`${kind}/${name}`);
  return names ? [...names] : NONE;
}

function kindsIn(pod: ReadonlyPod): ReadonlySet<Reference["kind"]> {
  return new Set(Array.from(referencesIn(pod), ({ kind }) => kind));
}
