/**
 * What the webhooks look for in metadata. The server has looked at it before, so what is left to find are the rules of
 * names that are stricter than its own; the rest holds for whoever asks these rules without a server.
 */
import type { DeepReadonly } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import { checkText, missing } from "../field-errors.ts";
import type { Kind } from "../kind.ts";
import type { ObjectMeta } from "../meta.ts";

export function checkMetadata(
  errors: FieldError[],
  { name, generateName, namespace }: DeepReadonly<Partial<ObjectMeta>>,
  nameProblems: (name: string) => readonly string[],
  scope: Kind["scope"] = "Namespaced",
): void {
  if (generateName)
    errors.push(...checkText("metadata.generateName", generateName, (text) => nameProblems(text.replace(/-+$/, "a"))));
  if (!name) {
    if (!generateName) errors.push(missing("metadata.name", "name or generateName is required"));
  } else errors.push(...checkText("metadata.name", name, nameProblems));
  if (scope === "Namespaced" && !namespace) errors.push(missing("metadata.namespace"));
}
