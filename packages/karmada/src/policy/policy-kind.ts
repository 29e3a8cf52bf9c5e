/** The shared parts of PropagationPolicy and ClusterPropagationPolicy. */
import { AGE, customKind, definitionSchema, lazyVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject, Schema } from "@flotilla/apimachinery";
import { policyStatusColumns, withPolicyStatus } from "./policy-status.ts";

const VERSION = "v1alpha1";

export function policyKind<T extends KubernetesObject>(
  names: Pick<Kind, "kind" | "plural" | "shortNames" | "scope">,
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
  let schema: Schema | undefined;
  return {
    ...kind,
    versions: {
      [VERSION]: lazyVersion(columns, () => (schema ??= withPolicyStatus(definitionSchema(facts, VERSION)))),
    },
  };
}
