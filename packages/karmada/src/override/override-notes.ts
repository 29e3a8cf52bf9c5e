/** Descriptions of the fields of OverridePolicy and ClusterOverridePolicy, for their reference pages. */
import { selectorNotes } from "../selection/selector-notes.ts";

const overriders = (at: string): Readonly<Record<string, string>> => ({
  [`${at}.plaintext`]: "A JSON patch: a path, `add`, `replace` or `remove`, and a value.",
  [`${at}.imageOverrider`]: "Registry, repository or tag of images.",
  [`${at}.commandOverrider`]: "Elements of a container's command.",
  [`${at}.argsOverrider`]: "Elements of a container's arguments.",
  [`${at}.labelsOverrider`]: "Labels of the object.",
  [`${at}.annotationsOverrider`]: "Annotations of the object.",
  [`${at}.fieldOverrider`]: "Fields of JSON or YAML inside a string, such as a value of a ConfigMap.",
});

export const overrideNotes: Readonly<Record<string, string>> = {
  ...selectorNotes,
  "spec.overrideRules": "The overrides per cluster. Each rule that targets the member is applied, in order.",
  "spec.overrideRules[].targetCluster": "The members that the rule targets; defaults to all.",
  ...overriders("spec.overrideRules[].overriders"),
  "spec.targetCluster": "Deprecated: use `overrideRules`.",
  "spec.overriders": "Deprecated: use `overrideRules`.",
};
