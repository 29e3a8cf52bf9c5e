/** Validates projected volumes: secrets, ConfigMaps, pod fields and service account tokens. */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import type { DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { DownwardAPIVolumeFile, KeyToPath, ProjectedVolumeSource } from "@flotilla/apimachinery/facts/core-v1.ts";
import { FILE_FIELDS, checkFieldSelector, checkResourceSelector } from "./pod-environment.ts";
import { checkKeyToPath, checkMode } from "./pod-files.ts";
import { checkLocalPath } from "./pod-paths.ts";

type Read<T> = DeepReadonly<T>;

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Validates a file with a pod field or a container resource. */
export function checkDownwardFile(
  errors: FieldError[],
  at: string,
  { path = "", fieldRef, resourceFieldRef, mode }: Read<DownwardAPIVolumeFile>,
): void {
  if (path === "") errors.push(field.required(`${at}.path`));
  checkLocalPath(errors, `${at}.path`, path);
  if (fieldRef) {
    checkFieldSelector(errors, `${at}.fieldRef`, fieldRef, FILE_FIELDS);
    if (resourceFieldRef)
      errors.push(field.invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
  } else if (resourceFieldRef) checkResourceSelector(errors, `${at}.resourceFieldRef`, resourceFieldRef, true);
  else errors.push(field.required(at, "one of fieldRef and resourceFieldRef is required"));
  checkMode(errors, `${at}.mode`, mode);
}

export function checkProjection(errors: FieldError[], at: string, { sources }: Read<ProjectedVolumeSource>): void {
  const paths = new Set<string>();
  const claim = (path: string, shown: string): void => {
    if (path !== "" && paths.has(path)) errors.push(field.invalid(at, shown, "conflicting duplicate paths"));
    paths.add(path);
  };
  for (const [index, { secret, configMap, downwardAPI, serviceAccountToken }] of (sources ?? []).entries()) {
    const fieldPath = `${at}.sources[${index}]`;
    if (secret) checkItems(errors, `${fieldPath}.secret`, secret, claim);
    if (configMap) checkItems(errors, `${fieldPath}.configMap`, configMap, claim);
    for (const file of downwardAPI?.items ?? []) {
      checkDownwardFile(errors, `${fieldPath}.downwardAPI`, file);
      claim(file.path ?? "", file.path ?? "");
    }
    if (serviceAccountToken) {
      const { expirationSeconds = 0, path } = serviceAccountToken;
      if (expirationSeconds < MIN_TOKEN_SECONDS)
        errors.push(
          field.invalid(
            `${fieldPath}.serviceAccountToken.expirationSeconds`,
            expirationSeconds,
            "may not specify a duration less than 10 minutes",
          ),
        );
      if (expirationSeconds > MAX_TOKEN_SECONDS)
        errors.push(
          field.invalid(
            `${fieldPath}.serviceAccountToken.expirationSeconds`,
            expirationSeconds,
            "may not specify a duration larger than 2^32 seconds",
          ),
        );
      if (!path) errors.push(field.required(`${at}.path`));
      else checkLocalPath(errors, `${at}.path`, path);
    }
    if ([secret, configMap, downwardAPI, serviceAccountToken].filter(Boolean).length > 1)
      errors.push(field.forbidden(fieldPath, "may not specify more than 1 volume type per source"));
  }
}

function checkItems(
  errors: FieldError[],
  at: string,
  { name = "", items }: { readonly name?: string; readonly items?: readonly Read<KeyToPath>[] },
  claim: (path: string, shown: string) => void,
): void {
  if (name === "") errors.push(field.required(`${at}.name`));
  for (const [index, item] of (items ?? []).entries()) {
    checkKeyToPath(errors, `${at}.items[${index}]`, item);
    claim(item.path ?? "", name);
  }
}
