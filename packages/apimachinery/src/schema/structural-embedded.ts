/** Embedded objects (`x-kubernetes-embedded-resource`): validation of their kind and metadata. */
import { isObject, type Json, type JsonObject, textOf } from "@flotilla/base";
import { field, type FieldError } from "../field.ts";
import { formatValue } from "../format-value.ts";
import {
  MAX_ANNOTATIONS_BYTES,
  annotationKeyProblems,
  annotationsAreTooLong,
  dns1035LabelProblems,
  dnsLabelProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from "../names.ts";

const invalid = (path: string, value: Json, detail: string): FieldError =>
  field.invalid(path, field.shown(formatValue(value)), detail);
const all = (path: string, value: string, problems: readonly string[]): FieldError[] =>
  problems.map((why) => invalid(path, value, why));

/** `path` is the path of the object. */
export function embeddedErrors(object: JsonObject, path: string): FieldError[] {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const { apiVersion, kind, metadata } = object;
  const errors: FieldError[] = [];
  for (const name of ["apiVersion", "kind"]) if (!Object.hasOwn(object, name)) errors.push(field.required(at(name)));
  if (apiVersion !== undefined) errors.push(...apiVersionErrors(apiVersion, at("apiVersion")));
  if (kind !== undefined) errors.push(...kindErrors(kind, at("kind")));
  if (isObject(metadata)) errors.push(...metadataErrors(metadata, at("metadata")));
  return errors;
}

function apiVersionErrors(apiVersion: Json, path: string): FieldError[] {
  if (typeof apiVersion !== "string") return [invalid(path, apiVersion, "must be a string")];
  if (apiVersion === "") return [invalid(path, apiVersion, "must not be empty")];
  return apiVersion.split("/").length > 2
    ? [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
    : [];
}

function kindErrors(kind: Json, path: string): FieldError[] {
  if (typeof kind !== "string") return [invalid(path, kind, "must be a string")];
  if (kind === "") return [invalid(path, kind, "must not be empty")];
  const problems = dns1035LabelProblems(kind.toLowerCase());
  return problems.length > 0
    ? [invalid(path, kind, `may have mixed case, but should otherwise match: ${problems.join(",")}`)]
    : [];
}

const textsOf = (value: Json | undefined): Record<string, string> =>
  isObject(value) ? (value as Record<string, string>) : {};

function metadataErrors(metadata: JsonObject, path: string): FieldError[] {
  const { name, generateName, namespace, generation, labels, annotations, ownerReferences, finalizers } = metadata;
  const errors: FieldError[] = [];
  if (typeof generateName === "string" && generateName !== "")
    errors.push(
      ...all(
        `${path}.generateName`,
        generateName,
        pathSegmentProblems(generateName).filter((problem) => problem.startsWith("may not contain")),
      ),
    );
  if (typeof name === "string" && name !== "") errors.push(...all(`${path}.name`, name, pathSegmentProblems(name)));
  if (typeof namespace === "string" && namespace !== "")
    errors.push(...all(`${path}.namespace`, namespace, dnsLabelProblems(namespace)));
  if (typeof generation === "number" && generation < 0)
    errors.push(invalid(`${path}.generation`, generation, "must be greater than or equal to 0"));
  for (const [key, value] of Object.entries(textsOf(labels)))
    errors.push(
      ...all(`${path}.labels`, key, labelKeyProblems(key)),
      ...all(`${path}.labels`, value, labelValueProblems(value)),
    );
  for (const key of Object.keys(textsOf(annotations)))
    errors.push(...all(`${path}.annotations`, key, annotationKeyProblems(key)));
  if (annotationsAreTooLong(textsOf(annotations)))
    errors.push(field.tooLong(`${path}.annotations`, MAX_ANNOTATIONS_BYTES));
  errors.push(
    ...ownerErrors(Array.isArray(ownerReferences) ? ownerReferences.filter(isObject) : [], `${path}.ownerReferences`),
  );
  for (const finalizer of Array.isArray(finalizers) ? finalizers : [])
    if (typeof finalizer === "string")
      errors.push(...all(`${path}.finalizers`, finalizer, labelKeyProblems(finalizer)));
  return errors;
}

/** Owner references are shown with their fields in declaration order. */
function wrongOwners(path: string, owners: readonly JsonObject[], why: string): FieldError {
  const shown = owners.map(({ apiVersion = "", kind = "", name = "", uid = "", controller, blockOwnerDeletion }) => ({
    apiVersion,
    kind,
    name,
    uid,
    controller,
    blockOwnerDeletion,
  }));
  return field.invalid(path, shown, why);
}

/** Each of these errors shows all owner references; with thousands of them the response would not fit into memory. */
const MAX_SHOWN_CONTROLLERS = 10;

function ownerErrors(owners: readonly JsonObject[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = "";
  let others = 0;
  for (const { apiVersion = "", kind = "", name = "", uid = "", controller: controls } of owners) {
    if (apiVersion === "") errors.push(invalid(`${path}.apiVersion`, apiVersion, "version must not be empty"));
    for (const [part, value] of Object.entries({ kind, name, uid }))
      if (value === "") errors.push(invalid(`${path}.${part}`, value, "must not be empty"));
    if (controls !== true) continue;
    const current = `${textOf(kind)}/${textOf(name)}`;
    if (controller === "") controller = current;
    else if (++others <= MAX_SHOWN_CONTROLLERS)
      errors.push(
        wrongOwners(
          path,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`,
        ),
      );
  }
  return errors;
}
