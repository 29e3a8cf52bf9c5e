/**
 * Translates a policy's selectors to the version of a template: all served versions of one kind are one object. A
 * selector in a version that the hub does not serve stays as it is, and so matches nothing. Pure.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import { matchesResource } from "../policies/resource-selector.ts";
import type { ResourceSelector, SelectableResource } from "../policies/resource-selector.ts";

interface Selecting {
  readonly spec: { readonly resourceSelectors: readonly ResourceSelector[] };
}

type Selector = Pick<ResourceSelector, "apiVersion" | "kind">;

/** Whether the hub serves the kind of a selector in its version. */
export type IsServed = (selector: Selector) => boolean;

/** The selectors that name the kind of a template in another version. */
export function selectorsInOtherVersions(policy: Selecting, template: SelectableResource): Selector[] {
  const { group } = parseApiVersion(template.apiVersion);
  return policy.spec.resourceSelectors.filter(
    ({ apiVersion, kind }) =>
      kind === template.kind && apiVersion !== template.apiVersion && parseApiVersion(apiVersion).group === group,
  );
}

/** The policy itself when it already uses the template's version. */
export function alignSelectors<P extends Selecting>(policy: P, template: SelectableResource, isServed: IsServed): P {
  const others = new Set(selectorsInOtherVersions(policy, template).filter(isServed));
  if (others.size === 0) return policy;
  const resourceSelectors = policy.spec.resourceSelectors.map((selector) =>
    others.has(selector) ? { ...selector, apiVersion: template.apiVersion } : selector,
  );
  return { ...policy, spec: { ...policy.spec, resourceSelectors } };
}

/** The version that the policy specifies for this template; its members get the manifest in that version. */
export function askedVersion(policy: Selecting, template: SelectableResource, isServed: IsServed): string {
  const { group } = parseApiVersion(template.apiVersion);
  const asked = policy.spec.resourceSelectors.find(
    (selector) =>
      parseApiVersion(selector.apiVersion).group === group &&
      matchesResource({ ...template, apiVersion: selector.apiVersion }, [selector]) &&
      (selector.apiVersion === template.apiVersion || isServed(selector)),
  );
  return asked?.apiVersion ?? template.apiVersion;
}
