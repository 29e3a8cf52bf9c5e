/** Resource selectors of policies: defaults, validation and warnings shared by propagation and override policies. */
import type { DeepReadonly } from "@flotilla/base";
import { changeItems, checkSelector, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { ResourceSelector } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { kruiseKinds } from "@flotilla/openkruise";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { groupKind, selectsClusterScoped } from "./cluster-scoped.ts";

type Read<T> = DeepReadonly<T>;
type Selectors = readonly Read<ResourceSelector>[];

/** A namespaced policy selects objects of its own namespace. */
export function inNamespace(selectors: Selectors, namespace: string): Selectors {
  return changeItems<ResourceSelector>(selectors, (selector) =>
    selector.namespace ? selector : { ...selector, namespace },
  );
}

export function checkSelectors(selectors: Selectors, policyNamespace: string | undefined): FieldError[] {
  if (policyNamespace === undefined) return [];
  return selectors.flatMap(({ namespace = "" }, index) =>
    namespace === policyNamespace
      ? []
      : [
          field.invalid(
            `spec.resourceSelectors[${index}].namespace`,
            namespace,
            "namespace of resource selector must be the same as the namespace of the policy",
          ),
        ],
  );
}

let clusterScoped: ReadonlySet<string> | undefined;

function isClusterScoped(apiVersion: string, kind: string): boolean {
  clusterScoped ??= new Set(
    [...kubernetesKinds, ...kruiseKinds]
      .filter(({ scope }) => scope === "Cluster")
      .map(({ group, kind: name }) => `${group}/${name}`),
  );
  return clusterScoped.has(groupKind(apiVersion, kind));
}

/** Warnings for selectors that probably select something unintended. Karmada accepts them silently. */
export function selectorWarnings(
  selectors: Selectors,
  policy: {
    readonly namespace: string | undefined;
    readonly canonicalKind: string;
    readonly selectsClusterScoped: boolean;
  },
): string[] {
  return selectors.flatMap(({ apiVersion, kind, name, labelSelector }, index) => {
    const at = `spec.resourceSelectors[${index}]`;
    const warnings = checkSelector(`${at}.labelSelector`, labelSelector).map(
      ({ field, message }) => `${field}: ${message}; it selects nothing`,
    );
    if (name && labelSelector) warnings.push(`${at}.labelSelector: ignored because the selector has a name`);
    if (policy.namespace !== undefined && isClusterScoped(apiVersion, kind)) {
      const isTaken = policy.selectsClusterScoped && selectsClusterScoped({ apiVersion, kind });
      warnings.push(
        `${at}: ${kind} is in no namespace${isTaken ? " but is still selected" : ", so nothing is selected"}; the canonical form is a ${policy.canonicalKind}`,
      );
    }
    return warnings;
  });
}
