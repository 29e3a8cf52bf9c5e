/** Index of policies by selectors and prerequisites, so that lookups do not read all of them. */
import { gvkOf, parseApiVersion } from "@flotilla/apimachinery";
import { selectsClusterScoped } from "@flotilla/karmada";
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer } from "@flotilla/controller-runtime";
import type { Template } from "../templates/templates.ts";
import { alignSelectors } from "./align-selectors.ts";
import type { Policy } from "./plan-match.ts";

const BY_KIND = "selected kind";
const BY_OVERRIDE = "dependent override";
const BY_PRIORITY_CLASS = "priority class";

export interface PolicyIndex {
  /** False while a list is incomplete: no policies and unlisted policies look alike. */
  isSynced(): boolean;
  /** Policies that select the template's kind, in the template's version. */
  candidates(template: Template): {
    policies: DeepReadonly<PropagationPolicy>[];
    clusterPolicies: DeepReadonly<ClusterPropagationPolicy>[];
  };
  /** The policy as stored. */
  original(policy: Policy): Policy | undefined;
  /** Policies that depend on an override policy of this name; in a namespace, or on a cluster override policy. */
  dependingOn(override: string, namespace?: string): readonly Policy[];
  withPriorityClass(name: string): readonly Policy[];
}

export function createPolicyIndex(
  hub: string,
  policies: Informer<PropagationPolicy>,
  clusterPolicies: Informer<ClusterPropagationPolicy>,
): PolicyIndex {
  const kindId = (group: string, kind: string, namespace = ""): string => `${namespace} ${group}/${kind}`;
  for (const informer of [policies, clusterPolicies] as Informer<PropagationPolicy>[]) {
    informer.addIndex(BY_KIND, ({ metadata, spec }) => [
      ...new Set(
        spec.resourceSelectors.map((selector) => {
          const { group } = parseApiVersion(selector.apiVersion);
          return kindId(group, selector.kind, selectsClusterScoped(selector) ? "" : metadata.namespace);
        }),
      ),
    ]);
    informer.addIndex(BY_OVERRIDE, ({ metadata, spec }) =>
      (spec.dependentOverrides ?? []).map((name) => `${metadata.namespace ?? ""}/${name}`),
    );
    informer.addIndex(BY_PRIORITY_CLASS, ({ spec }) =>
      spec.schedulePriority ? [spec.schedulePriority.priorityClassName] : [],
    );
  }
  const inOrder = <P extends DeepReadonly<PropagationPolicy>>(found: P[]): P[] =>
    found.sort((a, b) => ((a.metadata.namespace ?? "") < (b.metadata.namespace ?? "") ? -1 : 1));

  return {
    isSynced: () => policies.synced && clusterPolicies.synced,
    candidates(template) {
      const { group, kind } = gvkOf(template);
      const aligned = <P extends DeepReadonly<PropagationPolicy | ClusterPropagationPolicy>>(policy: P): P =>
        alignSelectors(policy, template);
      return {
        policies: inOrder(policies.by(BY_KIND, kindId(group, kind, template.metadata.namespace))).map(aligned),
        clusterPolicies: clusterPolicies.by(BY_KIND, kindId(group, kind)).map(aligned),
      };
    },
    original({ kind, metadata: { name, namespace } }) {
      return kind === "ClusterPropagationPolicy"
        ? clusterPolicies.get({ cluster: hub, name })
        : policies.get({ cluster: hub, namespace: namespace ?? "", name });
    },
    dependingOn: (override, namespace = "") =>
      (namespace ? policies : (clusterPolicies as Informer<PropagationPolicy>)).by(
        BY_OVERRIDE,
        `${namespace}/${override}`,
      ),
    withPriorityClass: (name) => [
      ...policies.by(BY_PRIORITY_CLASS, name),
      ...clusterPolicies.by(BY_PRIORITY_CLASS, name),
    ],
  };
}
