/** Compiles the text of an expression to a program: parse, check, estimate, compile. */
import type { Expr } from "../syntax/ast.ts";
import { childrenOf } from "../syntax/ast.ts";
import { check } from "../check/checker.ts";
import { Compiler, InstantiationError } from "./compiler.ts";
import type { CelBudget, CelCost, CelProgram, CompileCelOptions, CompileCelResult } from "../types/contract.ts";
import { environmentFor } from "../check/environment.ts";
import { COST_ERROR, CostExceeded, FREE_SEARCH_STEPS, type Evaluate, Frame } from "../values/frame.ts";
import { checkLiterals } from "../check/literal-checks.ts";
import { parse } from "../syntax/parser.ts";
import { Scope } from "./slots.ts";
import { Source } from "../syntax/source.ts";
import { estimateCost } from "../cost/static-cost.ts";
import type { CelType } from "../types/types.ts";
import type { CelError, CelValue } from "../values/values.ts";

/** Programs are not cached: callers keep them. */
export function compileCel(text: string, options: CompileCelOptions): CompileCelResult {
  const { variables, hasBindings, mixesTypes } = options;
  const source = new Source(text);
  const environment = environmentFor(options);
  const expr = parse(source, hasBindings);
  if (expr) check(expr, source, environment);
  if (expr && !source.hasErrors) checkLiterals(expr, source, mixesTypes);
  if (!expr || source.hasErrors) return { errors: `compilation failed: ${source.render()}` };
  try {
    return { program: new Program(text, expr, variables, environment.functions) };
  } catch (error) {
    if (error instanceof InstantiationError) return { errors: `program instantiation failed: ${error.message}` };
    throw error;
  }
}

class Program implements CelProgram {
  readonly source: string;
  readonly resultType: CelType;
  readonly cost: CelCost;
  private readonly names: readonly string[];
  private readonly used: ReadonlySet<string>;
  private readonly size: number;
  private readonly run: Evaluate;

  constructor(
    source: string,
    expr: Expr,
    variables: Readonly<Record<string, CelType>>,
    functions: ReturnType<typeof environmentFor>["functions"],
  ) {
    this.source = source;
    this.resultType = expr.type as CelType;
    this.names = Object.keys(variables);
    this.used = identifiersOf(expr);
    const scope = Scope.of(this.names);
    this.run = new Compiler(functions).run(expr, scope);
    this.size = scope.size;
    this.cost = estimateCost(expr, variables);
  }

  uses(variable: string): boolean {
    return this.used.has(variable);
  }

  evaluate(bindings: Readonly<Record<string, CelValue>>, budget: CelBudget): CelValue | CelError {
    const slots: (CelValue | undefined)[] = [];
    for (const name of this.names) slots.push(Object.hasOwn(bindings, name) ? bindings[name] : undefined);
    while (slots.length < this.size) slots.push(undefined);
    const frame = new Frame(slots, budget.freeSearchSteps ?? FREE_SEARCH_STEPS);
    try {
      return this.run(frame);
    } catch (error) {
      if (error instanceof CostExceeded) return COST_ERROR;
      throw error;
    } finally {
      budget.remaining -= frame.cost;
      budget.freeSearchSteps = frame.freeSearchSteps;
    }
  }
}

function identifiersOf(expr: Expr, found = new Set<string>()): Set<string> {
  if (expr.kind === "ident") found.add(expr.name.replace(/^\./, ""));
  if (expr.kind === "select" && expr.variable !== undefined) found.add(expr.variable);
  for (const child of childrenOf(expr)) identifiersOf(child, found);
  return found;
}
