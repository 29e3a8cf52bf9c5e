/** Validates claims that belong to a pod: the template of an ephemeral volume, and those of a StatefulSet. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  checkLabels,
  checkSelector,
  checkText,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate } from "@flotilla/apimachinery/facts/core-v1.ts";
import { forbiddenMetadata } from "../definition/template-metadata.ts";
import { checkAccessModes, checkVolumeMode } from "../storage/access-modes.ts";
import { checkAnnotationKeys } from "./pod-annotations.ts";

type Read<T> = DeepReadonly<T>;

export function checkClaimTemplate(
  errors: FieldError[],
  at: string,
  { metadata, spec }: Read<PersistentVolumeClaimTemplate>,
): void {
  if (metadata) {
    checkAnnotationKeys(errors, `${at}.metadata.annotations`, metadata.annotations);
    errors.push(...checkLabels(`${at}.metadata.labels`, metadata.labels));
    errors.push(...forbiddenMetadata(`${at}.metadata`, metadata));
  }
  checkClaimSpec(errors, `${at}.spec`, spec ?? {});
}

export function checkClaimSpec(errors: FieldError[], at: string, spec: Read<PersistentVolumeClaimSpec>): void {
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(field.required(`${at}.accessModes`, "at least 1 access mode is required"));
  errors.push(...checkSelector(`${at}.selector`, spec.selector));
  errors.push(...checkAccessModes(`${at}.accessModes`, modes));
  const storage = spec.resources?.requests?.["storage"];
  if (storage === undefined) errors.push(field.required(`${at}.resources[storage]`));
  else if ((tryParseQuantity(storage)?.mantissa ?? 0n) <= 0n)
    errors.push(field.invalid(`${at}.resources[storage]`, storage, "must be greater than zero"));
  if (spec.storageClassName)
    errors.push(...checkText(`${at}.storageClassName`, spec.storageClassName, dnsSubdomainProblems));
  errors.push(...checkVolumeMode(`${at}.volumeMode`, spec.volumeMode));
  checkDataSources(errors, at, spec);
  if (spec.volumeAttributesClassName)
    errors.push(...checkText(`${at}.volumeAttributesClassName`, spec.volumeAttributesClassName, dnsSubdomainProblems));
}

function checkDataSources(
  errors: FieldError[],
  at: string,
  { dataSource, dataSourceRef }: Read<PersistentVolumeClaimSpec>,
): void {
  if (dataSource) checkDataSource(errors, `${at}.dataSource`, dataSource);
  if (!dataSourceRef) return;
  checkDataSource(errors, `${at}.dataSourceRef`, dataSourceRef);
  const { namespace, ...reference } = dataSourceRef;
  if (namespace) errors.push(...checkText(`${at}.dataSourceRef.namespace`, namespace, dnsLabelProblems));
  if (!dataSource) return;
  if (namespace) errors.push(field.invalid(at, {}, "may not be specified when dataSourceRef.namespace is specified"));
  else if (!equalJson(dataSource, reference)) errors.push(field.invalid(at, {}, "must match dataSourceRef"));
}

function checkDataSource(
  errors: FieldError[],
  at: string,
  { apiGroup = "", kind = "", name }: { readonly apiGroup?: string; readonly kind?: string; readonly name?: string },
): void {
  if (!name) errors.push(field.required(`${at}.name`));
  if (kind === "") errors.push(field.required(`${at}.kind`));
  if (apiGroup === "" && kind !== "PersistentVolumeClaim")
    errors.push(field.invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  if (apiGroup !== "") errors.push(...checkText(`${at}.apiGroup`, apiGroup, dnsSubdomainProblems));
}
