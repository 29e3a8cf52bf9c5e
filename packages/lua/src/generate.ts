/**
 * Generates JavaScript from a syntax tree; functions and statements are written here. Locals and globals become
 * JavaScript locals, which makes them fresh for every call. Of the script, only alphanumeric names, numbers, and
 * JSON-encoded strings reach the generated text.
 *
 * Names in the generated code: `S` is the machine, `T` the table class, `N` the empty result list, `s1…` one variable
 * each, `g_name` a global, `x0…` temporaries, `B1` a loop, `L1` a label.
 */
import type {
  Block,
  Expression,
  ExpressionOf,
  FunctionBody,
  Label,
  Script,
  Statement,
  Target,
  Variable,
} from "./ast.ts";
import type { Site } from "./call-state.ts";
import { ExpressionGenerator, isFastKey, isSeveral, nameOf } from "./expression-generator.ts";

export interface Generated {
  code: string;
  sites: Site[];
  /** Names that the script uses or sets. */
  globals: string[];
  /** Globals are a table, because the script uses `_G`. */
  isReflective: boolean;
}

export function generate(script: Script, name: string): Generated {
  return new Generator(script, name).generate();
}

class Generator extends ExpressionGenerator {
  readonly #script: Script;
  #loops: number[] = [];
  #loopIds = 0;
  /** Labels that are cases of a `switch` rather than ends of a block, with the number of their block. */
  readonly #cases = new Map<Label, { block: number; index: number }>();

  constructor(script: Script, name: string) {
    super(
      name,
      script.globals.some((use) => use.name === "_G" || use.name === "package"),
    );
    this.#script = script;
  }

  generate(): Generated {
    const globals = [...new Set(this.#script.globals.map((use) => use.name))];
    const declarations = this.isReflective
      ? ""
      : globals.map((name) => `let g_${name}=G(${JSON.stringify(name)});`).join("");
    const found = globals.map((name) => `case ${JSON.stringify(name)}:return g_${name};`).join("");
    const lookup = this.isReflective ? "(n)=>G_.getString(n)" : `(n)=>{switch(n){${found}default:return G(n)}}`;
    const main = this.#function(this.#script.main);
    const code = `"use strict";return (S,G,G_)=>{${declarations}(${main})();return ${lookup};}`;
    return { code, sites: this.sites, globals, isReflective: this.isReflective };
  }

  // Functions.

  #function(body: FunctionBody): string {
    const outer = { inUse: this.inUse, mostUsed: this.mostUsed, loops: this.#loops };
    this.inUse = 0;
    this.mostUsed = 0;
    this.#loops = [];
    const block = this.#block(body.block);
    const values = Array.from({ length: this.mostUsed }, (_, index) => `,x${index}`).join("");
    this.inUse = outer.inUse;
    this.mostUsed = outer.mostUsed;
    this.#loops = outer.loops;
    const parameters = [...body.parameters.map(nameOf), ...(body.isVariadic ? ["...V"] : [])];
    const arg = body.argVariable ? `let ${nameOf(body.argVariable)}=S.field(S.list([...V]),"n",V.length,0);` : "";
    return `function(${parameters.join(",")}){let r,t,v${values};if(++S.d>S.lim)S.overflow();if(--S.t<0)S.tick(S.l[S.d]);${arg}${block}S.d--;return N}`;
  }

  /** A function value, which is charged for. */
  protected override closure(body: FunctionBody): string {
    return `(S.t-=3,S.m-=128,S.m<0&&S.allocate(0),${this.#function(body)})`;
  }

  // Statements.

  #block({ statements }: Block): string {
    return this.deeper(() => {
      const labels = statements.filter((statement) => statement.kind === "label").map((statement) => statement.label);
      const used = labels.filter((label) => label.fromBefore || label.fromAfter);
      if (used.length === 0) return statements.map((statement) => this.#statement(statement, false)).join("");
      return this.#blockWithLabels(statements, used);
    });
  }

  /** A jump breaks out of a labelled block or, where that is not possible, continues a loop around a `switch`. */
  #blockWithLabels(statements: readonly Statement[], labels: readonly Label[]): string {
    const hoisted = statements.flatMap((statement) =>
      statement.kind === "local" ? statement.variables : statement.kind === "localFunction" ? [statement.variable] : [],
    );
    const declaration = hoisted.length > 0 ? `let ${hoisted.map(nameOf).join(",")};` : "";
    const [only] = labels;
    if (labels.length === 1 && only && !only.fromAfter) {
      const at = statements.findIndex((statement) => statement.kind === "label" && statement.label === only);
      const before = statements
        .slice(0, at)
        .map((statement) => this.#statement(statement, true))
        .join("");
      return `${declaration}L${only.id}:{${before}}${statements
        .slice(at)
        .map((statement) => this.#statement(statement, true))
        .join("")}`;
    }
    const block = this.#loopIds++;
    labels.forEach((label, index) => this.#cases.set(label, { block, index: index + 1 }));
    const parts = statements.map((statement) => {
      const index = statement.kind === "label" ? this.#cases.get(statement.label)?.index : undefined;
      return index === undefined ? this.#statement(statement, true) : `case ${index}:`;
    });
    return `${declaration}{let p${block}=0;P${block}:for(;;){switch(p${block}){case 0:${parts.join("")}}break}}`;
  }

  /** `isHoisted`: the block has already declared the locals. */
  #statement(statement: Statement, isHoisted: boolean): string {
    const { line } = statement;
    switch (statement.kind) {
      case "local":
        return this.#local(statement.variables, statement.values, isHoisted);
      case "localFunction": {
        const name = nameOf(statement.variable);
        return `${isHoisted ? "" : `let ${name};`}${name}=${this.closure(statement.body)};`;
      }
      case "assign":
        return this.#assign(statement.targets, statement.values);
      case "call":
        return `r=${this.call(statement.call)};if(Array.isArray(r))S.first(r);`;
      case "do":
        return `{${this.#block(statement.block)}}`;
      case "while":
        return this.#loop(
          (loop) =>
            `B${loop}:while(${this.condition(statement.condition)}){${this.#tick(line)}${this.#block(statement.block)}}`,
        );
      case "repeat":
        return this.#loop(
          (loop) =>
            `B${loop}:for(;;){${this.#tick(line)}${this.#block(statement.block)}if(${this.condition(statement.condition)})break;}`,
        );
      case "if": {
        const otherwise = statement.otherwise ? `else{${this.#block(statement.otherwise)}}` : "";
        return `if(${this.condition(statement.condition)}){${this.#block(statement.block)}}${otherwise}`;
      }
      case "forNumber":
        return this.#forNumber(statement);
      case "forIn":
        return this.#forIn(statement);
      case "return":
        return this.#return(statement.values);
      case "break":
        return `break B${this.#loops.at(-1)};`;
      case "label":
        return "";
      default: {
        const target = this.#cases.get(statement.label);
        return target
          ? `{p${target.block}=${target.index};${this.#tick(line)}continue P${target.block};}`
          : `break L${statement.label.id};`;
      }
    }
  }

