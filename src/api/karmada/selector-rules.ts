/** Which objects a policy selects: defaults, rules and hints that propagation and override policies share. */
import type { DeepReadonly } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import { checkSelector, wrong } from "../field-errors.ts";
import { changeItems } from "../fill.ts";
import type { ResourceSelector } from "../facts/policy-karmada-v1alpha1.ts";
import { kruiseKinds } from "../kruise/kinds.ts";
import { kubernetesKinds } from "../kubernetes-kinds.ts";
import { parseApiVersion } from "../meta.ts";

type Read<T> = DeepReadonly<T>;
type Selectors = readonly Read<ResourceSelector>[];

/** A policy of a namespace selects there. */
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
          wrong(
            `spec.resourceSelectors[${index}].namespace`,
            namespace,
            "namespace of resource selector must be the same as the namespace of the policy",
          ),
        ],
  );
}

/**
 * Cluster-scoped kinds that a policy of a namespace may select all the same, because people write it. Others need a
 * policy of the cluster: the right to a namespace is no right to say where ClusterRoles and definitions go.
 */
const SELECTED_FROM_NAMESPACES: ReadonlySet<string> = new Set(["apps.kruise.io/SidecarSet"]);

/** True when a PropagationPolicy that selects this kind means the object of that name that is in no namespace. */
export function selectsClusterScoped({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string;
  readonly kind: string;
}): boolean {
  return SELECTED_FROM_NAMESPACES.has(groupKind(apiVersion, kind));
}

const groupKind = (apiVersion: string, kind: string): string => `${parseApiVersion(apiVersion).group}/${kind}`;

let clusterScoped: ReadonlySet<string> | undefined;

function isClusterScoped(apiVersion: string, kind: string): boolean {
  clusterScoped ??= new Set(
    [...kubernetesKinds, ...kruiseKinds]
      .filter(({ scope }) => scope === "Cluster")
      .map(({ group, kind: name }) => `${group}/${name}`),
  );
  return clusterScoped.has(groupKind(apiVersion, kind));
}

/** What selects other things than its author may think. Karmada takes it without a word. */
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
        `${at}: ${kind} is in no namespace${isTaken ? " and is selected all the same" : ", so nothing is selected"}; the canonical form is a ${policy.canonicalKind}`,
      );
    }
    return warnings;
  });
}
