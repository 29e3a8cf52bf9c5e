/** Validates paths inside volumes and on hosts: a pod must not escape its volume. */
import { field, type FieldError } from "@flotilla/apimachinery";

/** The path contains no `..`. */
export function checkNoBacksteps(errors: FieldError[], at: string, path: string): void {
  if (path.includes("..") && path.split("/").includes(".."))
    errors.push(field.invalid(at, path, "must not contain '..'"));
}

/** A relative path without `..`. */
export function checkDescendingPath(errors: FieldError[], at: string, path: string): void {
  if (path.startsWith("/")) errors.push(field.invalid(at, path, "must be a relative path"));
  checkNoBacksteps(errors, at, path);
}

/** The same, and no name reserved by the kubelet. */
export function checkLocalPath(errors: FieldError[], at: string, path: string): void {
  checkDescendingPath(errors, at, path);
  if (path.startsWith("..") && !path.startsWith("../"))
    errors.push(field.invalid(at, path, "must not start with '..'"));
}
