/**
 * The templates: objects on the hub of any kind that a policy selects. Kinds are followed on demand, those that a
 * policy or a binding names, so a hub with no policies watches nothing.
 *
 * A kind is served in several versions and still one object. Each object is therefore known by group and kind, looked
 * at in the first version that anybody named, and read in another one where a policy asks for it.
 */
import { OCM_NAMESPACE, formatApiVersion, gvkOf, isReservedNamespace, parseApiVersion } from "../api/index.ts";
import type {
  ClusterPropagationPolicy,
  CustomResourceDefinition,
  KubernetesObject,
  PropagationPolicy,
  ResourceBinding,
} from "../api/index.ts";
import { equalJson, messageOf } from "../base/index.ts";
import type { Clock, DeepReadonly, Log } from "../base/index.ts";
import { UnknownKindError } from "../client/index.ts";
import type { AnyKind, KindResolver } from "../client/index.ts";
import { createDynamicSource } from "../runtime/index.ts";
import type { DynamicSource, Informer, Informers, ObjectEvent, Source } from "../runtime/index.ts";

/** A template, whatever version it is spoken in. */
export interface TemplateKey {
  group: string;
  kind: string;
  namespace: string;
  name: string;
}

export interface KindRef {
  apiVersion: string;
  kind: string;
}

export interface TemplateRef extends KindRef {
  namespace?: string;
  name: string;
}

export type Template = DeepReadonly<KubernetesObject>;

export interface Templates {
  /**
   * Undefined when it is not there; `unknown` while the list of its kind is not complete, which a reconcile must not
   * wait for. Throws `UnknownKindError` when the hub does not serve its kind in this version.
   */
  get(ref: TemplateRef): Promise<Template | undefined | "unknown">;
  kindOf(ref: KindRef): Promise<AnyKind>;
  /** In the version that is followed; undefined when it is not there, or nobody named its kind. */
  find(key: TemplateKey): Template | undefined;
  /** Looks at a kind from now on, although neither a policy nor a binding names it. */
  follow(ref: KindRef): void;
  /** Everything of a kind that is known, in one namespace or, where none is given, in all of them and in none. */
  list(ref: KindRef, namespace?: string): readonly Template[];
  /**
   * Keys for every template that is there, appears or changes; a change of its status alone counts only where that is
   * asked for.
   */
  source<K>(map: (event: ObjectEvent) => Iterable<K>, options?: { statusToo?: boolean }): Source<K>;
}

export interface TemplatesDependencies {
  hub: string;
  informers: Informers;
  kinds: KindResolver;
  policies: readonly Pick<Informer<PropagationPolicy | ClusterPropagationPolicy>, "subscribe">[];
  /** Of both scopes. */
  bindings: readonly Informer<ResourceBinding>[];
  definitions: Informer<CustomResourceDefinition>;
  clock: Clock;
  log: Log;
}

