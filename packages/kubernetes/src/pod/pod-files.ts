/** Validates the files of a volume: their modes, and the mapping from keys to paths. */
import type { DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { KeyToPath } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkLocalPath } from "./pod-paths.ts";

export function checkMode(errors: FieldError[], at: string, mode: number | undefined): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777))
    errors.push(field.invalid(at, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
}

/** A key of a ConfigMap or Secret that becomes a file. */
export function checkKeyToPath(
  errors: FieldError[],
  at: string,
  { key, path, mode }: DeepReadonly<Partial<KeyToPath>>,
): void {
  if (!key) errors.push(field.required(`${at}.key`));
  if (!path) errors.push(field.required(`${at}.path`));
  checkLocalPath(errors, `${at}.path`, path ?? "");
  checkMode(errors, `${at}.mode`, mode);
}
