/** The policies that keep an adopted object on the members that have it, each with its own values. Pure. */
import { omitZero, defined } from "@flotilla/base";
import type { PlaintextOverrider } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { JsonObject } from "@flotilla/base";
import type { AnyKind } from "@flotilla/client";
import type { Manifest } from "./strip.ts";
import { policyName } from "@flotilla/karmada";

export interface PolicyInput {
  kind: AnyKind;
  template: Manifest;
  clusters: readonly string[];
  /** By member; unset for kinds that run no replicas. */
  replicas?: ReadonlyMap<string, number>;
  propagateDeps: boolean;
}

/** Marks a policy that was created for one template and is deleted with it. */
export const MADE_FOR_ADOPTION = "flotilla.dev/made-for-adoption";

/** The name that `karmadactl promote` gives its policy, so that both tools find the same one. */
export function adoptionName({
  kind: { group, storageVersion, kind },
  template: { metadata },
}: Pick<PolicyInput, "kind" | "template">): string {
  return policyName(metadata.namespace ?? "", metadata.name, `${group}/${storageVersion}, Kind=${kind}`);
}

export function propagationPolicy(input: PolicyInput): JsonObject {
  const { clusters, replicas, propagateDeps } = input;
  // A single member gets all replicas, even when the object is scaled later.
  const isDivided = replicas !== undefined && clusters.length > 1;
  return {
    ...head(input, "PropagationPolicy"),
    spec: {
      resourceSelectors: [selectorOf(input)],
      ...omitZero({ propagateDeps }),
      conflictResolution: "Overwrite",
      // Workloads that predate the hub keep running when the template is deleted.
      preserveResourcesOnDeletion: true,
      placement: {
        clusterAffinity: { clusterNames: [...clusters] },
        ...defined({
          replicaScheduling: isDivided
            ? {
                replicaSchedulingType: "Divided",
                replicaDivisionPreference: "Weighted",
                weightPreference: {
                  staticWeightList: clusters.map((name) => ({
                    targetCluster: { clusterNames: [name] },
                    weight: replicas.get(name) ?? 0,
                  })),
                },
              }
            : undefined,
        }),
      },
    },
  };
}

/** The override policy that keeps each member's own values. */
export function overridePolicy(
  input: Pick<PolicyInput, "kind" | "template">,
  byCluster: ReadonlyMap<string, readonly PlaintextOverrider[]>,
): JsonObject {
  return {
    ...head(input, "OverridePolicy"),
    spec: {
      resourceSelectors: [selectorOf(input)],
      overrideRules: [...byCluster].map(([name, plaintext]) => ({
        targetCluster: { clusterNames: [name] },
        overriders: { plaintext: plaintext.map((overrider) => ({ ...overrider })) },
      })),
    },
  };
}

function head(input: Pick<PolicyInput, "kind" | "template">, kind: "PropagationPolicy" | "OverridePolicy"): JsonObject {
  const { namespace } = input.template.metadata;
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: namespace ? kind : `Cluster${kind}`,
    metadata: {
      ...omitZero({ namespace }),
      name: adoptionName(input),
      annotations: { [MADE_FOR_ADOPTION]: "true" },
    },
  };
}

function selectorOf({ template: { apiVersion, kind, metadata } }: Pick<PolicyInput, "template">): JsonObject {
  return { apiVersion, kind, ...omitZero({ namespace: metadata.namespace }), name: metadata.name };
}
