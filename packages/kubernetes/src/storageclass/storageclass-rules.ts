/** Defaults and validation of StorageClass. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { builtInAdmission, checkText, checkUnchanged, field, fill, labelKeyProblems } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import { deprecatedNodeLabel } from "../node/node-labels.ts";
import type { TopologySelectorTerm } from "@flotilla/apimachinery/facts/core-v1.ts";
import { StorageClass } from "./storageclass-kind.ts";

type Read<T> = DeepReadonly<T>;

/** The annotation for the class of volumes and claims, which predates the field. */
export const STORAGE_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;
const RECLAIM_POLICIES = ["Delete", "Retain"];
const BINDING_MODES = ["Immediate", "WaitForFirstConsumer"];

function checkClass(sent: Sent<StorageClass>): FieldError[] {
  const { provisioner = "", parameters = {}, reclaimPolicy, volumeBindingMode, allowedTopologies = [] } = sent;
  const errors =
    provisioner === ""
      ? [field.required("provisioner")]
      : checkText("provisioner", provisioner.toLowerCase(), labelKeyProblems);
  errors.push(...checkParameters(parameters));
  if (reclaimPolicy && !RECLAIM_POLICIES.includes(reclaimPolicy))
    errors.push(field.notSupported("reclaimPolicy", reclaimPolicy, RECLAIM_POLICIES));
  if (volumeBindingMode === undefined) errors.push(field.required("volumeBindingMode"));
  else if (!BINDING_MODES.includes(volumeBindingMode))
    errors.push(field.notSupported("volumeBindingMode", volumeBindingMode, BINDING_MODES));
  return [...errors, ...checkTopologies(allowedTopologies)];
}

/** Parameters for the driver of each volume of a class. */
export function checkParameters(parameters: Read<Record<string, string>>): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [field.tooLong("parameters", MAX_PARAMETERS)];
  let bytes = 0;
  for (const [key, value] of entries) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return [
    ...(Object.hasOwn(parameters, "") ? [field.invalid("parameters", "", "field can not be empty.")] : []),
    ...(bytes > MAX_PARAMETER_BYTES ? [field.tooLong("parameters", MAX_PARAMETER_BYTES)] : []),
  ];
}

function checkTopologies(terms: readonly Sent<TopologySelectorTerm>[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen: Record<string, readonly string[]>[] = [];
  for (const [index, { matchLabelExpressions = [] }] of terms.entries()) {
    const at = `allowedTopologies[${index}].matchLabelExpressions`;
    const values: Record<string, readonly string[]> = Object.create(null) as Record<string, readonly string[]>;
    for (const [place, requirement] of matchLabelExpressions.entries()) {
      const { key = "", values: listed = [] } = requirement;
      if (listed.length === 0) errors.push(field.required(`${at}[${place}].values`));
      for (const [position, value] of listed.entries())
        if (listed.indexOf(value) < position)
          errors.push(field.duplicate(`${at}[${place}].values[${position}]`, value));
      errors.push(...checkText(`${at}[${place}].key`, key, labelKeyProblems));
      if (key in values) errors.push(field.duplicate(`${at}[${place}].key`, key));
      values[key] = [...new Set(listed)].sort();
    }
    if (seen.some((other) => equalJson({ ...other }, { ...values }))) errors.push(field.duplicate(at, ""));
    seen.push(values);
  }
  return errors;
}

function classWarnings({ allowedTopologies = [] }: Read<StorageClass>): string[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
    matchLabelExpressions.flatMap(({ key }, place) => {
      const message = deprecatedNodeLabel(key);
      return message === undefined
        ? []
        : [`allowedTopologies[${index}].matchLabelExpressions[${place}].key: ${message}`];
    }),
  );
}

const IMMUTABLE = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] as const;

export const rules: AnyAdmission[] = [
  builtInAdmission(StorageClass, "storage-v1", {
    complete: (storageClass) => fill(storageClass, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
    validate: ({ object, oldObject }) => [
      ...checkClass(object),
      ...(oldObject ? IMMUTABLE.flatMap((path) => checkUnchanged(path, object[path], oldObject[path])) : []),
    ],
    warnings: ({ object }) => classWarnings(object),
  }),
];
