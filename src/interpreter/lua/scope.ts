/** Which variable a name means, and where a `goto` leads, while a script is parsed. */
import type { GlobalUse, Label, Statement, Variable } from "./ast.ts";

interface PendingGoto {
  name: string;
  line: number;
  statement: { label: Label };
  /** How many locals of its block were in scope. */
  locals: number;
}

interface BlockScope {
  locals: Variable[];
  labels: { label: Label; locals: number; isLast: boolean; line: number }[];
  gotos: PendingGoto[];
}

interface FunctionScope {
  blocks: BlockScope[];
  isVariadic: boolean;
  hasArg: boolean;
  usesVararg: boolean;
  argVariable: Variable | undefined;
  loops: number;
}

/** A rule of the compiler is broken; the parser adds the place. */
export class ScopeError extends Error {}

export class Scopes {
  readonly globals: GlobalUse[] = [];
  readonly #functions: FunctionScope[] = [];
  #ids = 0;

  /** `hasArg`: a variadic function has a list `arg` as well; the main one has not. */
  openFunction(isVariadic: boolean, hasArg = isVariadic): void {
    this.#functions.push({ blocks: [], isVariadic, hasArg, usesVararg: false, argVariable: undefined, loops: 0 });
  }

  /** Gives the variable for `arg` if the function needs its list: it is filled only where `...` is not used itself. */
  closeFunction(): Variable | undefined {
    const closed = this.#functions.pop();
    return closed?.usesVararg ? undefined : closed?.argVariable;
  }

  openBlock(): void {
    this.#function.blocks.push({ locals: [], labels: [], gotos: [] });
  }

  closeBlock(): void {
    const scope = this.#function;
    const block = scope.blocks.pop();
    const outer = scope.blocks.at(-1);
    for (const pending of block?.gotos ?? []) {
      const target = block?.labels.find(({ label }) => label.name === pending.name);
      if (target) {
        const skipped = block?.locals[pending.locals];
        if (target.locals > pending.locals && !target.isLast) throw new ScopeError(`<goto ${pending.name}> at line ${pending.line} jumps into the scope of local '${skipped?.name}'`);
        target.label.fromBefore = true;
        pending.statement.label = target.label;
      } else if (outer) {
        outer.gotos.push({ ...pending, locals: outer.locals.length });
      } else {
        throw new ScopeError(`no visible label '${pending.name}' for <goto> at line ${pending.line}`);
      }
    }
  }

  declare(name: string): Variable {
    const variable: Variable = { name, id: this.#ids++, assigned: false };
    this.#block.locals.push(variable);
    return variable;
  }

  /** The innermost variable of that name. `arg` is a variable of every variadic function. */
  find(name: string): Variable | undefined {
    for (const scope of this.#functions.toReversed()) {
      for (const block of scope.blocks.toReversed()) {
        const found = block.locals.findLast((variable) => variable.name === name);
        if (found) return found;
      }
      if (name === "arg" && scope.hasArg) return (scope.argVariable ??= { name, id: this.#ids++, assigned: true });
    }
    return undefined;
  }

  useVararg(): boolean {
    this.#function.usesVararg = true;
    return this.#function.isVariadic;
  }

  enterLoop(): void {
    this.#function.loops += 1;
  }

  leaveLoop(): void {
    this.#function.loops -= 1;
  }

  get isInLoop(): boolean {
    return this.#function.loops > 0;
  }

  addLabel(name: string, line: number): Label {
    for (const block of this.#function.blocks) {
      const earlier = block.labels.find(({ label }) => label.name === name);
      if (earlier) throw new ScopeError(`label '${name}' already defined on line ${earlier.line}`);
    }
    const label: Label = { name, id: this.#ids++, fromBefore: false, fromAfter: false };
    this.#block.labels.push({ label, locals: this.#block.locals.length, isLast: false, line });
    return label;
  }

  /** A label behind which only labels follow sees no locals any more, so jumping there is fine. */
  markLastLabels(statements: readonly Statement[]): void {
    for (const statement of statements.toReversed()) {
      if (statement.kind !== "label") return;
      const entry = this.#block.labels.find(({ label }) => label === statement.label);
      if (entry) entry.isLast = true;
    }
  }

  addGoto(name: string, line: number, statement: { label: Label }): void {
    for (const block of this.#function.blocks.toReversed()) {
      const known = block.labels.find(({ label }) => label.name === name);
      if (!known) continue;
      known.label.fromAfter = true;
      statement.label = known.label;
      return;
    }
    this.#block.gotos.push({ name, line, statement, locals: this.#block.locals.length });
  }

  get #function(): FunctionScope {
    const scope = this.#functions.at(-1);
    if (!scope) throw new ScopeError("no function is open");
    return scope;
  }

  get #block(): BlockScope {
    const block = this.#function.blocks.at(-1);
    if (!block) throw new ScopeError("no block is open");
    return block;
  }
}
