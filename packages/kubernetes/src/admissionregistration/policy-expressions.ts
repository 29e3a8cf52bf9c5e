/** Validates the expressions that policies of both kinds have: conditions and variables. */
import { equalJson } from "@flotilla/base";
import { field } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type {
  MutatingAdmissionPolicySpec,
  ValidatingAdmissionPolicySpec,
  Variable,
} from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { AdmissionCompiler } from "@flotilla/cel";
import { checkMatchConditions, expressionErrors } from "./match-conditions.ts";

type PolicySpec = Sent<ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec>;

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** Conditions that an update leaves unchanged are not compiled again. */
export function checkPolicyConditions(at: string, spec: PolicySpec, stored: PolicySpec | undefined): FieldError[] {
  const { matchConditions = [], paramKind } = spec;
  const isUnchanged =
    stored !== undefined &&
    equalJson(paramKind, stored.paramKind) &&
    equalJson(matchConditions, stored.matchConditions ?? []);
  return isUnchanged ? [] : checkMatchConditions(at, matchConditions, { hasParams: paramKind !== undefined });
}

/** Also defines the variables in the compiler, for the expressions that read them. */
export function checkVariables(
  at: string,
  variables: readonly Sent<Variable>[],
  compiler: AdmissionCompiler,
): FieldError[] {
  return variables.flatMap(({ name = "", expression = "" }, index) => {
    const place = `${at}[${index}]`;
    return [
      ...checkVariableName(`${place}.name`, name),
      ...(expression.trim() === ""
        ? [field.required(`${place}.expression`, "expression is not specified")]
        : expressionErrors(`${place}.expression`, expression, compiler.addVariable(name, expression))),
    ];
  });
}

function checkVariableName(path: string, name: string): FieldError[] {
  if (name.trim() === "") return [field.required(path, "name is not specified")];
  return IDENTIFIER.test(name) && !RESERVED.has(name)
    ? []
    : [field.invalid(path, name, "must be a valid CEL identifier")];
}
