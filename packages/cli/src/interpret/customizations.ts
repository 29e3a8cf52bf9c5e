/** Extracts the customizations from documents, with the positions of their scripts. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { ResourceInterpreterCustomization } from "@flotilla/karmada";
import { convertShorthand } from "@flotilla/flotilla";
import type { Operation } from "@flotilla/kubernetes";
import type { Document } from "./documents.ts";
import { RULES } from "./interpreter-rules.ts";
import type { ScriptText } from "./script-text.ts";
import { SourceError } from "./sources.ts";

/** An object from a file. */
export interface Manifest {
  readonly object: JsonObject;
  readonly file: string;
  readonly line: number;
  readonly scripts: Document["scripts"];
}

/** The objects of documents, with lists split into their items, as `kubectl get -o yaml` writes several objects. */
export function manifestsOf(documents: readonly Document[]): Manifest[] {
  return documents.flatMap(({ value, file, line, scripts }) => {
    if (!isObject(value)) throw new SourceError(`reading ${file}:${line}: this is not a Kubernetes object`);
    const { kind, items } = value;
    if (typeof kind !== "string" || kind === "")
      throw new SourceError(`reading ${file}:${line}: Object 'Kind' is missing`);
    if (!kind.endsWith("List") || !Array.isArray(items)) return [{ object: value, file, line, scripts }];
    return items.filter(isObject).map((object) => ({ object, file, line, scripts }));
  });
}

export function isCustomization({ object }: Manifest): boolean {
  const { group, kind } = ResourceInterpreterCustomization;
  const { apiVersion } = object;
  return object["kind"] === kind && typeof apiVersion === "string" && apiVersion.startsWith(`${group}/`);
}

/** `apps/v1, Kind=Deployment`, as Go writes it. */
export function kindText({ object }: Manifest): string {
  const apiVersion = typeof object["apiVersion"] === "string" ? object["apiVersion"] : "";
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${textAt(object, "kind")}`;
}

export const nameOf = ({ object, file }: Manifest): string => textAt(object, "metadata", "name") || file;

export function targetOf({ object }: Manifest): { apiVersion: string; kind: string } {
  return { apiVersion: textAt(object, "spec", "target", "apiVersion"), kind: textAt(object, "spec", "target", "kind") };
}

/** The script of an operation; empty when there is none. */
export function scriptOf({ object }: Manifest, operation: Operation): string {
  return textAt(object, ...scriptPath(operation));
}

/** The position of a script in its file, if it is a block scalar. */
export function scriptTextOf(manifest: Manifest, operation: Operation): ScriptText | undefined {
  const source = scriptOf(manifest, operation);
  const path = scriptPath(operation).join(".");
  // A rule that was written under another name, or in a list, is found by its text.
  return [...manifest.scripts]
    .filter(([, { script }]) => script === source)
    .toSorted(([a], [b]) => Number(b === path) - Number(a === path))[0]?.[1];
}

function scriptPath(operation: Operation): string[] {
  return ["spec", "customizations", RULES.find((rule) => rule.operation === operation)?.field ?? "", "luaScript"];
}

export interface Canonical {
  manifest: Manifest;
  errors: string[];
  warnings: string[];
}

/** A customization in the form that the hub stores, with findings about the form in which it was written. */
export function toCanonical(manifest: Manifest): Canonical {
  const { object, file, line } = manifest;
  const spec = isObject(object["spec"]) ? object["spec"] : {};
  const written = spec["customizations"] ?? {};
  const at = `${file}:${line}: `;
  if (!isObject(written))
    return { manifest, errors: [`${at}spec.customizations: must be a mapping of rules`], warnings: [] };
  const { rules, errors, warnings } = convertShorthand(written);
  const wrong = Object.entries(rules).flatMap(([name, rule]) => ruleProblem(name, rule as Json));
  const unknown = Object.keys(rules).filter((name) => !RULES.some(({ field }) => field === name));
  return {
    manifest: {
      ...manifest,
      object: {
        ...object,
        metadata: object["metadata"] ?? {},
        spec: { ...spec, target: spec["target"] ?? {}, customizations: rules as JsonObject },
      },
    },
    errors: [...errors.map(({ field, message }) => `${field}: ${message}`), ...wrong].map((text) => at + text),
    warnings: [
      ...warnings,
      ...unknown.map(
        (name) =>
          `spec.customizations.${name} is not a rule; the rules are ${RULES.map(({ field }) => field).join(", ")}`,
      ),
    ].map((text) => at + text),
  };
}

function ruleProblem(name: string, rule: Json): string[] {
  if (!isObject(rule)) return [`spec.customizations.${name}: must be a mapping with luaScript`];
  return rule["luaScript"] === undefined || typeof rule["luaScript"] === "string"
    ? []
    : [`spec.customizations.${name}.luaScript: must be a string`];
}

function textAt(object: JsonObject, ...path: readonly string[]): string {
  let value: Json | undefined = object;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof value === "string" ? value : "";
}
