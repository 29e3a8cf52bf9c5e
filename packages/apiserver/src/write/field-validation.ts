/**
 * Field validation: unknown fields and duplicate keys of a body are rejected, reported as warnings, or dropped
 * silently, as the request specifies.
 */
import { MAX_STRICT_PROBLEMS, inOrderOfAppearance, undecodable } from "@flotilla/apimachinery";
import type { Findings } from "../codec/decode.ts";
import { yamlLines } from "../codec/yaml-problem.ts";
import type { RequestContext } from "../request/context.ts";
import type { WriteOptions } from "../request/options.ts";

/** Throws 400 when field validation is strict. `written` are the paths of fields that the kind does not have. */
export function reportFields(
  written: readonly string[],
  findings: Findings,
  { served, warn }: RequestContext,
  { fieldValidation }: WriteOptions,
): void {
  const unknown = findings.unknown ? [...written, ...findings.unknown] : written;
  if (fieldValidation === "Ignore" || (unknown.length === 0 && findings.duplicates.length === 0 && !findings.problems))
    return;
  const { kind } = served.resource;
  const problems = [
    ...(findings.problems ?? []),
    ...(kind.builtIn ? typedProblems(unknown, findings) : customProblems(unknown, findings)),
  ].slice(0, MAX_STRICT_PROBLEMS);
  if (problems.length === 0) return;
  if (fieldValidation === "Strict") {
    const problem = `strict decoding error: ${problems.join(", ")}`;
    throw undecodable({ sent: kind.kind, version: served.version, kind: kind.kind }, problem);
  }
  for (const problem of problems) for (const line of yamlLines(problem)) warn(line);
}

const unknownField = (field: string): string => `unknown field "${field}"`;
const duplicateField = (field: string): string => `duplicate field "${field}"`;

/** The fields of a Go struct, in the order of the body. */
function typedProblems(unknown: readonly string[], { duplicates, text }: Findings): string[] {
  if (unknown.length === 0) return duplicates.map(duplicateField);
  if (duplicates.length === 0) return [...new Set(unknown)].map(unknownField);
  // A patch is not an object of the kind: its own keys come first.
  if (text === undefined) return [...duplicates.map(duplicateField), ...unknown.map(unknownField)];
  return inOrderOfAppearance(text, unknown).map(({ field, repeated }) =>
    repeated ? duplicateField(field) : unknownField(field),
  );
}

/** A custom resource is decoded as a map and pruned afterwards. */
function customProblems(unknown: readonly string[], { duplicates }: Findings): string[] {
  const isMetadata = (field: string): boolean => field.startsWith("metadata.");
  const fields = [...new Set(unknown)].sort();
  return [
    ...duplicates.map(duplicateField),
    ...fields.filter(isMetadata).map(unknownField),
    ...fields.filter((field) => !isMetadata(field)).map(unknownField),
  ];
}
