/** Expands short forms of a CloneSet in a manifest for members. Defaults are left to the member. */
import { change, HUB } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { withOwnSelector } from "../api/template-shorthand.ts";
import { inAlphaForm, type AlphaStrategy } from "./cloneset-rules.ts";
import type { CloneSet } from "./cloneset-types.ts";

export function expandCloneSet(
  manifest: DeepReadonly<JsonObject>,
  warn: (text: string) => void,
): DeepReadonly<JsonObject> {
  const selecting = withOwnSelector<CloneSet>(manifest as unknown as DeepReadonly<CloneSet>, warn);
  if (selecting.apiVersion !== "apps.kruise.io/v1alpha1") return selecting;
  return change(selecting, "spec", (spec) =>
    change(
      spec,
      "updateStrategy",
      (strategy) => inAlphaForm(strategy as AlphaStrategy, { cluster: HUB, warn }) as typeof strategy,
    ),
  );
}
