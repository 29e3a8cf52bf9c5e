/** Expands short forms of a UnitedDeployment in a manifest for members. Defaults are left to the member. */
import { change, HUB } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { completeSelector } from "../api/template-rules.ts";
import { expandShortForms, labelsOf } from "./uniteddeployment-defaults.ts";
import type { UnitedDeployment } from "./uniteddeployment-types.ts";

export function expandUnitedDeployment(
  manifest: DeepReadonly<JsonObject>,
  warn: (text: string) => void,
): DeepReadonly<JsonObject> {
  const given = manifest as unknown as DeepReadonly<UnitedDeployment>;
  return change(given, "spec", (spec) => {
    const expanded = expandShortForms(spec, given.apiVersion === "apps.kruise.io/v1alpha1", warn);
    return completeSelector(expanded, labelsOf(expanded.template), "the labels of the template", {
      cluster: HUB,
      warn,
    });
  });
}
