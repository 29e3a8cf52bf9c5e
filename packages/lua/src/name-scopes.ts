/**
 * Resolves names to variables and `goto` to labels while a script is parsed. All lookups are by name in constant time:
 * a hostile script has tens of thousands of names.
 */
import { required } from "@flotilla/base";
import type { GlobalUse, Label, Statement, Variable } from "./ast.ts";

interface PendingGoto {
  name: string;
  line: number;
  statement: { label: Label };
  /** Number of locals of its block that were in scope. */
  locals: number;
}

interface KnownLabel {
  label: Label;
  locals: number;
  isLast: boolean;
  line: number;
}

interface BlockScope {
  locals: Variable[];
  labels: Map<string, KnownLabel>;
  gotos: PendingGoto[];
}

interface FunctionScope {
  blocks: BlockScope[];
  /** Labels of all open blocks. */
  labels: Map<string, KnownLabel>;
  locals: number;
  isVariadic: boolean;
  hasArg: boolean;
  usesVararg: boolean;
  argVariable: Variable | undefined;
  loops: number;
}

/** Upstream's limit per function. */
const MAX_LOCALS = 200;

export class Scopes {
  readonly globals: GlobalUse[] = [];
  readonly #report: (problem: string) => void;
  readonly #functions: FunctionScope[] = [];
  /** The variables of each name, innermost last, with their function nesting depth. */
  readonly #variables = new Map<string, { variable: Variable; depth: number }[]>();
  #ids = 0;

  /** `report` is called for a violated compiler rule; parsing continues, because grammar errors are reported first. */
  constructor(report: (problem: string) => void) {
    this.#report = report;
  }

  /** `hasArg`: a variadic function also has a list `arg`, except the main function. */
  openFunction(isVariadic: boolean, hasArg = isVariadic): void {
    this.#functions.push({
      blocks: [],
      labels: new Map(),
      locals: 0,
      isVariadic,
      hasArg,
      usesVararg: false,
      argVariable: undefined,
      loops: 0,
    });
  }

  /** Returns the variable for `arg` if the function needs its list: it is filled only if `...` is not used itself. */
  closeFunction(): Variable | undefined {
    const closed = this.#functions.pop();
    return closed?.usesVararg ? undefined : closed?.argVariable;
  }

  openBlock(): void {
    this.#function.blocks.push({ locals: [], labels: new Map(), gotos: [] });
  }

  closeBlock(): void {
    const scope = this.#function;
    const block = required(scope.blocks.pop(), "the block to close");
    const outer = scope.blocks.at(-1);
    for (const pending of block.gotos) {
      const target = block.labels.get(pending.name);
      if (target) {
        const skipped = block.locals[pending.locals];
        if (target.locals > pending.locals && !target.isLast)
          this.#report(
            `<goto ${pending.name}> at line ${pending.line} jumps into the scope of local '${skipped?.name}'`,
          );
        target.label.fromBefore = true;
        pending.statement.label = target.label;
      } else if (outer) {
        outer.gotos.push({ ...pending, locals: outer.locals.length });
      } else {
        this.#report(`no visible label '${pending.name}' for <goto> at line ${pending.line}`);
      }
    }
    scope.locals -= block.locals.length;
    for (const { name } of block.locals) this.#variables.get(name)?.pop();
    for (const name of block.labels.keys()) scope.labels.delete(name);
  }

  declare(name: string): Variable {
    const variable: Variable = { name, id: this.#ids++, assigned: false };
    this.#block.locals.push(variable);
    if (++this.#function.locals > MAX_LOCALS) this.#report("too many local variables");
    const known = this.#variables.get(name);
    const entry = { variable, depth: this.#functions.length };
    if (known) known.push(entry);
    else this.#variables.set(name, [entry]);
    return variable;
  }

  /** The innermost variable of that name. `arg` is a variable of every variadic function. */
  find(name: string): Variable | undefined {
    const found = this.#variables.get(name)?.at(-1);
    if (name !== "arg") return found?.variable;
    for (let depth = this.#functions.length; depth > (found?.depth ?? 0); depth--) {
      const scope = this.#functions[depth - 1];
      if (scope?.hasArg) return (scope.argVariable ??= { name, id: this.#ids++, assigned: true });
    }
    return found?.variable;
  }

  useVararg(): void {
    this.#function.usesVararg = true;
    if (!this.#function.isVariadic) this.#report("cannot use '...' outside a vararg function");
  }

  enterLoop(): void {
    this.#function.loops += 1;
  }

  leaveLoop(): void {
    this.#function.loops -= 1;
  }

  leaveLoopEarly(): void {
    if (this.#function.loops === 0) this.#report("no loop to break");
  }

  addLabel(name: string, line: number): Label {
    const scope = this.#function;
    const earlier = scope.labels.get(name);
    if (earlier) this.#report(`label '${name}' already defined on line ${earlier.line}`);
    const label: Label = { name, id: this.#ids++, fromBefore: false, fromAfter: false };
    const known: KnownLabel = { label, locals: this.#block.locals.length, isLast: false, line };
    this.#block.labels.set(name, known);
    scope.labels.set(name, known);
    return label;
  }

  /** A label followed only by labels is outside the scope of all locals, so jumping to it is allowed. */
  markLastLabels(statements: readonly Statement[]): void {
    for (let index = statements.length - 1; index >= 0; index--) {
      const statement = statements[index];
      if (statement?.kind !== "label") return;
      const known = this.#block.labels.get(statement.label.name);
      if (known) known.isLast = true;
    }
  }

  addGoto(name: string, line: number, statement: { label: Label }): void {
    const known = this.#function.labels.get(name);
    if (known) {
      known.label.fromAfter = true;
      statement.label = known.label;
    } else {
      this.#block.gotos.push({ name, line, statement, locals: this.#block.locals.length });
    }
  }

  get #function(): FunctionScope {
    return required(this.#functions.at(-1), "an open function");
  }

  get #block(): BlockScope {
    return required(this.#function.blocks.at(-1), "an open block");
  }
}
