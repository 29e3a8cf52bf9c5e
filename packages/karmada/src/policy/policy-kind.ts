/** The shared parts of PropagationPolicy and ClusterPropagationPolicy. */
import { AGE, customKind, definitionSchema, describedKind, lazyVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { policyStatusColumns, withPolicyStatus } from "./policy-status.ts";

const VERSION = "v1alpha1";

export function policyKind<T extends KubernetesObject>(
  names: Pick<Kind, "kind" | "plural" | "shortNames" | "scope" | "descriptions">,
): Kind<T> {
  const facts = `${names.plural}.policy.karmada.io`;
  const columns = [
    { name: "CONFLICT-RESOLUTION", type: "string", jsonPath: ".spec.conflictResolution" } as const,
    { name: "PRIORITY", type: "string", jsonPath: ".spec.priority" } as const,
    AGE,
    ...policyStatusColumns,
  ];
  const kind = customKind<T>({
    ...names,
    group: "policy.karmada.io",
    storageVersion: VERSION,
    categories: ["karmada-io"],
    facts,
    columns,
    subresources: { status: true },
  });
  return describedKind({
    ...kind,
    versions: { [VERSION]: lazyVersion(columns, () => withPolicyStatus(definitionSchema(facts, VERSION))) },
  });
}
