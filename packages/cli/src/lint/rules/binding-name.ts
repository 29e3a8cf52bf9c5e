/** Finds object names that are too long for the names derived from them. */
import { dnsSubdomainProblems } from "@flotilla/apimachinery";
import { defineRule } from "../rule.ts";
import { namespaceOf } from "../selectors.ts";
import { bindingName, workName } from "@flotilla/karmada";

export const bindingNames = defineRule({
  id: "binding-name",
  severity: "error",
  summary: "the name is too long for its binding or Work",
  why:
    "The names of a binding and of Works are derived from the kind and name of the object. If they would be " +
    "too long or invalid, the object stays on the hub (`BindingNameInvalid`). Two kinds of the same name in " +
    "different groups share a binding name, and only one of them is propagated (`BindingNameTaken`).",
  fix: "Give the object a shorter name, or one that no object of the other kind has.",
  *check(fleet) {
    const taken = new Map<string, string>();
    for (const manifest of fleet.manifests) {
      if (!fleet.policyOf(manifest) || manifest.name === "") continue;
      const { kind, name, title, group } = manifest;
      const binding = bindingName(kind, name);
      const problem = [binding, workName(kind, name, namespaceOf(manifest))].flatMap((each) =>
        dnsSubdomainProblems(each),
      )[0];
      if (problem !== undefined)
        yield {
          manifest,
          path: ["metadata", "name"],
          message: `its binding would be named ${binding.length > 80 ? `${binding.slice(0, 80)}… (${binding.length} characters)` : binding}: ${problem}`,
        };
      const key = `${namespaceOf(manifest)}/${binding}`;
      const other = taken.get(key);
      if (other !== undefined && other !== group)
        yield {
          manifest,
          path: ["metadata", "name"],
          message: `${title} of ${group} and of ${other || "Kubernetes' core"} would share the binding ${binding}`,
        };
      taken.set(key, other ?? group);
    }
  },
});
