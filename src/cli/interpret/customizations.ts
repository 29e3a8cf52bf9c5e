/** The customizations of a set of documents, and where their scripts are. */
import { isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import { ResourceInterpreterCustomization } from "../../api/index.ts";
import type { Operation } from "../../interpreter/index.ts";
import type { Document } from "./documents.ts";
import { RULES } from "./rules.ts";
import type { ScriptText } from "./script-text.ts";
import { SourceError } from "./sources.ts";

/** An object of a file. */
export interface Manifest {
  readonly object: JsonObject;
  readonly file: string;
  readonly line: number;
  readonly scripts: Document["scripts"];
}

/** The objects of documents, with the items of a list one by one, as `kubectl get -o yaml` writes several. */
export function manifestsOf(documents: readonly Document[]): Manifest[] {
  return documents.flatMap(({ value, file, line, scripts }) => {
    if (!isObject(value)) throw new SourceError(`reading ${file}:${line}: this is no object of Kubernetes`);
    const { kind, items } = value;
    if (typeof kind !== "string" || kind === "") throw new SourceError(`reading ${file}:${line}: Object 'Kind' is missing`);
    if (!kind.endsWith("List") || !Array.isArray(items)) return [{ object: value, file, line, scripts }];
    // Places are known by the path from the root of a document, which items of a list do not have.
    return items.filter(isObject).map((object) => ({ object, file, line, scripts: new Map<string, ScriptText>() }));
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
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${String(object["kind"])}`;
}

export const nameOf = ({ object, file }: Manifest): string => textAt(object, "metadata", "name") || file;

export function targetOf({ object }: Manifest): { apiVersion: string; kind: string } {
  return { apiVersion: textAt(object, "spec", "target", "apiVersion"), kind: textAt(object, "spec", "target", "kind") };
}

/** The script of an operation; empty when there is none. */
export function scriptOf({ object }: Manifest, operation: Operation): string {
  return textAt(object, ...scriptPath(operation));
}

/** Where a script is in its file, if it is in a block of its own. */
export function scriptTextOf({ scripts }: Manifest, operation: Operation): ScriptText | undefined {
  return scripts.get(scriptPath(operation).join("."));
}

function scriptPath(operation: Operation): string[] {
  const rule = RULES.find((each) => each.operation === operation);
  return ["spec", "customizations", rule?.field ?? "", "luaScript"];
}

function textAt(object: JsonObject, ...path: readonly string[]): string {
  let value: Json | undefined = object;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof value === "string" ? value : "";
}
