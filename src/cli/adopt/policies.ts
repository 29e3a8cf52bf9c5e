/** The policies that leave an adopted object where it is: on the members that have it, each with what it has. Pure. */
import { policyName } from "../../api/index.ts";
import type { PlaintextOverrider } from "../../api/index.ts";
import type { JsonObject } from "../../base/index.ts";
import type { AnyKind } from "../../client/index.ts";
import type { Manifest } from "./strip.ts";

export interface PolicyInput {
  kind: AnyKind;
  template: Manifest;
  clusters: readonly string[];
  /** By member; unset for kinds that run no replicas. */
  replicas?: ReadonlyMap<string, number>;
  propagateDeps: boolean;
}

/** On a policy that was made for one template and goes with it. */
export const MADE_FOR_ADOPTION = "flotilla.dev/made-for-adoption";

/** The name that `karmadactl promote` gives to its policy, so that both find each other's. */
export function adoptionName({
  kind: { group, storageVersion, kind },
  template: { metadata },
}: Pick<PolicyInput, "kind" | "template">): string {
  return policyName(metadata.namespace ?? "", metadata.name, `${group}/${storageVersion}, Kind=${kind}`);
}

export function propagationPolicy(input: PolicyInput): JsonObject {
  const { clusters, replicas, propagateDeps } = input;
  // One member has all of it, also when it is scaled later.
  const isDivided = replicas !== undefined && clusters.length > 1;
  return {
    ...head(input, "PropagationPolicy"),
    spec: {
      resourceSelectors: [selectorOf(input)],
      ...(propagateDeps && { propagateDeps }),
      conflictResolution: "Overwrite",
      // What ran before the hub came runs on when the template is deleted.
      preserveResourcesOnDeletion: true,
      placement: {
        clusterAffinity: { clusterNames: [...clusters] },
        ...(isDivided && {
          replicaScheduling: {
            replicaSchedulingType: "Divided",
            replicaDivisionPreference: "Weighted",
            weightPreference: {
              staticWeightList: clusters.map((name) => ({
                targetCluster: { clusterNames: [name] },
                weight: replicas.get(name) ?? 0,
              })),
            },
          },
        }),
      },
    },
  };
}

/** What each member keeps of its own. */
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
      ...(namespace && { namespace }),
      name: adoptionName(input),
      annotations: { [MADE_FOR_ADOPTION]: "true" },
    },
  };
}

function selectorOf({ template: { apiVersion, kind, metadata } }: Pick<PolicyInput, "template">): JsonObject {
  return { apiVersion, kind, ...(metadata.namespace && { namespace: metadata.namespace }), name: metadata.name };
}