/** How long after a failed question the hub is asked again which kinds it serves. */
const ASK_AGAIN_MS = 1_000;
/** When a stage looks again after `unknown`. Templates that are listed meanwhile bring most keys back by themselves. */
export const LOOK_AGAIN_MS = 500;

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
  /** The version in which a kind is followed, by group and kind. */
  const followed = new Map<string, AnyKind>();
  /** Kinds that somebody named and the hub did not serve at the time. */
  const missing = new Map<string, KindRef>();
  const sources: DynamicSource<unknown>[] = [];
  const idOf = (group: string, kind: string): string => `${group}/${kind}`;

  function follow(ref: KindRef): void {
    const { group } = parseApiVersion(ref.apiVersion);
    if (!isTemplateGroup(group) || followed.has(idOf(group, ref.kind))) return;
    kinds.resolve(ref).then(
      (kind) => {
        missing.delete(`${ref.apiVersion}/${ref.kind}`);
        if (followed.has(idOf(group, ref.kind))) return;
        followed.set(idOf(group, ref.kind), kind);
        for (const source of sources) source.add(kind);
      },
      (error: unknown) => {
        // A kind that is not served is waited for; a failure to ask is over sooner.
        if (error instanceof UnknownKindError) missing.set(`${ref.apiVersion}/${ref.kind}`, ref);
        else {
          log.warn("kind of a template not resolved, asking again", { ...ref, error: messageOf(error) });
          clock.after(ASK_AGAIN_MS, () => follow(ref));
        }
      },
    );
  }

  for (const informer of policies) {
    informer.subscribe(({ object, deleted }) => {
      if (!deleted) object.spec.resourceSelectors.forEach(follow);
    });
  }
  // A template stays interesting while it has a binding, also when its policy is gone.
  for (const informer of bindings) {
    informer.subscribe(({ object, deleted }) => {
      if (!deleted) follow(object.spec.resource);
    });
  }
  definitions.subscribe(({ object: { spec, metadata }, old, deleted }) => {
    // One that changed or is gone is asked for again: it may have got a status, or come back under another name or in
    // other versions.
    if (deleted || (old && old.metadata.generation !== metadata.generation))
      for (const { name } of spec.versions)
        kinds.forget({ apiVersion: formatApiVersion(spec.group, name), kind: spec.names.kind });
    // A new definition may be the one that a policy has been waiting for.
    if (!deleted) return missing.forEach(follow);
    const known = followed.get(idOf(spec.group, spec.names.kind));
    if (!known) return;
    followed.delete(idOf(spec.group, spec.names.kind));
    missing.set(idOf(spec.group, spec.names.kind), {
      apiVersion: formatApiVersion(spec.group, known.storageVersion),
      kind: spec.names.kind,
    });
  });

  return {
    kindOf: (ref) => kinds.resolve(ref),
    follow,
    async get(ref) {
      const informer = informers.of<KubernetesObject>(await kinds.resolve(ref));
      const template = informer.get({ cluster: hub, namespace: ref.namespace || undefined, name: ref.name });
      return template || informer.synced ? template : "unknown";
    },
    find({ group, kind, namespace, name }) {
      const known = followed.get(idOf(group, kind));
      return (
        known && informers.of<KubernetesObject>(known).get({ cluster: hub, namespace: namespace || undefined, name })
      );
    },
    list(ref, namespace) {
      const known = followed.get(idOf(parseApiVersion(ref.apiVersion).group, ref.kind));
      return known ? informers.of<KubernetesObject>(known).list({ cluster: hub, namespace }) : [];
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

/** Kinds with a status count the changes of the rest in their generation. */
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

/** Objects of the control planes themselves are never templates, nor what only makes sense where it happened. */
const NOT_TEMPLATES =
  /(^|\.)(karmada\.io|flotilla\.dev|open-cluster-management\.io)$|^(events\.k8s\.io|coordination\.k8s\.io)$/;
export function isTemplateGroup(group: string): boolean {
  return !NOT_TEMPLATES.test(group);
}

/**
 * Whether a namespace is a cluster's own business: every cluster has its `kube-*`, and the hub keeps its books in the
 * reserved ones, Open Cluster Management in its own.
 */
export function isOwnNamespace(namespace: string): boolean {
  return (
    isReservedNamespace(namespace) ||
    namespace.startsWith("kube-") ||
    namespace === OCM_NAMESPACE ||
    namespace.startsWith(`${OCM_NAMESPACE}-`)
  );
}

/**
 * Every cluster puts its own authority into every namespace; pods of a member that were given the hub's would trust
 * nobody.
 */
const ROOT_CERTIFICATE = "kube-root-ca.crt";

/**
 * Whether policies may take this object to members: neither what is in a cluster's own namespace, nor such a namespace,
 * nor its authority, nor the definition of a control plane's kind.
 */
export function isTemplate(template: Template): boolean {
  const { group, kind } = gvkOf(template);
  const { name, namespace } = template.metadata;
  if (namespace)
    return !isOwnNamespace(namespace) && !(group === "" && kind === "ConfigMap" && name === ROOT_CERTIFICATE);
  if (group === "" && kind === "Namespace") return !isOwnNamespace(name);
  if (group === "apiextensions.k8s.io" && kind === "CustomResourceDefinition")
    return isTemplateGroup((template as DeepReadonly<CustomResourceDefinition>).spec.group);
  return true;
}
