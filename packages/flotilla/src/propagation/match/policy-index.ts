/** Index of policies by selectors and prerequisites, so that lookups do not read all of them. */
import { gvkOf, parseApiVersion } from "@flotilla/apimachinery";
import { selectsClusterScoped } from "@flotilla/karmada";
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer } from "@flotilla/controller-runtime";
import type { Template, Templates } from "../templates/templates.ts";
import { alignSelectors, askedVersion, selectorsInOtherVersions } from "./align-selectors.ts";
import type { IsServed } from "./align-selectors.ts";
import type { Policy } from "./plan-match.ts";

const BY_KIND = "selected kind";
const BY_OVERRIDE = "dependent override";
const BY_PRIORITY_CLASS = "priority class";

export interface PolicyIndex {
  /** False while a list is incomplete: no policies and unlisted policies look alike. */
  isSynced(): boolean;
  /**
   * Policies that select the template's kind, in the template's version. Selectors in versions that the hub does not
   * serve keep these, and so match nothing.
   */
  candidates(template: Template): Promise<{
    policies: DeepReadonly<PropagationPolicy>[];
    clusterPolicies: DeepReadonly<ClusterPropagationPolicy>[];
  }>;
  /** The version that the policy, as stored, specifies for this template. */
  askedVersion(policy: Policy, template: Template): Promise<string>;
  /** Policies that depend on an override policy of this name; in a namespace, or on a cluster override policy. */
  dependingOn(override: string, namespace?: string): readonly Policy[];
  withPriorityClass(name: string): readonly Policy[];
}

export function createPolicyIndex(
  hub: string,
  policies: Informer<PropagationPolicy>,
  clusterPolicies: Informer<ClusterPropagationPolicy>,
  { isServed }: Pick<Templates, "isServed">,
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

  /** Which of the versions are served that these policies name besides the template's. */
  async function servedAmong(found: readonly Policy[], template: Template): Promise<IsServed> {
    const others = new Map(
      found.flatMap((policy) => selectorsInOtherVersions(policy, template)).map((each) => [each.apiVersion, each]),
    );
    const served = new Set<string>();
    for (const selector of others.values()) if (await isServed(selector)) served.add(selector.apiVersion);
    return ({ apiVersion }) => served.has(apiVersion);
  }

  return {
    isSynced: () => policies.synced && clusterPolicies.synced,
    async candidates(template) {
      const { group, kind } = gvkOf(template);
      const local = inOrder(policies.by(BY_KIND, kindId(group, kind, template.metadata.namespace)));
      const global = clusterPolicies.by(BY_KIND, kindId(group, kind));
      const isVersionServed = await servedAmong([...local, ...global], template);
      const aligned = <P extends Policy>(policy: P): P => alignSelectors(policy, template, isVersionServed);
      return { policies: local.map(aligned), clusterPolicies: global.map(aligned) };
    },
    async askedVersion({ kind, metadata: { name, namespace } }, template) {
      const stored: Policy | undefined =
        kind === "ClusterPropagationPolicy"
          ? clusterPolicies.get({ cluster: hub, name })
          : policies.get({ cluster: hub, namespace: namespace ?? "", name });
      return stored ? askedVersion(stored, template, await servedAmong([stored], template)) : template.apiVersion;
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
