/**
 * The templates: objects on the hub of any kind that a policy selects. Kinds are followed on demand, those that a policy or
 * a binding names, so a hub with no policies watches nothing.
 *
 * A kind is served in several versions and still one object. Each object is therefore known by group and kind, looked at in
 * the first version that anybody named, and read in another one where a policy asks for it.
 */
import { gvkOf, parseApiVersion } from "../api/index.ts";
import type { CustomResourceDefinition, KubernetesObject, PropagationPolicy, ResourceBinding } from "../api/index.ts";
import { messageOf } from "../base/index.ts";
import type { DeepReadonly, Log } from "../base/index.ts";
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
  /** Undefined when it is not there. Throws `UnknownKindError` when the hub does not serve its kind in this version. */
  get(ref: TemplateRef, signal: AbortSignal): Promise<Template | undefined>;
  kindOf(ref: KindRef): Promise<AnyKind>;
  /** In the version that is followed; undefined when it is not there, or nobody named its kind. */
  find(key: TemplateKey): Template | undefined;
  /** Everything of a kind that is known, in one namespace. */
  list(ref: KindRef, namespace: string): readonly Template[];
  /** Keys for every template that is there, appears or changes. */
  source<K>(map: (event: ObjectEvent) => Iterable<K>): Source<K>;
}

export interface TemplatesDependencies {
  hub: string;
  informers: Informers;
  kinds: KindResolver;
  policies: Informer<PropagationPolicy>;
  bindings: Informer<ResourceBinding>;
  definitions: Informer<CustomResourceDefinition>;
  log: Log;
}

export function keyOfTemplate(template: Template): TemplateKey {
  const { group, kind } = gvkOf(template);
  return { group, kind, namespace: template.metadata.namespace ?? "", name: template.metadata.name };
}

export function createTemplates({ hub, informers, kinds, policies, bindings, definitions, log }: TemplatesDependencies): Templates {
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
        missing.set(`${ref.apiVersion}/${ref.kind}`, ref);
        if (!(error instanceof UnknownKindError)) log.warn("kind of a template not resolved", { ...ref, error: messageOf(error) });
      },
    );
  }

  policies.subscribe(({ object, deleted }) => {
    if (!deleted) object.spec.resourceSelectors.forEach(follow);
  });
  // A template stays interesting while it has a binding, also when its policy is gone.
  bindings.subscribe(({ object, deleted }) => {
    if (!deleted) follow(object.spec.resource);
  });
  // A new definition may be the one that a policy has been waiting for.
  definitions.subscribe(() => missing.forEach(follow));

  return {
    kindOf: (ref) => kinds.resolve(ref),
    async get(ref, signal) {
      const informer = informers.of<KubernetesObject>(await kinds.resolve(ref));
      await informer.whenSynced(signal);
      return informer.get({ cluster: hub, ...(ref.namespace && { namespace: ref.namespace }), name: ref.name });
    },
    find({ group, kind, namespace, name }) {
      const known = followed.get(idOf(group, kind));
      return known && informers.of<KubernetesObject>(known).get({ cluster: hub, ...(namespace && { namespace }), name });
    },
    list(ref, namespace) {
      const known = followed.get(idOf(parseApiVersion(ref.apiVersion).group, ref.kind));
      return known ? informers.of<KubernetesObject>(known).list({ cluster: hub, namespace }) : [];
    },
    source<K>(map: (event: ObjectEvent) => Iterable<K>) {
      const source = createDynamicSource<K>(informers, map);
      for (const kind of followed.values()) source.add(kind);
      sources.push(source);
      return source;
    },
  };
}

/** Objects of the control planes themselves are never templates, nor what only makes sense where it happened. */
const NOT_TEMPLATES = /(^|\.)(karmada\.io|flotilla\.dev|open-cluster-management\.io)$|^(events\.k8s\.io|coordination\.k8s\.io)$/;
export function isTemplateGroup(group: string): boolean {
  return !NOT_TEMPLATES.test(group);
}

