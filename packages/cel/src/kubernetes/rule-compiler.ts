/**
 * Compiles the rules of one schema location: the rule itself, its message, and the path where its failures are
 * reported.
 */
import type { Schema } from "@flotilla/apimachinery";
import { compileCel } from "../compile/compile.ts";
import type { CelProgram } from "../types/contract.ts";
import { validFieldPath } from "./field-paths.ts";
import { type CelType, optionalOf } from "../types/types.ts";

/** A rule of a CRD. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A rule and its compilation result. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program?: CelProgram;
  readonly error?: string;
  readonly usesOldSelf: boolean;
  readonly message?: CelProgram;
  readonly messageError?: string;
  /** The path relative to the rule's location at which a failure is reported. */
  readonly fieldPath: string;
}

export function rulesOf(schema: Schema): readonly ValidationRule[] {
  const rules = (schema["x-kubernetes-validations"] ?? []) as unknown as readonly Partial<ValidationRule>[];
  return rules.map((rule) => ({ ...rule, rule: rule.rule ?? "" }));
}

/** Compiles the rules of one location, whose values have this type. */
export function compileRules(rules: readonly ValidationRule[], schema: Schema, type: CelType): CompiledRule[] {
  return rules.map((rule) => compileRule(rule, schema, type));
}

function compileRule(rule: ValidationRule, schema: Schema, type: CelType): CompiledRule {
  const fieldPath = rule.fieldPath ? (validFieldPath(rule.fieldPath, schema)?.path ?? "") : "";
  const nothing = { rule, usesOldSelf: false, fieldPath };
  if (rule.rule.trim() === "") return nothing;
  const variables = { self: type, oldSelf: rule.optionalOldSelf === true ? optionalOf(type) : type };
  const { program, errors } = compileCel(rule.rule, { variables });
  if (!program) return { ...nothing, error: errors };
  if (program.resultType.kind !== "bool") return { ...nothing, error: "cel expression must evaluate to a bool" };
  const compiled: CompiledRule = { ...nothing, program, usesOldSelf: program.uses("oldSelf") };
  if (!rule.messageExpression) return compiled;
  const message = compileCel(rule.messageExpression, { variables });
  if (!message.program)
    return { ...compiled, messageError: `messageExpression ${message.errors.replace(/^program /, "")}` };
  if (message.program.resultType.kind !== "string")
    return { ...compiled, messageError: "messageExpression must evaluate to a string" };
  return { ...compiled, message: message.program };
}
