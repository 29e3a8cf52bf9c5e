/** Paths inside volumes and on hosts: a pod must not climb out of what it is given. */
import { wrong } from "../field-errors.ts";
import type { FieldError } from "../../machinery/index.ts";

/** No `..` on the way. */
export function checkNoBacksteps(errors: FieldError[], at: string, path: string): void {
  if (path.includes("..") && path.split("/").includes("..")) errors.push(wrong(at, path, "must not contain '..'"));
}

/** A path that leads down from where it is used. */
export function checkDescendingPath(errors: FieldError[], at: string, path: string): void {
  if (path.startsWith("/")) errors.push(wrong(at, path, "must be a relative path"));
  checkNoBacksteps(errors, at, path);
}

/** The same, and no name that the kubelet uses for itself. */
export function checkLocalPath(errors: FieldError[], at: string, path: string): void {
  checkDescendingPath(errors, at, path);
  if (path.startsWith("..") && !path.startsWith("../")) errors.push(wrong(at, path, "must not start with '..'"));
}
