/** Embedded objects (`x-kubernetes-embedded-resource`): validation of their kind and metadata. */
import { isObject, type Json, type JsonObject } from "../base/index.ts";
import { formatValue } from "./format-value.ts";
import {
  MAX_ANNOTATIONS_BYTES,
  annotationKeyProblems,
  annotationsAreTooLong,
  dns1035LabelProblems,
  dnsLabelProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from "./names.ts";
import type { FieldError } from "./status.ts";

const wrong = (field: string, value: Json, why: string): FieldError => ({
  type: "Invalid",
  field,
  message: `Invalid value: ${formatValue(value)}: ${why}`,
});
const all = (field: string, value: string, problems: readonly string[]): FieldError[] =>
  problems.map((why) => wrong(field, value, why));

/** `field` is the path of the object. */
export function embeddedErrors(object: JsonObject, field: string): FieldError[] {
  const at = (name: string): string => (field === "" ? name : `${field}.${name}`);
  const { apiVersion, kind, metadata } = object;
  const errors: FieldError[] = [];
  for (const name of ["apiVersion", "kind"])
    if (!Object.hasOwn(object, name)) errors.push({ type: "Required", field: at(name), message: "Required value" });
  if (apiVersion !== undefined) errors.push(...apiVersionErrors(apiVersion, at("apiVersion")));
  if (kind !== undefined) errors.push(...kindErrors(kind, at("kind")));
  if (isObject(metadata)) errors.push(...metadataErrors(metadata, at("metadata")));
  return errors;
}

function apiVersionErrors(apiVersion: Json, field: string): FieldError[] {
  if (typeof apiVersion !== "string") return [wrong(field, apiVersion, "must be a string")];
  if (apiVersion === "") return [wrong(field, apiVersion, "must not be empty")];
  return apiVersion.split("/").length > 2
    ? [wrong(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
    : [];
}

function kindErrors(kind: Json, field: string): FieldError[] {
  if (typeof kind !== "string") return [wrong(field, kind, "must be a string")];
  if (kind === "") return [wrong(field, kind, "must not be empty")];
  const problems = dns1035LabelProblems(kind.toLowerCase());
  return problems.length > 0
    ? [wrong(field, kind, `may have mixed case, but should otherwise match: ${problems.join(",")}`)]
    : [];
}

const textOf = (value: Json): string => (typeof value === "string" ? value : "");
const textsOf = (value: Json | undefined): Record<string, string> =>
  isObject(value) ? (value as Record<string, string>) : {};

function metadataErrors(metadata: JsonObject, field: string): FieldError[] {
  const { name, generateName, namespace, generation, labels, annotations, ownerReferences, finalizers } = metadata;
  const errors: FieldError[] = [];
  if (typeof generateName === "string" && generateName !== "")
    errors.push(
      ...all(
        `${field}.generateName`,
        generateName,
        pathSegmentProblems(generateName).filter((problem) => problem.startsWith("may not contain")),
      ),
    );
  if (typeof name === "string" && name !== "") errors.push(...all(`${field}.name`, name, pathSegmentProblems(name)));
  if (typeof namespace === "string" && namespace !== "")
    errors.push(...all(`${field}.namespace`, namespace, dnsLabelProblems(namespace)));
  if (typeof generation === "number" && generation < 0)
    errors.push(wrong(`${field}.generation`, generation, "must be greater than or equal to 0"));
  for (const [key, value] of Object.entries(textsOf(labels)))
    errors.push(
      ...all(`${field}.labels`, key, labelKeyProblems(key)),
      ...all(`${field}.labels`, value, labelValueProblems(value)),
    );
  for (const key of Object.keys(textsOf(annotations)))
    errors.push(...all(`${field}.annotations`, key, annotationKeyProblems(key)));
  if (annotationsAreTooLong(textsOf(annotations)))
    errors.push({
      type: "TooLong",
      field: `${field}.annotations`,
      message: `Too long: may not be more than ${MAX_ANNOTATIONS_BYTES} bytes`,
    });
  errors.push(
    ...ownerErrors(Array.isArray(ownerReferences) ? ownerReferences.filter(isObject) : [], `${field}.ownerReferences`),
  );
  for (const finalizer of Array.isArray(finalizers) ? finalizers : [])
    if (typeof finalizer === "string")
      errors.push(...all(`${field}.finalizers`, finalizer, labelKeyProblems(finalizer)));
  return errors;
}

/** Owner references are shown with their fields in declaration order. */
function wrongOwners(field: string, owners: readonly JsonObject[], why: string): FieldError {
  const shown = owners.map(({ apiVersion = "", kind = "", name = "", uid = "", controller, blockOwnerDeletion }) => ({
    apiVersion,
    kind,
    name,
    uid,
    controller,
    blockOwnerDeletion,
  }));
  return { type: "Invalid", field, message: `Invalid value: ${JSON.stringify(shown)}: ${why}` };
}

/** Each of these errors shows all owner references; with thousands of them the response would not fit into memory. */
const MAX_SHOWN_CONTROLLERS = 10;

function ownerErrors(owners: readonly JsonObject[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = "";
  let others = 0;
  for (const { apiVersion = "", kind = "", name = "", uid = "", controller: controls } of owners) {
    if (apiVersion === "") errors.push(wrong(`${field}.apiVersion`, apiVersion, "version must not be empty"));
    for (const [part, value] of Object.entries({ kind, name, uid }))
      if (value === "") errors.push(wrong(`${field}.${part}`, value, "must not be empty"));
    if (controls !== true) continue;
    const current = `${textOf(kind)}/${textOf(name)}`;
    if (controller === "") controller = current;
    else if (++others <= MAX_SHOWN_CONTROLLERS)
      errors.push(
        wrongOwners(
          field,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`,
        ),
      );
  }
  return errors;
}
