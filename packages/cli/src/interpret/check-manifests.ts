/**
 * `--check`: does every script compile, and would the hub accept the customization? The table is karmadactl's; file
 * positions and warnings, which it lacks, are printed beside it.
 */
import type { ResourceInterpreterCustomization } from "@flotilla/karmada";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { checkCustomization, compileKubeScript, findConflicts } from "@flotilla/flotilla";
import { LuaSyntaxError } from "@flotilla/lua";
import type { Operation } from "@flotilla/kubernetes";
import type { FieldError } from "@flotilla/apimachinery";
import { isCustomization, kindText, nameOf, scriptOf, scriptTextOf, targetOf, toCanonical } from "./customizations.ts";
import type { Canonical, Manifest } from "./customizations.ts";
import { RULES } from "./interpreter-rules.ts";
import type { RuleInfo } from "./interpreter-rules.ts";
import { withPlace } from "./script-place.ts";
import { alignTabs } from "./tab-writer.ts";

type Customization = DeepReadonly<ResourceInterpreterCustomization>;

interface CheckedRule {
  operation: Operation;
  state: "PASS" | "UNSET" | "ERROR";
  message?: string;
}

export interface CheckedManifest {
  source: string;
  /** Why it is not a valid customization. */
  problem?: string;
  target?: { apiVersion: string; kind: string };
  rules: CheckedRule[];
  /** Each error with its position and the line of the file. */
  details: string[];
  warnings: string[];
}

/** In the warning about two customizations for the same operation and kind. */
export const ONLY_ONE_ACCEPTED = "a hub accepts only one of them";

export const hasFailed = ({ problem, details }: CheckedManifest): boolean =>
  problem !== undefined || details.length > 0;

/** Checks all of them together, because no two may implement the same operation for the same kind. */
export function checkManifests(manifests: readonly Manifest[]): CheckedManifest[] {
  const canonical = manifests.map((manifest) =>
    isCustomization(manifest) ? toCanonical(manifest) : { manifest, errors: [], warnings: [] },
  );
  const sound = canonical.filter(
    ({ manifest, errors }) => errors.length === 0 && isCustomization(manifest) && isComplete(targetOf(manifest)),
  );
  const others = sound.map(({ manifest }) => asCustomization(manifest));
  const canStand = new Set(sound);
  return canonical.map((each) => checkManifest(each, canStand.has(each) ? others : undefined));
}

const isComplete = ({ apiVersion, kind }: { apiVersion: string; kind: string }): boolean =>
  apiVersion !== "" && kind !== "";
const asCustomization = ({ object }: Manifest): Customization => object as unknown as Customization;

/** `others` are all that could be on a hub together; undefined when this one could not. */
function checkManifest(
  { manifest, errors, warnings }: Canonical,
  others: readonly Customization[] | undefined,
): CheckedManifest {
  const checked: CheckedManifest = {
    source: nameOf(manifest),
    rules: [],
    details: [...errors],
    warnings: [...warnings],
  };
  if (!isCustomization(manifest))
    return { ...checked, problem: `not a ResourceInterpreterCustomization, got ${kindText(manifest)}` };
  const target = targetOf(manifest);
  if (target.kind === "") return { ...checked, problem: "target.kind no set" };
  if (target.apiVersion === "") return { ...checked, problem: "target.apiVersion no set" };
  checked.target = target;
  const findings = others ? checkCustomization(asCustomization(manifest)) : { errors: [], warnings: [] };
  checked.rules.push(...RULES.map((rule) => checkRule(manifest, rule, findings.errors, checked.details)));
  checked.warnings.push(...findings.warnings.map((warning) => placed(manifest, warning)));
  for (const { field, message } of others ? findConflicts(asCustomization(manifest), others) : [])
    checked.warnings.push(`${manifest.file}:${manifest.line}: ${ONLY_ONE_ACCEPTED}: ${field}: ${message}`);
  return checked;
}

function checkRule(
  manifest: Manifest,
  { operation, field }: RuleInfo,
  errors: readonly FieldError[],
  details: string[],
): CheckedRule {
  const source = scriptOf(manifest, operation);
  if (source === "") return { operation, state: "UNSET" };
  const script = scriptTextOf(manifest, operation);
  const syntax = syntaxErrorOf(source);
  if (syntax) {
    // karmadactl's message, whose column is the end of the offending token.
    const message = syntax.message.trim();
    details.push(
      script
        ? withPlace(`${operation}: ${message}`, syntax, script)
        : `${manifest.file}: ${operation} of ${nameOf(manifest)}: ${message}`,
    );
    return { operation, state: "ERROR", message };
  }
  const found = errors
    .filter((error) => error.field === `spec.customizations.${field}.luaScript`)
    .map(({ message }) => message.replace(/^Invalid value: InterpreterOperation\(\w+\) Lua script error: /, ""));
  const [first] = found;
  if (first === undefined) return { operation, state: "PASS" };
  details.push(...found.map((message) => placed(manifest, `spec.customizations.${field}.luaScript: ${message}`)));
  return { operation, state: "ERROR", message: first };
}

function syntaxErrorOf(source: string): LuaSyntaxError | undefined {
  try {
    compileKubeScript(source);
    return undefined;
  } catch (error) {
    if (error instanceof LuaSyntaxError) return error;
    throw error;
  }
}

/** Adds the position in the file to a finding that names a field and perhaps a line of its script. */
function placed(manifest: Manifest, finding: string): string {
  const [, field, text = finding] = /^spec\.customizations\.(\w+)\.luaScript: (.*)$/s.exec(finding) ?? [];
  const line = /\bline (\d+): /.exec(text)?.[1];
  const operation = RULES.find((rule) => rule.field === field)?.operation;
  const script = operation && scriptTextOf(manifest, operation);
  const place = script?.startOf(Number(line ?? 1));
  if (!script || !place) return `${manifest.file}:${manifest.line}: ${finding}`;
  const message = `${script.file}:${place.line}:${place.column}: ${operation}: ${text.replace(/\bline \d+: /, "")}`;
  return line === undefined ? message : `${message}\n${script.excerpt(place, script.lengthAt(place))}`;
}

export function renderChecks(checks: readonly CheckedManifest[]): string {
  const lines = checks.flatMap(({ source, problem, target, rules }) => [
    "-----------------------------------",
    `SOURCE: ${source}`,
    ...(problem === undefined ? [] : [problem]),
    ...(target ? [`TARGET: ${target.apiVersion} ${target.kind}\t`, "RULERS:"] : []),
    ...rules.map(
      ({ operation, state, message }) =>
        `    ${operation}:\t${state === "ERROR" ? `ERROR: ${message ?? ""}\t` : state}`,
    ),
  ]);
  return alignTabs(lines).join("\n");
}

export const checkData = (checks: readonly CheckedManifest[]): JsonObject => ({
  customizations: checks as unknown as Json,
});
