/**
 * The expressions of admission: match conditions of webhooks, and everything that admission policies evaluate. A
 * compiler belongs to one policy, whose variables it knows. Errors are worded as the API server reports them.
 */
import { defined } from "@flotilla/base";
import { admissionValues, admissionVariables, type AdmissionInput } from "./admission-types.ts";
import { compileCel } from "../compile/compile.ts";
import type { CelBudget, CelProgram } from "../types/contract.ts";
import { patchLibrary, patchTypes } from "./patch-types.ts";
import { type CelType, DYN, isExactly, listOf, mapOf, structOf } from "../types/types.ts";
import { CelError, CelMap, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

/** The maximum cost of all expressions of a policy for one request, and of the match conditions. */
export const MAX_POLICY_COST = 10_000_000;
export const MAX_MATCH_COST = 2_500_000;

const OUT_OF_BUDGET = new CelError(
  "validation failed due to running out of cost budget, no further validation rules will be run",
);

export interface AdmissionExpressionOptions {
  /** The types of a valid result; any by default. */
  readonly returns?: readonly CelType[];
  /** Messages cannot use `authorizer`. */
  readonly hasAuthorizer?: boolean;
  /** The expression creates patches: `Object{…}` and `JSONPatch{…}`. */
  readonly hasPatchTypes?: boolean;
}

export type CompiledAdmissionExpression =
  | { readonly expression: AdmissionExpression; readonly problem?: undefined }
  | { readonly expression?: undefined; readonly problem: AdmissionExpressionProblem };

/** An `internal` problem is reported as an internal error, other ones as an invalid value. */
export interface AdmissionExpressionProblem {
  readonly detail: string;
  readonly internal: boolean;
}

export interface AdmissionCompilerOptions {
  /** The policy has a `paramKind`, so `params` is declared. */
  readonly hasParams?: boolean;
  /** The policy may define variables, so `variables` is declared. */
  readonly hasVariables?: boolean;
  /** For type checking: the types of the objects and the parameters. */
  readonly objectType?: CelType | undefined;
  readonly paramsType?: CelType | undefined;
}

/** The values of all variables for one request. Variables of the policy are evaluated on first use, and once. */
export class AdmissionBindings {
  readonly values: Readonly<Record<string, CelValue>>;
  /** Pays for the policy's variables during an evaluation. */
  budget: CelBudget = { remaining: 0 };

  constructor(input: AdmissionInput, variables: ReadonlyMap<string, CompiledAdmissionExpression>) {
    this.values = { ...admissionValues(input), variables: new PolicyVariables(variables, this) };
  }
}

/** A compiled expression of one policy or webhook. */
class AdmissionExpression {
  readonly program: CelProgram;

  constructor(program: CelProgram) {
    this.program = program;
  }

  /**
   * The value, or the reason why there is none. Once the budget is exhausted, `budget.remaining` is negative and no
   * other expression may run.
   */
  evaluate(bindings: AdmissionBindings, budget: CelBudget): CelValue | CelError {
    bindings.budget = budget;
    const value = this.program.evaluate(bindings.values, budget);
    if (budget.remaining < 0) return OUT_OF_BUDGET;
    return value instanceof CelError
      ? new CelError(`expression '${this.program.source}' resulted in error: ${value.message}`)
      : value;
  }
}

export class AdmissionCompiler {
  private readonly options: AdmissionCompilerOptions;
  private readonly fields: Map<string, CelType> | undefined;
  private readonly variables = new Map<string, CompiledAdmissionExpression>();

  constructor(options: AdmissionCompilerOptions = {}) {
    this.options = options;
    this.fields = options.hasVariables ? new Map() : undefined;
  }

  compile(text: string, options: AdmissionExpressionOptions = {}): CompiledAdmissionExpression {
    const { returns, hasAuthorizer = true, hasPatchTypes = false } = options;
    const variables = admissionVariables({ ...this.options, hasAuthorizer });
    if (this.fields) variables["variables"] = structOf("kubernetes.variables", this.fields);
    const { program, errors } = compileCel(text, {
      variables,
      ...defined({
        library: hasPatchTypes ? patchLibrary : undefined,
        messages: hasPatchTypes ? patchTypes : undefined,
      }),
    });
    if (!program) return { problem: { detail: errors, internal: !errors.startsWith("compilation failed") } };
    const { resultType } = program;
    if (returns && !returns.some((type) => isExactly(type, resultType)))
      return { problem: { detail: typeMismatch(returns, resultType), internal: false } };
    return { expression: new AdmissionExpression(program) };
  }

  /** Defines a variable for the expressions that are compiled afterwards. Returns why it does not compile. */
  addVariable(name: string, text: string): AdmissionExpressionProblem | undefined {
    const compiled = this.compile(text);
    this.variables.set(name, compiled);
    this.fields?.set(name, compiled.expression ? plainType(compiled.expression.program.resultType) : DYN);
    return compiled.problem;
  }

  /** The values of one request, for the expressions of this compiler. */
  bind(input: AdmissionInput): AdmissionBindings {
    return new AdmissionBindings(input, this.variables);
  }
}

function typeMismatch(returns: readonly CelType[], actual: CelType): string {
  const names = returns.map(declaredName);
  const wanted = names.length === 1 ? names[0] : `one of [${names.join(" ")}]`;
  return `must evaluate to ${wanted} but got ${declaredName(actual)}`;
}

/** The name of a type in messages about results. Messages of the checker abbreviate some. */
const declaredName = ({ name, parameters }: CelType): string =>
  parameters.length === 0 ? name : `${name}(${parameters.map(declaredName).join(", ")})`;

/** The type of a variable as other expressions use it: library types and objects are dynamic. */
function plainType(type: CelType): CelType {
  const [first = DYN, second = DYN] = type.parameters;
  switch (type.kind) {
    case "list":
      return listOf(plainType(first));
    case "map":
      return mapOf(plainType(first), plainType(second));
    case "struct":
    case "opaque":
    case "type":
    case "parameter":
    case "error":
      return DYN;
    default:
      return type;
  }
}

/** The variables of a policy. */
class PolicyVariables extends CelMap {
  private readonly variables: ReadonlyMap<string, CompiledAdmissionExpression>;
  private readonly bindings: AdmissionBindings;
  private readonly values = new Map<string, CelValue>();

  constructor(variables: ReadonlyMap<string, CompiledAdmissionExpression>, bindings: AdmissionBindings) {
    super();
    this.variables = variables;
    this.bindings = bindings;
  }

  get size(): number {
    return this.variables.size;
  }

  keys(): readonly CelValue[] {
    return [...this.variables.keys()];
  }

  equals(): CelError {
    return NO_SUCH_OVERLOAD;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return undefined;
    const compiled = this.variables.get(key);
    if (!compiled) return undefined;
    let value = this.values.get(key);
    if (value === undefined) {
      // A second variable of the same name may read the first one, which it replaces.
      this.values.set(key, failure(key, "evaluate", "it reads itself"));
      this.values.set(key, (value = this.evaluate(key, compiled)));
    }
    return value;
  }

  private evaluate(name: string, { expression, problem }: CompiledAdmissionExpression): CelValue {
    if (!expression) return failure(name, "compile", problem.detail);
    const value = expression.program.evaluate(this.bindings.values, this.bindings.budget);
    return value instanceof CelError ? failure(name, "evaluate", value.message) : value;
  }
}

const failure = (name: string, what: "compile" | "evaluate", why: string): CelError =>
  new CelError(`composited variable ${JSON.stringify(name)} fails to ${what}: ${why}`);
