/**
 * Companions of a workload: objects that name it, or select its pods, and that its pods need on every member: budgets,
 * spreads, probes, the states of pods, and sets of sidecars with the ConfigMaps and Secrets that their containers mount. A
 * workload does not refer to them, so no rule of its kind finds them.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { keyOf } from "@flotilla/controller-runtime";
import type { Informer, ObjectEvent, Source } from "@flotilla/controller-runtime";
import type { Dependency } from "@flotilla/kubernetes";
import { concerningKinds, concernOf, injectingKinds } from "../../interpreter/concerns.ts";
import { rulesOfKind } from "../../interpreter/kind-rules.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { compileLabelSelector } from "../policies/label-selector.ts";
import type { Templates } from "../templates/templates.ts";
import { podLabelsOf } from "./concerned-bindings.ts";

type Template = DeepReadonly<KubernetesObject>;
interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface Companions {
  /**
   * What a workload takes along to its members because of its companions; undefined while their lists are incomplete:
   * a companion that is only not listed yet must stay on the members. Starts to watch their kinds.
   */
  dependenciesOf(workload: Template): Promise<readonly Dependency[] | undefined>;
  /**
   * The companions that take effect when a pod is created; undefined while their lists are incomplete. `all`: also of
   * kinds that no policy names, which are then watched.
   */
  atCreation(workload: Template, all: boolean): readonly Template[] | undefined;
}

export interface CompanionDependencies {
  templates: Pick<Templates, "follow" | "isListed" | "list">;
  interpreter: Pick<Interpreter, "dependencies">;
  /** The labels of a namespace; undefined if it does not exist. */
  labelsOf(namespace: string): Readonly<Record<string, string>> | undefined;
}

const FOLLOWED: readonly KindRef[] = [...concerningKinds, ...injectingKinds];
const BY_NAMESPACE = "companions.namespace";
const EVERYWHERE = "*";

const groupKindOf = ({ apiVersion, kind }: KindRef): string => `${parseApiVersion(apiVersion).group}/${kind}`;
const concerning = new Map(concerningKinds.map((ref) => [groupKindOf(ref), ref]));
const injecting = new Map(injectingKinds.map((ref) => [groupKindOf(ref), ref]));
/** Whether objects of the kind add containers to pods. */
export const isInjecting = (ref: KindRef): boolean => injecting.has(groupKindOf(ref));

export function createCompanions({ templates, interpreter, labelsOf }: CompanionDependencies): Companions {
  const followAll = (): void => FOLLOWED.forEach((ref) => templates.follow(ref));
  /** In every version: that the hub does not serve one of them says nothing about the objects in another one. */
  const areListed = (): boolean => FOLLOWED.every((ref) => templates.isListed(ref));

  interface Found {
    readonly namespace: string;
    readonly concerned: readonly Template[];
    readonly sets: readonly Template[];
  }

  /** Undefined for objects without pods. */
  function find(workload: Template): Found | undefined {
    const labels = podLabelsOf(workload);
    const { namespace } = workload.metadata;
    if (!labels || !namespace) return undefined;
    const pod = { metadata: { name: "", namespace, labels } };
    return {
      namespace,
      concerned: [...concerning.values()]
        .flatMap((ref) => templates.list(ref, namespace))
        .filter((object) => doesConcern(object, workload, labels)),
      sets: [...injecting.values()]
        .flatMap((ref) => templates.list(ref))
        .filter((set) => rulesOfKind(set)?.injectsInto?.(set, pod, labelsOf)),
    };
  }

  /** A sidecar mounts ConfigMaps and Secrets from the namespace of the pod. */
  async function neededBySets(namespace: string, sets: readonly Template[]): Promise<Dependency[]> {
    const mounted = sets.map((set) => interpreter.dependencies({ ...set, metadata: { ...set.metadata, namespace } }));
    return [
      ...sets.map(({ apiVersion, kind, metadata: { name } }) => ({ apiVersion, kind, name })),
      ...(await Promise.all(mounted)).flat(),
    ];
  }

  return {
    async dependenciesOf(workload) {
      const found = find(workload);
      if (!found) return [];
      followAll();
      if (!areListed()) return undefined;
      const { namespace, concerned, sets } = found;
      return [
        ...concerned.map(({ apiVersion, kind, metadata: { name } }) => ({ apiVersion, kind, namespace, name })),
        ...(await neededBySets(namespace, sets)),
      ];
    },
    atCreation(workload, all) {
      const found = find(workload);
      if (!found) return [];
      if (all) followAll();
      if (all && !areListed()) return undefined;
      return [...found.concerned, ...found.sets].filter((object) => rulesOfKind(object)?.changesNewPods === true);
    },
  };
}

/** Keys of the bindings with `propagateDeps` in the namespaces in which a companion appears, changes or is deleted. */
export function companionChanges(
  templates: Pick<Templates, "source">,
  bindings: Informer<ResourceBinding>,
): Source<ObjectKey> {
  bindings.addIndex(BY_NAMESPACE, ({ metadata, spec }) =>
    spec.propagateDeps && metadata.namespace ? [metadata.namespace, EVERYWHERE] : [],
  );
  return templates.source(({ object, cluster }: ObjectEvent) => {
    const isSet = isInjecting(object);
    if (!isSet && !concerning.has(groupKindOf(object))) return [];
    const where = isSet ? EVERYWHERE : (object.metadata.namespace ?? "");
    return bindings.by(BY_NAMESPACE, where).map((binding) => keyOf(cluster, binding));
  });
}

function doesConcern(
  object: Template,
  { apiVersion, kind, metadata: { name } }: Template,
  podLabels: Readonly<Record<string, string>>,
): boolean {
  const concern = concernOf(object);
  if (!concern) return false;
  if ("pods" in concern) return compileLabelSelector(concern.pods)(podLabels);
  return concern.workload.name === name && groupKindOf(concern.workload) === groupKindOf({ apiVersion, kind });
}
