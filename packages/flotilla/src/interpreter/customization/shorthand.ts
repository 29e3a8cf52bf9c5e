/**
 * Converts ResourceInterpreterCustomization shorthand to the form that Karmada defines: rules under short names
 * (`replicas`, `reviseReplica`, `scale`), and a path in the object instead of a script (`jsonPath`, `jsonPaths`). Pure.
 *
 * `kubectl apply` merges the manifest with the stored object, which is already canonical. So a canonical rule that
 * equals the stored one is replaced by the shorthand beside it; a new canonical rule conflicts with it.
 */
import { equalJson, isObject, setOwn } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { parseFieldPath } from "./field-path.ts";
import type { FieldPath } from "./field-path.ts";
import { isPathRule, maxPathsOf, pathScript } from "./path-scripts.ts";
import type { PathRule } from "./path-scripts.ts";
import { CUSTOMIZATION_RULES } from "./customization-rules.ts";

type Rules = DeepReadonly<JsonObject>;

export interface Converted {
  /** The identical object when there was nothing to convert. */
  rules: Rules;
  warnings: string[];
  errors: FieldError[];
}

const AT = "spec.customizations";

/** Canonical names by alias. */
const ALIASES: ReadonlyMap<string, PathRule> = new Map([
  ["replicas", "replicaResource"],
  ["reviseReplica", "replicaRevision"],
  ["scale", "replicaRevision"],
]);
const PATH_FIELDS = ["jsonPath", "jsonPaths"];

/** `rules` is `spec.customizations` of the request, `stored` that of the stored object. */
export function convertShorthand(rules: Rules, stored: Rules = {}): Converted {
  const converted: Converted = { rules, warnings: [], errors: [] };
  const made = new Map<string, string>();
  for (const [name, rule] of Object.entries(rules)) {
    const canonical = ALIASES.get(name) ?? name;
    const usesPaths = isObject(rule) && isPathRule(canonical) && PATH_FIELDS.some((each) => Object.hasOwn(rule, each));
    if (canonical === name && !usesPaths) continue;
    const other = made.get(canonical);
    made.set(canonical, name);
    if (other !== undefined)
      converted.errors.push(field.forbidden(`${AT}.${name}`, `duplicates ${other}; keep one of them`));
    else
      convertRule(converted, {
        name,
        canonical: canonical as PathRule,
        rule,
        usesPaths,
        before: Object.hasOwn(stored, canonical) ? stored[canonical] : undefined,
      });
  }
  return converted;
}

interface Written {
  name: string;
  canonical: PathRule;
  rule: DeepReadonly<Json>;
  usesPaths: boolean;
  /** The canonical rule that is stored. */
  before: DeepReadonly<Json> | undefined;
}

function convertRule(converted: Converted, written: Written): void {
  const { name, canonical, rule, usesPaths, before } = written;
  const { [name]: _, ...others } = converted.rules;
  if (name !== canonical && Object.hasOwn(others, canonical) && !equalJson(others[canonical], before)) {
    converted.errors.push(
      field.forbidden(`${AT}.${name}`, `shorthand for ${canonical}, which is also set; keep one of them`),
    );
    return;
  }
  const script = usesPaths ? scriptOfPaths(converted, name, canonical, rule as Rules, before) : undefined;
  if (usesPaths && script === undefined) return;
  const next: JsonObject = { ...(others as JsonObject) };
  setOwn(next, canonical, script ?? rule);
  converted.rules = next;
  const functionName = CUSTOMIZATION_RULES.find(({ field }) => field === canonical)?.functionName;
  const pathField = usesPaths ? `.${PATH_FIELDS.find((each) => Object.hasOwn(rule as Rules, each))}` : "";
  const form = usesPaths ? `${canonical}.luaScript with a function ${functionName}` : canonical;
  converted.warnings.push(`${AT}.${name}${pathField} is shorthand; it is stored in the canonical form, ${AT}.${form}`);
}

/** The rule with a script instead of its paths; returns undefined after recording errors. */
function scriptOfPaths(
  { errors }: Converted,
  name: string,
  canonical: PathRule,
  rule: Rules,
  before: DeepReadonly<Json> | undefined,
): JsonObject | undefined {
  const { jsonPath, jsonPaths, luaScript, ...unknown } = rule;
  const at = `${AT}.${name}`;
  if (jsonPath !== undefined && jsonPaths !== undefined)
    return note(errors, field.forbidden(`${at}.jsonPath`, "jsonPaths is also set; keep one of them"));
  // If the name is canonical, the script generated from an earlier path is still present.
  if (luaScript !== undefined && !(isObject(before) && before["luaScript"] === luaScript))
    return note(errors, field.forbidden(`${at}.luaScript`, "a rule has either a script or a path"));
  const pathField = jsonPath === undefined ? "jsonPaths" : "jsonPath";
  const texts = jsonPath === undefined ? jsonPaths : [jsonPath];
  const limit = maxPathsOf(canonical);
  if (!Array.isArray(texts) || texts.length < 1 || texts.length > limit)
    return note(
      errors,
      invalidPath(
        `${at}.${pathField}`,
        texts,
        limit === 1 ? "must be a single path" : `must be a list of 1 to ${limit} paths`,
      ),
    );
  const paths: FieldPath[] = [];
  for (const [index, text] of texts.entries()) {
    const place = pathField === "jsonPath" ? `${at}.jsonPath` : `${at}.jsonPaths[${index}]`;
    const path = typeof text === "string" ? parseFieldPath(text) : undefined;
    const problem = path
      ? pathProblem(canonical, path)
      : "must be a path of names and list indexes, such as .spec.replicas or .metadata.annotations['example.com/size']";
    if (path && problem === undefined) paths.push(path);
    else errors.push(invalidPath(place, text, problem ?? ""));
  }
  if (paths.length < texts.length) return undefined;
  return { luaScript: pathScript(canonical, `${name}.${pathField}`, paths), ...(unknown as JsonObject) };
}

/** Checks whether a rule may use a path; returns undefined if it may. */
function pathProblem(rule: PathRule, path: FieldPath): string | undefined {
  const [first, second] = path;
  if (rule === "statusReflection") {
    if (first !== "status") return "must be .status or a path below it";
    return path.some((segment) => typeof segment === "number")
      ? "must not contain list indexes: lists are reflected as a whole"
      : undefined;
  }
  if (rule === "replicaResource") return undefined;
  const isIdentity =
    first === "apiVersion" ||
    first === "kind" ||
    (first === "metadata" && second !== "labels" && second !== "annotations");
  return isIdentity ? "must not be part of the object's identity" : undefined;
}

const SHOWN_CHARACTERS = 200;
const invalidPath = (at: string, value: unknown, detail: string): FieldError =>
  field.invalid(at, field.shown((JSON.stringify(value) ?? "null").slice(0, SHOWN_CHARACTERS)), detail);

function note(errors: FieldError[], error: FieldError): undefined {
  errors.push(error);
}
