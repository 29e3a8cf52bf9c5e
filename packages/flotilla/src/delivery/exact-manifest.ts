/**
 * Rejects a write that would round an integer on a member. The hub stores no such integers, so one in a manifest was
 * taken from the member's own object by a retain rule. Pure.
 */
import { field, invalid, parseApiVersion } from "@flotilla/apimachinery";
import { INEXACT_INTEGER, inexactIntegers } from "@flotilla/base";
import type { Manifest } from "./member-access.ts";

export function checkExact(manifest: Manifest): Manifest {
  const found = inexactIntegers(manifest);
  if (found.size === 0) return manifest;
  const { group } = parseApiVersion(manifest.apiVersion);
  throw invalid(
    group,
    manifest.kind,
    manifest.metadata.name,
    Array.from(found.keys(), (path) => field.invalid(path, "integer", INEXACT_INTEGER)),
  );
}
