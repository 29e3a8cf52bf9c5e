/** The metadata of objects that a controller creates from a template: labels and annotations, and nothing else. */
import { field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";

/** In the order of the Go struct, which is the order of the errors. */
const UNSET = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
  "managedFields",
] as const;

export function forbiddenMetadata(at: string, metadata: Readonly<Record<string, unknown>>): FieldError[] {
  return (
    UNSET.filter((name) => metadata[name] !== undefined && metadata[name] !== "")
      // Kubernetes derives the path from the Go name with a lower-case first letter.
      .map((name) => field.forbidden(`${at}.${name === "uid" ? "uID" : name}`, "cannot be set"))
  );
}
