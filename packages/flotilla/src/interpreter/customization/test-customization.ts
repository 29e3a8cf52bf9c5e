/** Customizations for the tests in this directory. */
import type { CustomizationRules } from "@flotilla/apimachinery/facts/config-karmada-v1alpha1.ts";
import type { ResourceInterpreterCustomization } from "@flotilla/karmada";
import type { RuleField } from "./customization-rules.ts";

export const TARGET = { apiVersion: "example.com/v1", kind: "Web" };

/** One rule per field, each a script. */
export function makeCustomization(
  name: string,
  scripts: Partial<Record<RuleField, string>>,
  target = TARGET,
): ResourceInterpreterCustomization {
  const customizations = Object.fromEntries(
    Object.entries(scripts).map(([field, luaScript]) => [field, { luaScript }]),
  ) as CustomizationRules;
  return {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name },
    spec: { target, customizations },
  };
}