  #tick(line: number): string {
    return `if(--S.t<0)S.tick(${this.site(line)});`;
  }

  #loop(write: (loop: number) => string): string {
    const loop = this.#loopIds++;
    this.#loops.push(loop);
    const text = write(loop);
    this.#loops.pop();
    return text;
  }

  #forNumber(statement: Extract<Statement, { kind: "forNumber" }>): string {
    const { variable, from, to, step, block, line } = statement;
    return this.#loop((loop) => {
      const [a, b, c, i] = [`a${loop}`, `b${loop}`, `c${loop}`, `i${loop}`];
      const stepValue = step === undefined ? 1 : step.kind === "number" ? step.value : undefined;
      const isKnown = from.kind === "number" && to.kind === "number" && stepValue !== undefined;
      const check = isKnown
        ? ""
        : `if(typeof ${a}!=="number"||typeof ${b}!=="number"||typeof ${c}!=="number")S.checkFor(${a},${b},${c},${this.site(line)});`;
      const continues =
        stepValue === undefined ? `${c}>0?${i}<=${b}:${i}>=${b}` : stepValue > 0 ? `${i}<=${b}` : `${i}>=${b}`;
      const values = `let ${a}=${this.one(from)},${b}=${this.one(to)},${c}=${step ? this.one(step) : "1"};`;
      // The sum is computed as upstream does, which shows in the last digit of fractions.
      return (
        `{${values}${check}B${loop}:for(let ${i}=(${a}-${c})+${c};${continues};${i}+=${c}){let ` +
        `${nameOf(variable)}=${i};${this.#tick(line)}${this.#block(block)}}}`
      );
    });
  }

  #forIn({ variables, values, block, line }: Extract<Statement, { kind: "forIn" }>): string {
    return this.#loop((loop) => {
      const site = this.site(line);
      const list =
        values.length === 1 && isSeveral(values[0]) ? `S.all(${this.several(values[0])})` : this.list(values);
      const names = variables.map(
        (variable, index) =>
          `${nameOf(variable)}=${index === 0 ? `it${loop}.k` : index === 1 ? `it${loop}.v` : `it${loop}.all[${index}]`}`,
      );
      return `{const it${loop}=S.iterate(${list},${site});B${loop}:while(it${loop}.next()){let ${names.join(",")};${this.#tick(line)}${this.#block(block)}}}`;
    });
  }

  #return(values: readonly Expression[]): string {
    const [only] = values;
    if (only === undefined) return "{S.d--;return N}";
    if (values.length > 1) return `{r=${this.list(values)};S.d--;return r}`;
    if (only.kind === "call" || only.kind === "method") return this.#tailCall(only);
    if (only.kind === "vararg") return "{S.d--;return V}";
    return `{r=${this.one(only)};S.d--;return r}`;
  }

  /** Tail calls nest on the JavaScript stack up to a limit; beyond it the caller makes them. */
  #tailCall(call: ExpressionOf<"call" | "method">): string {
    return this.withValue((callee) => {
      const { setup, args } = this.callParts(call, callee);
      return `{${setup};S.t-=4;if(S.lim>S.budget.depth+90){r=S.tail(${callee},[${args}]);S.d--;return r}S.lim++;r=${callee}(${args});S.lim--;S.d--;return r}`;
    });
  }

  #local(variables: readonly Variable[], values: readonly Expression[], isHoisted: boolean): string {
    const keyword = isHoisted ? "" : "let ";
    const [variable] = variables;
    if (variables.length === 1 && variable && values.length <= 1)
      return `${keyword}${nameOf(variable)}=${values[0] ? this.one(values[0]) : "undefined"};`;
    if (values.length === 0)
      return isHoisted
        ? variables.map((each) => `${nameOf(each)}=undefined;`).join("")
        : `let ${variables.map(nameOf).join(",")};`;
    // All values are evaluated before any name is declared: a value may use an outer variable of the same name, which
    // has another identifier.
    return this.#values(values, variables.length, (parts) =>
      variables.map((each, index) => `${keyword}${nameOf(each)}=${parts[index] ?? "undefined"};`).join(""),
    );
  }

  /** Evaluates a list into that many temporaries and generates the code that uses them. */
  #values(values: readonly Expression[], count: number, write: (parts: string[]) => string): string {
    const names: string[] = [];
    let setup = "";
    const finish = (): string => setup + write(names);
    const take = (index: number): string => {
      const value = values[index];
      if (value === undefined) return finish();
      return this.withValue((name) => {
        const isLast = index === values.length - 1;
        if (isLast && isSeveral(value) && count > values.length - 1) {
          setup += `${name}=S.all(${this.several(value)});`;
          for (let rest = 0; names.length < count; rest++) names.push(`${name}[${rest}]`);
          return finish();
        }
        setup += `${name}=${this.one(value)};`;
        names.push(name);
        return take(index + 1);
      });
    };
    return take(0);
  }

  #assign(targets: readonly Target[], values: readonly Expression[]): string {
    const [target] = targets;
    const [value] = values;
    if (targets.length === 1 && values.length === 1 && target && value) return this.#assignOne(target, value);
    return this.#prepareTargets(targets, 0, [], (places) =>
      this.#values(values, targets.length, (parts) =>
        targets.map((each, index) => this.#store(each, places[index], parts[index] ?? "undefined")).join(""),
      ),
    );
  }

  /** Objects and keys of the targets are evaluated before the values. */
  #prepareTargets(
    targets: readonly Target[],
    index: number,
    places: ({ object: string; key: string } | undefined)[],
    write: (places: ({ object: string; key: string } | undefined)[]) => string,
  ): string {
    const target = targets[index];
    if (target === undefined) return write(places);
    if (target.kind !== "index") return this.#prepareTargets(targets, index + 1, [...places, undefined], write);
    return this.withValue((object) =>
      this.withValue(
        (key) =>
          `${object}=${this.one(target.object)};${key}=${this.one(target.key)};` +
          this.#prepareTargets(targets, index + 1, [...places, { object, key }], write),
      ),
    );
  }

  #store(target: Target, place: { object: string; key: string } | undefined, value: string): string {
    if (target.kind === "index") return `S.set(${place?.object},${place?.key},${value},${this.site(target.line)});`;
    return `${this.#storeName(target, value)};`;
  }

  #storeName(target: ExpressionOf<"local" | "global">, value: string): string {
    if (target.kind === "local") return `${nameOf(target.variable)}=${value}`;
    return this.isReflective
      ? `S.set(G_,${JSON.stringify(target.name)},${value},${this.site(target.line)})`
      : `g_${target.name}=${value}`;
  }

  #assignOne(target: Target, value: Expression): string {
    if (target.kind !== "index") return `${this.#storeName(target, this.one(value))};`;
    const site = this.site(target.line);
    return this.withValue((object) => {
      const start = `${object}=${this.one(target.object)};`;
      if (target.key.kind === "string" && isFastKey(target.key.value)) {
        const key = target.key.value;
        return (
          `${start}v=${this.one(value)};if(${object} instanceof ` +
          `T&&${object}.w&&v!==undefined){S.m-=16;${object}.h.${key}=v}else S.set(${object},"${key}",v,${site});`
        );
      }
      return this.withValue(
        (key) => `${start}${key}=${this.one(target.key)};v=${this.one(value)};S.set(${object},${key},v,${site});`,
      );
    });
  }
}
