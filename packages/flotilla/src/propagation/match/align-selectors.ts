/** Translates a policy's selectors to the version of a template: all versions of one kind are one object. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import { matchesResource } from "../policies/resource-selector.ts";
import type { ResourceSelector, SelectableResource } from "../policies/resource-selector.ts";

interface Selecting {
  readonly spec: { readonly resourceSelectors: readonly ResourceSelector[] };
}

/** The policy itself when it already uses the template's version. */
export function alignSelectors<P extends Selecting>(policy: P, template: SelectableResource): P {
  const { group } = parseApiVersion(template.apiVersion);
  const isOtherVersion = (selector: { readonly apiVersion: string; readonly kind: string }): boolean =>
    selector.kind === template.kind &&
    selector.apiVersion !== template.apiVersion &&
    parseApiVersion(selector.apiVersion).group === group;
  if (!policy.spec.resourceSelectors.some(isOtherVersion)) return policy;
  const resourceSelectors = policy.spec.resourceSelectors.map((selector) =>
    isOtherVersion(selector) ? { ...selector, apiVersion: template.apiVersion } : selector,
  );
  return { ...policy, spec: { ...policy.spec, resourceSelectors } };
}

/** The version that the policy specifies for this template; its members get the manifest in that version. */
export function askedVersion(policy: Selecting, template: SelectableResource): string {
  const { group } = parseApiVersion(template.apiVersion);
  const asked = policy.spec.resourceSelectors.find(
    (selector) =>
      parseApiVersion(selector.apiVersion).group === group &&
      matchesResource({ ...template, apiVersion: selector.apiVersion }, [selector]),
  );
  return asked?.apiVersion ?? template.apiVersion;
}
