/**
 * Finds errors and warnings in a customization: every script is compiled, loaded and inspected, and a Retain script is run
 * to see which fields of a release it takes from the hub. Pure.
 */
import { FlotillaError } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import { compileKubeScript, DEFAULT_BUDGET, LuaSyntaxError } from "../scripts/index.ts";
import type { LuaBudget } from "../scripts/index.ts";
import { inspectScript } from "./inspect-script.ts";
import { renderRetained, retainedByScript } from "./retained-by-script.ts";
import { CUSTOMIZATION_RULES, scriptOf } from "./customization-rules.ts";
import type { Customization, CustomizationRule } from "./customization-rules.ts";

export interface CustomizationFindings {
  errors: FieldError[];
  warnings: string[];
}

/** Defining a few functions takes almost nothing; a client must not wait for eight looping scripts. */
const LOAD_BUDGET: LuaBudget = { ...DEFAULT_BUDGET, ticks: 500_000, bytes: 8 * 1024 * 1024 };

export function checkCustomization(customization: Customization): CustomizationFindings {
  const findings: CustomizationFindings = { errors: checkTarget(customization), warnings: [] };
  for (const rule of CUSTOMIZATION_RULES) {
    const source = scriptOf(customization, rule.field);
    if (source !== undefined) checkScript(findings, rule, source);
  }
  const retained = findings.errors.length === 0 && renderRetained(retainedByScript(customization, LOAD_BUDGET));
  if (retained) findings.warnings.push(`spec.customizations.retention: ${retained}`);
  return findings;
}

function checkTarget({ spec: { target } }: Customization): FieldError[] {
  return (["apiVersion", "kind"] as const).flatMap((name) =>
    target[name] === "" ? [field.required(`spec.target.${name}`)] : [],
  );
}

function checkScript(
  { errors, warnings }: CustomizationFindings,
  { field: name, operation, functionName }: CustomizationRule,
  source: string,
): void {
  const at = `spec.customizations.${name}.luaScript`;
  const refuse = (why: string): void =>
    void errors.push(field.invalid(at, field.noValue, `InterpreterOperation(${operation}) Lua script error: ${why}`));
  const problem = loadProblem(source, functionName);
  if (problem !== undefined) return refuse(problem);
  const { disabledCalls, shadowed, assigned, absent, bareReturns } = inspectScript(source, functionName);
  for (const { name, line } of disabledCalls.slice(0, MAX_FINDINGS))
    refuse(
      `line ${line}: ${name} must not be called by interpreter scripts; Karmada disables it, so the call always fails`,
    );
  for (const { name, line } of shadowed.slice(0, MAX_FINDINGS))
    warnings.push(`${at}: line ${line}: the script sets ${name}, which shadows the Lua built-in of that name`);
  for (const { name, line } of absent.slice(0, MAX_FINDINGS))
    warnings.push(`${at}: line ${line}: the script uses ${name}, which is not defined for scripts`);
  if (assigned.length > 0)
    warnings.push(
      `${at}: line ${assigned[0]?.line}: the script sets global variables (${namesOf(assigned)}); declare them ` +
        `with "local", because in Karmada they leak into other scripts`,
    );
  if (operation === "AggregateStatus" && bareReturns.length > 0) {
    warnings.push(
      `${at}: line ${bareReturns[0]}: AggregateStatus returns a bare status, which is taken as the status of ` +
        "the object; the canonical form sets desiredObj.status and returns desiredObj",
    );
  }
}

/** Per finding type and script; authors with more can fix these first. */
const MAX_FINDINGS = 5;

function namesOf(uses: readonly { name: string }[]): string {
  const names = uses.map(({ name }) => name);
  return names.length > MAX_FINDINGS
    ? `${names.slice(0, MAX_FINDINGS).join(", ")} and ${names.length - MAX_FINDINGS} more`
    : names.join(", ");
}

/** Why the script does not compile, fails while loading, or lacks its function. */
function loadProblem(source: string, functionName: string): string | undefined {
  try {
    const type = compileKubeScript(source).typeOf(functionName, LOAD_BUDGET);
    if (type === "function") return undefined;
    return type === "nil"
      ? `the script does not define the function ${functionName}`
      : `${functionName} is a ${type}, not a function`;
  } catch (error) {
    if (error instanceof LuaSyntaxError) return `${error.message.trim()}${excerpt(source, error)}`;
    if (error instanceof FlotillaError)
      return `the script fails while loading: ${error.message.replaceAll(/<string>:(\d+):/g, "line $1:").trim()}`;
    throw error;
  }
}

const SHOWN_CHARACTERS = 80;

/** Folded YAML has different line numbers from the user's file, so the line itself is shown. */
function excerpt(source: string, { position }: LuaSyntaxError): string {
  const line = position && source.split("\n", position.line)[position.line - 1]?.trim();
  if (!line) return "";
  return `; the line is ${JSON.stringify(line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line)}`;
}
