/** Defaults and validation of PersistentVolumeClaim. */
import {
  builtInAdmission,
  change,
  changedFields,
  checkText,
  checkUnchanged,
  compareQuantities,
  field,
  fill,
  labelKeyProblems,
  parseQuantity,
  quantityMilliValue,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { PersistentVolumeClaimSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { STORAGE_CLASS_ANNOTATION } from "../storageclass/storageclass-rules.ts";
import { checkClaimSpec } from "../pod/pod-claims.ts";
import { checkResourceAmount, isNativeResource } from "../resources/resource-names.ts";
import { PersistentVolumeClaim } from "./persistentvolumeclaim-kind.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<PersistentVolumeClaimSpec>;

function completeClaim(claim: Read<PersistentVolumeClaim>): Read<PersistentVolumeClaim> {
  const spec: Spec = fill(claim.spec ?? {}, { volumeMode: "Filesystem" });
  return completeStatus(spec === claim.spec ? claim : { ...claim, spec });
}

const completeStatus = (claim: Read<PersistentVolumeClaim>): Read<PersistentVolumeClaim> =>
  change(claim, "status", (status) => fill(status, { phase: "Pending" }));

/**
 * Sets the server's fields: `dataSource` and `dataSourceRef` both name the data source and must agree. `dataSource`
 * once accepted only a short list of kinds; other kinds are still dropped from it silently.
 */
export function prepareClaim(
  claim: Read<PersistentVolumeClaim>,
  old: Read<PersistentVolumeClaim> | undefined,
): Read<PersistentVolumeClaim> {
  const { spec = {} } = claim;
  const before = old?.spec ?? {};
  let { dataSource, dataSourceRef } = spec;
  // Cross-namespace data sources are off by default in Kubernetes.
  if (dataSourceRef?.namespace && !before.dataSourceRef) dataSourceRef = undefined;
  const wasFilled = before.dataSource !== undefined || before.dataSourceRef !== undefined;
  if (!wasFilled && !dataSourceRef && !isClaimOrSnapshot(dataSource)) dataSource = undefined;
  if (dataSource && !dataSourceRef) dataSourceRef = dataSource;
  else if (dataSourceRef && !dataSource && !dataSourceRef.namespace) {
    const { namespace: _, ...reference } = dataSourceRef;
    dataSource = reference;
  }
  if (equalJson(dataSource, spec.dataSource) && equalJson(dataSourceRef, spec.dataSourceRef)) return claim;
  const { dataSource: _d, dataSourceRef: _r, ...rest } = spec;
  return { ...claim, spec: { ...rest, dataSource, dataSourceRef } };
}

function isClaimOrSnapshot(source: Spec["dataSource"]): boolean {
  const { apiGroup = "", kind } = source ?? {};
  return (
    (kind === "PersistentVolumeClaim" && apiGroup === "") ||
    (kind === "VolumeSnapshot" && apiGroup === "snapshot.storage.k8s.io")
  );
}

const sizeOf = (amounts: Readonly<Record<string, string | number>> | undefined) =>
  parseQuantity(amounts?.["storage"] ?? "0");

function checkUpdate(claim: Read<PersistentVolumeClaim>, old: Read<PersistentVolumeClaim>): FieldError[] {
  const { spec = {}, status } = claim;
  const { spec: before = {} } = old;
  const isBound = status?.phase === "Bound";
  const annotations = {
    now: claim.metadata.annotations?.[STORAGE_CLASS_ANNOTATION],
    before: old.metadata.annotations?.[STORAGE_CLASS_ANNOTATION],
  };
  const errors: FieldError[] = [];
  let compared: Spec = spec;
  const expected: Spec = before.volumeName ? before : withField(before, "volumeName", spec.volumeName);
  const movesClass = before.storageClassName === undefined && spec.storageClassName !== undefined;
  if (
    movesClass &&
    annotations.before === spec.storageClassName &&
    (annotations.now === undefined || annotations.now === annotations.before)
  )
    compared = withField(compared, "storageClassName", undefined);
  else {
    if (annotations.now !== annotations.before)
      errors.push(
        field.invalid(`metadata.annotations.${STORAGE_CLASS_ANNOTATION}`, annotations.now ?? "", "field is immutable"),
      );
    if (movesClass && (annotations.before === undefined || annotations.before === spec.storageClassName))
      compared = withField(compared, "storageClassName", before.storageClassName);
  }
  if (isBound) {
    const { requests } = spec.resources ?? {};
    if (requests)
      compared = {
        ...compared,
        resources: {
          ...compared.resources,
          requests: { ...requests, storage: before.resources?.requests?.["storage"] ?? "0" },
        },
      };
    compared = withField(compared, "volumeAttributesClassName", before.volumeAttributesClassName);
  }
  if (!equalJson(compared, expected)) {
    errors.push(
      field.forbidden(
        "spec",
        `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims${changedFields(expected, compared, "spec")}`,
      ),
    );
  }
  const size = sizeOf(spec.resources?.requests);
  // The storage size cannot shrink below the capacity recorded in the status.
  if (
    compareQuantities(size, sizeOf(before.resources?.requests)) < 0 &&
    compareQuantities(size, sizeOf(old.status?.capacity)) <= 0
  ) {
    errors.push(field.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"));
  }
  errors.push(...checkUnchanged("volumeMode", spec.volumeMode, before.volumeMode));
  if (
    before.volumeAttributesClassName !== spec.volumeAttributesClassName &&
    old.status?.currentVolumeAttributesClassName !== undefined &&
    !spec.volumeAttributesClassName
  ) {
    const target = spec.volumeAttributesClassName === undefined ? "nil" : "empty string";
    errors.push(
      field.forbidden(
        "spec.volumeAttributesClassName",
        `update to ${target} is forbidden when status.currentVolumeAttributesClassName is not nil`,
      ),
    );
  }
  return errors;
}

function withField<K extends keyof PersistentVolumeClaimSpec>(spec: Spec, key: K, value: Spec[K] | undefined): Spec {
  const { [key]: _, ...rest } = spec;
  return value === undefined ? rest : { ...rest, [key]: value };
}

const RESIZE_STATES = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
].sort();

function checkStatus({ spec, status = {} }: Read<PersistentVolumeClaim>): FieldError[] {
  const errors = spec?.accessModes?.length ? [] : [field.required("Spec.accessModes")];
  for (const [name, text] of Object.entries(status.capacity ?? {}))
    errors.push(...checkAmount(`status.capacity[${name}]`, text));
  for (const [name, state] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    errors.push(...checkResourceKey("status.allocatedResourceStatuses", name));
    if (!RESIZE_STATES.includes(state))
      errors.push(field.notSupported("status.allocatedResourceStatuses", name, RESIZE_STATES));
  }
  for (const [name, text] of Object.entries(status.allocatedResources ?? {})) {
    const problems = checkResourceKey("status.allocatedResources", name);
    const at = `status.allocatedResources[${name}]`;
    if (problems.length === 0) problems.push(...checkAmount(at, text));
    errors.push(...(problems.length > 0 ? problems : checkResourceAmount(at, "storage", text)));
  }
  return errors;
}

function checkAmount(path: string, text: string | number): FieldError[] {
  const quantity = tryParseQuantity(text);
  return quantity && quantity.mantissa < 0n
    ? [field.invalid(path, Number(quantityMilliValue(quantity) / 1000n), "must be a valid resource quantity")]
    : [];
}

function checkResourceKey(path: string, name: string): FieldError[] {
  const errors = checkText(path, name, labelKeyProblems);
  return errors.length === 0 && isNativeResource(name) && name !== "storage"
    ? [field.notSupported(path, name, ["storage"])]
    : errors;
}

function claimWarnings({ metadata, spec }: Read<PersistentVolumeClaim>): string[] {
  const warnings =
    metadata.annotations?.[STORAGE_CLASS_ANNOTATION] === undefined
      ? []
      : [
          `metadata.annotations[${STORAGE_CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`,
        ];
  for (const part of ["requests", "limits"] as const) {
    const text = spec?.resources?.[part]?.["storage"];
    const quantity = text === undefined ? undefined : tryParseQuantity(text);
    if (quantity && quantityMilliValue(quantity) % 1000n !== 0n)
      warnings.push(
        `spec.resources.${part}[storage]: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`,
      );
  }
  return warnings;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(PersistentVolumeClaim, "core-v1", {
    complete: completeClaim,
    completeStatus,
    validate({ object, oldObject }) {
      const errors: FieldError[] = [];
      checkClaimSpec(errors, "spec", object.spec ?? {});
      return oldObject ? [...errors, ...checkUpdate(object, oldObject)] : errors;
    },
    validateStatus: ({ object }) => checkStatus(object),
    warnings: ({ object, subresource }) => (subresource === undefined ? claimWarnings(object) : []),
  }),
];
