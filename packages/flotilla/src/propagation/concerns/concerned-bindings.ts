/**
 * Finds the bindings of the workloads that an object concerns, such as a budget, and the reverse: a workload that
 * moves changes the parts of the budgets in its namespace.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { bindingName } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { PodTemplateShape } from "@flotilla/kubernetes";
import { informerSource, keyOf } from "@flotilla/controller-runtime";
import type { Informer, Lister, Source } from "@flotilla/controller-runtime";
import { concernOf, isDividedByPods } from "../../interpreter/concerns.ts";
import { compileLabelSelector } from "../policies/label-selector.ts";
import type { Templates } from "../templates/templates.ts";
import { changesWorkloads } from "./plan-workloads.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Template = DeepReadonly<KubernetesObject>;

export interface ConcernedViews {
  hub: string;
  bindings: Pick<Lister<ResourceBinding>, "get" | "list">;
  templates: Pick<Templates, "get">;
}

/** Empty for kinds that concern no workloads; `unknown` while a workload's template is. */
export async function concernedBindings(
  views: ConcernedViews,
  template: Template,
): Promise<readonly Binding[] | "unknown"> {
  const { hub: cluster, bindings, templates } = views;
  const { namespace } = template.metadata;
  const concern = isDividedByPods(template) && namespace ? concernOf(template) : undefined;
  if (!concern || !namespace) return [];
  if ("workload" in concern) {
    const { apiVersion, kind, name } = concern.workload;
    const found = bindings.get({ cluster, namespace, name: bindingName(kind, name) });
    return found && isSameKind(found.spec.resource, { apiVersion, kind }) ? [found] : [];
  }
  const isSelected = compileLabelSelector(concern.pods);
  const workloads = await Promise.all(
    bindings.list({ cluster, namespace }).map(async (binding) => ({
      binding,
      workload: await templates.get(binding.spec.resource),
    })),
  );
  const selected: Binding[] = [];
  for (const { binding, workload } of workloads) {
    if (workload === "unknown") return "unknown";
    const labels = workload && podLabelsOf(workload);
    if (labels && isSelected(labels)) selected.push(binding);
  }
  return selected;
}

interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}
const isSameKind = (one: KindRef, other: KindRef): boolean =>
  one.kind === other.kind && parseApiVersion(one.apiVersion).group === parseApiVersion(other.apiVersion).group;

/** The labels of a workload's pods; undefined for objects that run no pods. */
export function podLabelsOf(workload: Template): Readonly<Record<string, string>> | undefined {
  const { spec } = workload as { spec?: { template?: PodTemplateShape } };
  return spec?.template && isObject(spec.template.spec) ? (spec.template.metadata?.labels ?? {}) : undefined;
}

const BY_NAMESPACE = "concerns.namespace";

/** Keys of the bindings whose objects may concern a workload that moved, or that updates pods. */
export function concernedChanges(bindings: Informer<ResourceBinding>): Source<ObjectKey> {
  bindings.addIndex(BY_NAMESPACE, ({ metadata, spec }) =>
    isDividedByPods(spec.resource) && metadata.namespace ? [metadata.namespace] : [],
  );
  return informerSource(bindings, ({ object, old, deleted, cluster }) => {
    const { namespace } = object.metadata;
    if (!namespace || isDividedByPods(object.spec.resource)) return [];
    if (old && !deleted && !changesWorkloads(old, object)) return [];
    return bindings.by(BY_NAMESPACE, namespace).map((binding) => keyOf(cluster, binding));
  });
}
