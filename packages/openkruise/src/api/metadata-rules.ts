/**
 * Metadata rules of the webhooks. The server has validated metadata before, so only name rules that are stricter than
 * the server's can fail; the other rules are for callers without a server.
 */
import type { DeepReadonly } from "@flotilla/base";
import { checkText, field } from "@flotilla/apimachinery";
import type { FieldError, Kind, ObjectMeta } from "@flotilla/apimachinery";

export function checkMetadata(
  errors: FieldError[],
  { name, generateName, namespace }: DeepReadonly<Partial<ObjectMeta>>,
  nameProblems: (name: string) => readonly string[],
  scope: Kind["scope"] = "Namespaced",
): void {
  if (generateName)
    errors.push(...checkText("metadata.generateName", generateName, (text) => nameProblems(text.replace(/-+$/, "a"))));
  if (!name) {
    if (!generateName) errors.push(field.required("metadata.name", "name or generateName is required"));
  } else errors.push(...checkText("metadata.name", name, nameProblems));
  if (scope === "Namespaced" && !namespace) errors.push(field.required("metadata.namespace"));
}
