/**
 * The templates: objects on the hub of any kind that a policy selects. Kinds are watched on demand, when a policy or a
 * binding names them, so a hub without policies watches nothing.
 *
 * A kind may be served in several versions and is still one object. Objects are therefore keyed by group and kind,
 * watched in the first version that was named, and read in another one if a policy requires it.
 */
import { OCM_NAMESPACE } from "@flotilla/ocm";
import { controllerOf, formatApiVersion, gvkOf, parseApiVersion } from "@flotilla/apimachinery";
import type { ClusterPropagationPolicy, PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import type { CustomResourceDefinition } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import { UnknownKindError } from "@flotilla/client";
import type { AnyKind, KindResolver } from "@flotilla/client";
import { createDynamicSource } from "@flotilla/controller-runtime";
import { INSTALL_NAMESPACE } from "../../flotilla-names.ts";
import type { DynamicSource, Informer, Informers, ObjectEvent, Source } from "@flotilla/controller-runtime";
import { isReservedNamespace } from "@flotilla/karmada";

/** A template, independent of version. */
export interface TemplateKey {
  group: string;
  kind: string;
  namespace: string;
  name: string;
}

interface KindRef {
  apiVersion: string;
  kind: string;
}

interface TemplateRef extends KindRef {
  namespace?: string;
  name: string;
}

export type Template = DeepReadonly<KubernetesObject>;

export interface Templates {
  /**
   * Undefined when it does not exist; `unknown` while the list of its kind is incomplete, which a reconcile must not
   * wait for. Throws `UnknownKindError` when the hub does not serve its kind in this version.
   */
  get(ref: TemplateRef): Promise<Template | undefined | "unknown">;
  kindOf(ref: KindRef): Promise<AnyKind>;
  /** Whether the hub serves the kind in this version. */
  isServed(ref: KindRef): Promise<boolean>;
  /** In the watched version; undefined when it does not exist, or its kind is not watched. */
  find(key: TemplateKey): Template | undefined;
  /** Starts watching a kind that neither a policy nor a binding names. */
  follow(ref: KindRef): void;
  /** Whether `list` is complete: the kind is watched and listed, or the hub does not serve this version. */
  isListed(ref: KindRef): boolean;
  /** All known objects of a kind, in one namespace or, if unset, in all namespaces and cluster-scoped. */
  list(ref: KindRef, namespace?: string): readonly Template[];
  /** Keys for every template that exists, appears or changes; status-only changes are included only on request. */
  source<K>(map: (event: ObjectEvent) => Iterable<K>, options?: { statusToo?: boolean }): Source<K>;
  /** Starts no more informers. */
  close(): void;
}

export interface TemplatesDependencies {
  hub: string;
  informers: Informers;
  kinds: KindResolver;
  policies: readonly Pick<Informer<PropagationPolicy | ClusterPropagationPolicy>, "subscribe">[];
  /** Bindings of both scopes. */
  bindings: readonly Informer<ResourceBinding>[];
  definitions: Informer<CustomResourceDefinition>;
  clock: Clock;
  log: Log;
}

/** Retry interval after failed discovery of the hub's kinds. */
const ASK_AGAIN_MS = 1_000;
/** Retry interval of a stage after `unknown`. Templates that are listed meanwhile enqueue most keys by themselves. */
export const RELIST_RETRY_MS = 500;

/** A key as text. */
export const templateId = ({ group, kind, namespace, name }: TemplateKey): string =>
  `${group}/${kind}/${namespace}/${name}`;

export function keyOfTemplate(template: Template): TemplateKey {
  const { group, kind } = gvkOf(template);
  return { group, kind, namespace: template.metadata.namespace ?? "", name: template.metadata.name };
}

export function createTemplates({
  hub,
  informers,
  kinds,
  policies,
  bindings,
  definitions,
  clock,
  log,
}: TemplatesDependencies): Templates {
  /** The watched version of a kind, by group and kind. */
  const followed = new Map<string, AnyKind>();
  /** Kinds that are named and that the hub did not serve when it was asked last. */
  const missing = new Map<string, KindRef>();
  /** How many selectors of policies and how many bindings name a kind. */
  const named = new Map<string, number>();
  /** Kinds that code or a dependency names. */
  const requested = new Set<string>();
  /** Kinds whose discovery failed and is repeated by a timer: a stage asks for one with every reconcile meanwhile. */
  const retried = new Set<string>();
  const sources: DynamicSource<unknown>[] = [];
  const informerOf = (kind: AnyKind): Informer<KubernetesObject> =>
    informers.of<KubernetesObject>(kind, "while-served");
  const idOf = (group: string, kind: string): string => `${group}/${kind}`;
  const versionedId = ({ apiVersion, kind }: KindRef): string => `${apiVersion}/${kind}`;
  /** Set when the informers are about to be closed: a discovery that ends later must not ask them for more. */
  let isClosed = false;

  function follow(ref: KindRef): void {
    const { group } = parseApiVersion(ref.apiVersion);
    const id = versionedId(ref);
    if (isClosed || !isTemplateGroup(group) || followed.has(idOf(group, ref.kind)) || retried.has(id)) return;
    kinds.resolve(ref).then(
      (kind) => {
        missing.delete(id);
        if (isClosed || followed.has(idOf(group, ref.kind))) return;
        followed.set(idOf(group, ref.kind), kind);
        // Opened without a source too: `get` of a process that runs no stages finds the list complete.
        informerOf(kind);
        for (const source of sources) source.add(kind);
      },
      (error: unknown) => {
        if (isClosed) return;
        // An unserved kind is waited for; a failed discovery is retried sooner.
        if (error instanceof UnknownKindError) miss(ref);
        else if (!retried.has(id)) {
          log.warn("kind of a template not resolved, retrying", { ...ref, error: messageOf(error) });
          retried.add(id);
          clock.after(ASK_AGAIN_MS, () => {
            retried.delete(id);
            follow(ref);
          });
        }
      },
    );
  }

  function miss(ref: KindRef): void {
    const id = versionedId(ref);
    if (named.has(id) || requested.has(id)) missing.set(id, { apiVersion: ref.apiVersion, kind: ref.kind });
  }

  function changeNames(before: readonly KindRef[], now: readonly KindRef[]): void {
    for (const id of now.map(versionedId)) named.set(id, (named.get(id) ?? 0) + 1);
    for (const id of before.map(versionedId)) {
      const count = (named.get(id) ?? 0) - 1;
      if (count > 0) named.set(id, count);
      else {
        named.delete(id);
        if (!requested.has(id)) missing.delete(id);
      }
    }
    now.forEach(follow);
  }

  for (const informer of policies)
    informer.subscribe(({ object, old, deleted }) =>
      changeNames(old?.spec.resourceSelectors ?? [], deleted ? [] : object.spec.resourceSelectors),
    );
  // A template is watched while it has a binding, even after its policy is deleted.
  for (const informer of bindings)
    informer.subscribe(({ object, old, deleted }) => {
      const [before, now] = [old?.spec.resource, object.spec.resource];
      if (deleted || before?.apiVersion !== now.apiVersion || before.kind !== now.kind)
        changeNames(before ? [before] : [], deleted ? [] : [now]);
    });
  definitions.subscribe(({ object: { spec, metadata }, old, deleted }) => {
    // A changed or deleted kind is resolved again: it may have gained a status, or return under another name or in
    // other versions.
    if (deleted || (old && old.metadata.generation !== metadata.generation))
      for (const { name } of [...spec.versions, ...(old?.spec.versions ?? [])])
        kinds.forget({ apiVersion: formatApiVersion(spec.group, name), kind: spec.names.kind });
    const refs = spec.versions.map(({ name }) => ({
      apiVersion: formatApiVersion(spec.group, name),
      kind: spec.names.kind,
    }));
    // A new CRD may be the one that a policy has been waiting for.
    if (!deleted) return refs.filter((ref) => missing.has(versionedId(ref))).forEach(follow);
    const known = followed.get(idOf(spec.group, spec.names.kind));
    if (!known) return;
    followed.delete(idOf(spec.group, spec.names.kind));
    refs.forEach(miss);
    for (const source of sources) source.remove(known);
  });

  /** By its definition, which changes; undefined for a kind that has none or is not watched. */
  function isDefined({ apiVersion, kind }: KindRef): boolean | undefined {
    const { group, version } = parseApiVersion(apiVersion);
    const known = followed.get(idOf(group, kind));
    const definition = known && definitions.get({ cluster: hub, name: `${known.plural}.${group}` });
    return definition?.spec.versions.some(({ name, served }) => name === version && served);
  }

  return {
    kindOf: (ref) => kinds.resolve(ref),
    async isServed(ref) {
      const defined = isDefined(ref);
      if (defined !== undefined) return defined;
      if (missing.has(versionedId(ref))) return false;
      try {
        await kinds.resolve(ref);
        return true;
      } catch (error) {
        if (!(error instanceof UnknownKindError)) throw error;
        missing.set(versionedId(ref), { apiVersion: ref.apiVersion, kind: ref.kind });
        return false;
      }
    },
    close() {
      isClosed = true;
    },
    follow(ref) {
      requested.add(versionedId(ref));
      follow(ref);
    },
    async get(ref) {
      const informer = informerOf(await kinds.resolve(ref));
      const template = informer.get({ cluster: hub, namespace: ref.namespace || undefined, name: ref.name });
      return template || informer.synced ? template : "unknown";
    },
    find({ group, kind, namespace, name }) {
      const known = followed.get(idOf(group, kind));
      return known && informerOf(known).get({ cluster: hub, namespace: namespace || undefined, name });
    },
    isListed({ apiVersion, kind }) {
      const known = followed.get(idOf(parseApiVersion(apiVersion).group, kind));
      return known ? informerOf(known).synced : missing.has(versionedId({ apiVersion, kind }));
    },
    list(ref, namespace) {
      const known = followed.get(idOf(parseApiVersion(ref.apiVersion).group, ref.kind));
      return known ? informerOf(known).list({ cluster: hub, namespace }) : [];
    },
    source<K>(map: (event: ObjectEvent) => Iterable<K>, { statusToo = false } = {}) {
      const source = createDynamicSource<K>(informers, (event) =>
        !statusToo && isStatusOnly(event) ? [] : map(event),
      );
      for (const kind of followed.values()) source.add(kind);
      sources.push(source);
      return source;
    },
  };
}

/** Kinds with a status subresource count other changes in their generation. */
function isStatusOnly({ object: { metadata }, old, deleted }: ObjectEvent): boolean {
  if (!old || deleted || metadata.generation === undefined || metadata.generation !== old.metadata.generation)
    return false;
  return (
    metadata.uid === old.metadata.uid &&
    metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    equalJson(metadata.labels, old.metadata.labels) &&
    equalJson(metadata.annotations, old.metadata.annotations)
  );
}

/** Control plane objects are never templates, nor are records that only make sense in their own cluster. */
const NOT_TEMPLATES =
  /(^|\.)(karmada\.io|flotilla\.dev|open-cluster-management\.io)$|^(events\.k8s\.io|coordination\.k8s\.io)$/;
export function isTemplateGroup(group: string): boolean {
  return !NOT_TEMPLATES.test(group);
}

/**
 * Whether a namespace belongs to the cluster itself: every cluster has its `kube-*`, the hub stores its own data in the
 * reserved ones, and Open Cluster Management in its own.
 */
export function isOwnNamespace(namespace: string): boolean {
  return (
    isReservedNamespace(namespace) ||
    namespace.startsWith("kube-") ||
    namespace === INSTALL_NAMESPACE ||
    namespace === OCM_NAMESPACE ||
    namespace.startsWith(`${OCM_NAMESPACE}-`)
  );
}

/**
 * Every cluster creates its own CA bundle in every namespace; pods of a member that got the hub's could verify no
 * server.
 */
const ROOT_CERTIFICATE = "kube-root-ca.crt";

/** A revision that belongs to a workload on the hub (`revision-history`): members have their own. */
function isHistory(object: Template): boolean {
  const { group, kind } = gvkOf(object);
  if (group !== "apps" || (kind !== "ReplicaSet" && kind !== "ControllerRevision")) return false;
  return controllerOf(object) !== undefined;
}

/**
 * Whether policies may propagate this object: not revisions of a workload, not objects in a system namespace, such a namespace itself, the root CA
 * ConfigMap, or the CRD of a control plane kind.
 */
export function isTemplate(template: Template): boolean {
  const { group, kind } = gvkOf(template);
  const { name, namespace } = template.metadata;
  if (isHistory(template)) return false;
  if (namespace)
    return !isOwnNamespace(namespace) && !(group === "" && kind === "ConfigMap" && name === ROOT_CERTIFICATE);
  if (group === "" && kind === "Namespace") return !isOwnNamespace(name);
  if (group === "apiextensions.k8s.io" && kind === "CustomResourceDefinition")
    return isTemplateGroup((template as DeepReadonly<CustomResourceDefinition>).spec.group);
  return true;
}
