/**
 * Writes a syntax tree as JavaScript. Locals become JavaScript locals and so do globals, which makes them fresh for every call.
 * Nothing of the script reaches the text but names of letters and digits, numbers, and strings as JSON.
 *
 * Names in the generated code: `S` is the machine, `T` the class of tables, `N` no results, `s1…` one variable each, `g_name` a
 * global, `x0…` intermediate values, `B1` a loop, `L1` a label.
 */
import type { Block, Expression, ExpressionOf, FunctionBody, Label, Script, Statement, Target, Variable } from "./ast.ts";
import { LuaSyntaxError } from "./errors.ts";
import type { Site } from "./machine.ts";

export interface Generated {
  code: string;
  sites: Site[];
  /** Names that the script uses or sets. */
  globals: string[];
  /** Globals are a table, because the script asks for `_G`. */
  isReflective: boolean;
}

/** Deeper trees would exhaust the stack of whoever walks them, the JavaScript parser included. */
const MAX_DEPTH = 400;
const PROTOTYPE_NAMES = new Set(Object.getOwnPropertyNames(Object.prototype));
const ARITHMETIC = new Map([["+", "add"], ["-", "sub"], ["*", "mul"], ["/", "div"], ["%", "mod"], ["^", "pow"]]);
const PLAIN_KEY = /^[A-Za-z_]\w*$/;

export function generate(script: Script, name: string): Generated {
  return new Generator(script, name).generate();
}

class Generator {
  readonly #script: Script;
  readonly #name: string;
  readonly #sites: Site[] = [{ line: 0, name: "?" }];
  readonly #siteIds = new Map<string, number>();
  readonly #isReflective: boolean;
  #depth = 0;
  /** Intermediate values in use, and the most that the current function ever had. */
  #inUse = 0;
  #mostUsed = 0;
  #loops: number[] = [];
  #loopIds = 0;
  /** Labels that are cases of a `switch` rather than ends of a block, with the number of their block. */
  readonly #cases = new Map<Label, { block: number; index: number }>();

  constructor(script: Script, name: string) {
    this.#script = script;
    this.#name = name;
    this.#isReflective = script.globals.some((use) => use.name === "_G" || use.name === "package");
  }

  generate(): Generated {
    const globals = [...new Set(this.#script.globals.map((use) => use.name))];
    const declarations = this.#isReflective ? "" : globals.map((name) => `let g_${name}=G(${JSON.stringify(name)});`).join("");
    const found = globals.map((name) => `case ${JSON.stringify(name)}:return g_${name};`).join("");
    const lookup = this.#isReflective ? "(n)=>G_.getString(n)" : `(n)=>{switch(n){${found}default:return G(n)}}`;
    const main = this.#function(this.#script.main);
    const code = `"use strict";return (S,G,G_)=>{${declarations}(${main})();return ${lookup};}`;
    return { code, sites: this.#sites, globals, isReflective: this.#isReflective };
  }

  // Helpers.

  #site(line: number, name = "?"): number {
    const key = `${line} ${name}`;
    let id = this.#siteIds.get(key);
    if (id === undefined) {
      id = this.#sites.push({ line, name }) - 1;
      this.#siteIds.set(key, id);
    }
    return id;
  }

  #deeper<T>(write: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new LuaSyntaxError(`${this.#name}: the script is nested too deeply`);
    const result = write();
    this.#depth -= 1;
    return result;
  }

  /** Writes with an intermediate value of its own. */
  #withValue<T>(write: (value: string) => T): T {
    const value = `x${this.#inUse++}`;
    this.#mostUsed = Math.max(this.#mostUsed, this.#inUse);
    const written = write(value);
    this.#inUse -= 1;
    return written;
  }

  // Functions.

  #function(body: FunctionBody): string {
    const outer = { inUse: this.#inUse, mostUsed: this.#mostUsed, loops: this.#loops };
    this.#inUse = 0;
    this.#mostUsed = 0;
    this.#loops = [];
    const block = this.#block(body.block);
    const values = Array.from({ length: this.#mostUsed }, (_, index) => `,x${index}`).join("");
    this.#inUse = outer.inUse;
    this.#mostUsed = outer.mostUsed;
    this.#loops = outer.loops;
    const parameters = [...body.parameters.map(nameOf), ...(body.isVariadic ? ["...V"] : [])];
    const arg = body.argVariable ? `let ${nameOf(body.argVariable)}=S.field(S.list([...V]),"n",V.length,0);` : "";
    return `function(${parameters.join(",")}){let r,t,v${values};if(++S.d>S.lim)S.overflow();if(--S.t<0)S.tick(S.l[S.d]);${arg}${block}S.d--;return N}`;
  }

  /** A function value, which is charged for. */
  #closure(body: FunctionBody): string {
    return `(S.t-=3,S.m-=128,S.m<0&&S.allocate(0),${this.#function(body)})`;
  }

  // Statements.

  #block({ statements }: Block): string {
    return this.#deeper(() => {
      const labels = statements.filter((statement) => statement.kind === "label").map((statement) => statement.label);
      const used = labels.filter((label) => label.fromBefore || label.fromAfter);
      if (used.length === 0) return statements.map((statement) => this.#statement(statement, false)).join("");
      return this.#blockWithLabels(statements, used);
    });
  }

  /** A jump is one out of a labelled block, or, where that cannot say it, a round of a loop around a `switch`. */
  #blockWithLabels(statements: readonly Statement[], labels: readonly Label[]): string {
    const hoisted = statements.flatMap((statement) => (statement.kind === "local" ? statement.variables : statement.kind === "localFunction" ? [statement.variable] : []));
    const declaration = hoisted.length > 0 ? `let ${hoisted.map(nameOf).join(",")};` : "";
    const [only] = labels;
    if (labels.length === 1 && only && !only.fromAfter) {
      const at = statements.findIndex((statement) => statement.kind === "label" && statement.label === only);
      const before = statements.slice(0, at).map((statement) => this.#statement(statement, true)).join("");
      return `${declaration}L${only.id}:{${before}}${statements.slice(at).map((statement) => this.#statement(statement, true)).join("")}`;
    }
    const block = this.#loopIds++;
    labels.forEach((label, index) => this.#cases.set(label, { block, index: index + 1 }));
    const parts = statements.map((statement) => {
      const index = statement.kind === "label" ? this.#cases.get(statement.label)?.index : undefined;
      return index === undefined ? this.#statement(statement, true) : `case ${index}:`;
    });
    return `${declaration}{let p${block}=0;P${block}:for(;;){switch(p${block}){case 0:${parts.join("")}}break}}`;
  }

  /** `isHoisted`: the block has declared the locals already. */
  #statement(statement: Statement, isHoisted: boolean): string {
    const { line } = statement;
    switch (statement.kind) {
      case "local":
        return this.#local(statement.variables, statement.values, isHoisted);
      case "localFunction": {
        const name = nameOf(statement.variable);
        return `${isHoisted ? "" : `let ${name};`}${name}=${this.#closure(statement.body)};`;
      }
      case "assign":
        return this.#assign(statement.targets, statement.values);
      case "call":
        return `r=${this.#call(statement.call)};if(Array.isArray(r))S.first(r);`;
      case "do":
        return `{${this.#block(statement.block)}}`;
      case "while":
        return this.#loop((loop) => `B${loop}:while(${this.#condition(statement.condition)}){${this.#tick(line)}${this.#block(statement.block)}}`);
      case "repeat":
        return this.#loop((loop) => `B${loop}:for(;;){${this.#tick(line)}${this.#block(statement.block)}if(${this.#condition(statement.condition)})break;}`);
      case "if": {
        const otherwise = statement.otherwise ? `else{${this.#block(statement.otherwise)}}` : "";
        return `if(${this.#condition(statement.condition)}){${this.#block(statement.block)}}${otherwise}`;
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
        return target ? `{p${target.block}=${target.index};${this.#tick(line)}continue P${target.block};}` : `break L${statement.label.id};`;
      }
    }
  }

  #tick(line: number): string {
    return `if(--S.t<0)S.tick(${this.#site(line)});`;
  }

  #loop(write: (loop: number) => string): string {
    const loop = this.#loopIds++;
    this.#loops.push(loop);
    const text = write(loop);
    this.#loops.pop();
    return text;
  }

  #forNumber({ variable, from, to, step, block, line }: Extract<Statement, { kind: "forNumber" }>): string {
    return this.#loop((loop) => {
      const [a, b, c, i] = [`a${loop}`, `b${loop}`, `c${loop}`, `i${loop}`];
      const stepValue = step === undefined ? 1 : step.kind === "number" ? step.value : undefined;
      const isKnown = from.kind === "number" && to.kind === "number" && stepValue !== undefined;
      const check = isKnown ? "" : `if(typeof ${a}!=="number"||typeof ${b}!=="number"||typeof ${c}!=="number")S.checkFor(${a},${b},${c},${this.#site(line)});`;
      const goesOn = stepValue === undefined ? `${c}>0?${i}<=${b}:${i}>=${b}` : stepValue > 0 ? `${i}<=${b}` : `${i}>=${b}`;
      const values = `let ${a}=${this.#one(from)},${b}=${this.#one(to)},${c}=${step ? this.#one(step) : "1"};`;
      // The sum is upstream's, which shows in the last digit of fractions.
      return `{${values}${check}B${loop}:for(let ${i}=(${a}-${c})+${c};${goesOn};${i}+=${c}){let ${nameOf(variable)}=${i};${this.#tick(line)}${this.#block(block)}}}`;
    });
  }

  #forIn({ variables, values, block, line }: Extract<Statement, { kind: "forIn" }>): string {
    return this.#loop((loop) => {
      const site = this.#site(line);
      const list = values.length === 1 && isSeveral(values[0]) ? `S.all(${this.#several(values[0])})` : this.#list(values);
      const names = variables.map((variable, index) => `${nameOf(variable)}=${index === 0 ? `it${loop}.k` : index === 1 ? `it${loop}.v` : `it${loop}.all[${index}]`}`);
      return `{const it${loop}=S.iterate(${list},${site});B${loop}:while(it${loop}.next()){let ${names.join(",")};${this.#tick(line)}${this.#block(block)}}}`;
    });
  }

  #return(values: readonly Expression[]): string {
    const [only] = values;
    if (only === undefined) return "{S.d--;return N}";
    if (values.length > 1) return `{r=${this.#list(values)};S.d--;return r}`;
    if (only.kind === "call" || only.kind === "method") return this.#tailCall(only);
    if (only.kind === "vararg") return "{S.d--;return V}";
    return `{r=${this.#one(only)};S.d--;return r}`;
  }

  /** Tail calls nest on the JavaScript stack up to a limit; from there on the caller makes them. */
  #tailCall(call: ExpressionOf<"call" | "method">): string {
    return this.#withValue((callee) => {
      const { setup, args } = this.#callParts(call, callee);
      return `{${setup};S.t-=4;if(S.lim>S.budget.depth+90){r=S.tail(${callee},[${args}]);S.d--;return r}S.lim++;r=${callee}(${args});S.lim--;S.d--;return r}`;
    });
  }

  #local(variables: readonly Variable[], values: readonly Expression[], isHoisted: boolean): string {
    const keyword = isHoisted ? "" : "let ";
    const [variable] = variables;
    if (variables.length === 1 && variable && values.length <= 1) return `${keyword}${nameOf(variable)}=${values[0] ? this.#one(values[0]) : "undefined"};`;
    if (values.length === 0) return isHoisted ? variables.map((each) => `${nameOf(each)}=undefined;`).join("") : `let ${variables.map(nameOf).join(",")};`;
    // All values come before any name exists: a value may use an outer variable of the same name, which has another identifier.
    return this.#values(values, variables.length, (parts) => variables.map((each, index) => `${keyword}${nameOf(each)}=${parts[index] ?? "undefined"};`).join(""));
  }

  /** Evaluates a list into that many intermediate values and writes what is done with them. */
  #values(values: readonly Expression[], count: number, write: (parts: string[]) => string): string {
    const names: string[] = [];
    let setup = "";
    const finish = (): string => setup + write(names);
    const take = (index: number): string => {
      const value = values[index];
      if (value === undefined) return finish();
      return this.#withValue((name) => {
        const isLast = index === values.length - 1;
        if (isLast && isSeveral(value) && count > values.length - 1) {
          setup += `${name}=S.all(${this.#several(value)});`;
          for (let rest = 0; names.length < count; rest++) names.push(`${name}[${rest}]`);
          return finish();
        }
        setup += `${name}=${this.#one(value)};`;
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
      this.#values(values, targets.length, (parts) => targets.map((each, index) => this.#store(each, places[index], parts[index] ?? "undefined")).join("")),
    );
  }

  /** Objects and keys of the targets come before the values. */
  #prepareTargets(targets: readonly Target[], index: number, places: ({ object: string; key: string } | undefined)[], write: (places: ({ object: string; key: string } | undefined)[]) => string): string {
    const target = targets[index];
    if (target === undefined) return write(places);
    if (target.kind !== "index") return this.#prepareTargets(targets, index + 1, [...places, undefined], write);
    return this.#withValue((object) =>
      this.#withValue((key) => `${object}=${this.#one(target.object)};${key}=${this.#one(target.key)};${this.#prepareTargets(targets, index + 1, [...places, { object, key }], write)}`),
    );
  }

  #store(target: Target, place: { object: string; key: string } | undefined, value: string): string {
    if (target.kind === "index") return `S.set(${place?.object},${place?.key},${value},${this.#site(target.line)});`;
    return `${this.#storeName(target, value)};`;
  }

  #storeName(target: ExpressionOf<"local" | "global">, value: string): string {
    if (target.kind === "local") return `${nameOf(target.variable)}=${value}`;
    return this.#isReflective ? `S.set(G_,${JSON.stringify(target.name)},${value},${this.#site(target.line)})` : `g_${target.name}=${value}`;
  }

  #assignOne(target: Target, value: Expression): string {
    if (target.kind !== "index") return `${this.#storeName(target, this.#one(value))};`;
    const site = this.#site(target.line);
    return this.#withValue((object) => {
      const start = `${object}=${this.#one(target.object)};`;
      if (target.key.kind === "string" && isFastKey(target.key.value)) {
        const key = target.key.value;
        return `${start}v=${this.#one(value)};if(${object} instanceof T&&${object}.w&&v!==undefined){S.m-=16;${object}.h.${key}=v}else S.set(${object},"${key}",v,${site});`;
      }
      return this.#withValue((key) => `${start}${key}=${this.#one(target.key)};v=${this.#one(value)};S.set(${object},${key},v,${site});`);
    });
  }

  // Expressions.

  /** A list of all values; the last expression may give several. */
  #list(values: readonly Expression[]): string {
    return `[${this.#arguments(values)}]`;
  }

  #arguments(values: readonly Expression[]): string {
    return values.map((value, index) => (index === values.length - 1 && isSeveral(value) ? `...S.all(${this.#several(value)})` : this.#one(value))).join(",");
  }

  /** An expression that may give none or several values, as results. */
  #several(expression: Expression | undefined): string {
    if (expression === undefined) return "N";
    return expression.kind === "vararg" ? "V" : this.#call(expression);
  }

  /** A boolean of JavaScript. */
  #condition(expression: Expression): string {
    switch (expression.kind) {
      case "nil":
      case "false":
        return "false";
      case "true":
      case "number":
      case "string":
      case "function":
      case "table":
        return expression.kind === "function" || expression.kind === "table" ? `(${this.#one(expression)},true)` : "true";
      case "unary":
        if (expression.operator === "not") return `!${this.#deeper(() => this.#condition(expression.operand))}`;
        break;
      case "binary":
        if (expression.operator === "and" || expression.operator === "or") {
          const { left, right, operator } = expression;
          return this.#deeper(() => `(${this.#condition(left)}${operator === "and" ? "&&" : "||"}${this.#condition(right)})`);
        }
        if (isComparison(expression.operator)) return this.#one(expression);
        break;
      case "local": {
        const name = nameOf(expression.variable);
        return `(${name}!==undefined&&${name}!==false)`;
      }
      default:
    }
    return `((t=${this.#one(expression)})!==undefined&&t!==false)`;
  }

  #one(expression: Expression): string {
    return this.#deeper(() => this.#oneOf(expression));
  }

  #oneOf(expression: Expression): string {
    const { line } = expression;
    switch (expression.kind) {
      case "nil":
        return "undefined";
      case "true":
      case "false":
        return expression.kind;
      case "vararg":
        return "V[0]";
      case "number":
        return Number.isNaN(expression.value) ? "NaN" : expression.value === Infinity ? "Infinity" : String(expression.value);
      case "string":
        return JSON.stringify(expression.value);
      case "function":
        return this.#closure(expression.body);
      case "local":
        return nameOf(expression.variable);
      case "global":
        return this.#isReflective ? `G_.getString(${JSON.stringify(expression.name)})` : `g_${expression.name}`;
      case "index":
        return this.#index(expression);
      case "call":
      case "method":
        return `(Array.isArray(r=${this.#call(expression)})?S.first(r):r)`;
      case "table":
        return this.#table(expression);
      case "first":
        return this.#one(expression.of);
      case "unary":
        if (expression.operator === "not") return `!${this.#condition(expression.operand)}`;
        if (expression.operator === "-" && expression.operand.kind === "number") return `(-${this.#one(expression.operand)})`;
        return `S.${expression.operator === "-" ? "negate" : "length"}(${this.#one(expression.operand)},${this.#site(line)})`;
      default:
        return this.#binary(expression);
    }
  }

  #index({ object, key, line }: ExpressionOf<"index">): string {
    const site = this.#site(line);
    if (key.kind !== "string" || !isFastKey(key.value)) return `S.get(${this.#one(object)},${this.#one(key)},${site})`;
    const name = key.value;
    return `(typeof(v=(t=${this.#one(object)})instanceof T?t.h.${name}:S.get(t,"${name}",${site}))==="object"||v===undefined?S.read(t,"${name}",v):v)`;
  }

  /** What to do before a call, and its arguments. The site is noted last, because the arguments may contain calls. */
  #callParts(call: ExpressionOf<"call" | "method">, callee: string): { setup: string; args: string } {
    const name = call.kind === "method" ? call.name : calleeName(call.callee);
    const site = this.#site(call.line, name);
    const note = `S.l[S.d]=${site}`;
    if (call.kind === "call") {
      const setup = `typeof(${callee}=${this.#one(call.callee)})==="function"||(${callee}=S.nc)`;
      return this.#withNote(setup, "", call.args, note);
    }
    return this.#withValue((receiver) => {
      const setup = `${receiver}=${this.#one(call.receiver)},typeof(${callee}=S.method(${receiver},${JSON.stringify(call.name)},${site}))==="function"||(${callee}=S.nc)`;
      return this.#withNote(setup, receiver, call.args, note);
    });
  }

  #withNote(setup: string, receiver: string, args: readonly Expression[], note: string): { setup: string; args: string } {
    const first = receiver === "" ? [] : [receiver];
    if (!args.some(mayCall)) return { setup: `${setup},${note}`, args: [...first, ...(args.length > 0 ? [this.#arguments(args)] : [])].join(",") };
    const before = args.slice(0, -1).map((value) => this.#one(value));
    const last = this.#withValue((value) => {
      const expression = args.at(-1);
      if (expression === undefined) return note;
      return isSeveral(expression) ? `...(${value}=S.all(${this.#several(expression)}),${note},${value})` : `(${value}=${this.#one(expression)},${note},${value})`;
    });
    return { setup, args: [...first, ...before, last].join(",") };
  }

  #call(expression: Expression): string {
    if (expression.kind !== "call" && expression.kind !== "method") return this.#one(expression);
    return this.#deeper(() =>
      this.#withValue((callee) => {
        const { setup, args } = this.#callParts(expression, callee);
        return `(${setup},${callee}(${args}))`;
      }),
    );
  }

  #table({ fields, line }: ExpressionOf<"table">): string {
    const site = this.#site(line);
    const positions = fields.filter((field) => field.key === undefined);
    if (positions.length === fields.length) return fields.length === 0 ? "S.newTable()" : `S.list(${this.#list(fields.map((field) => field.value))})`;
    const names = fields.map((field) => (field.key?.kind === "string" && isFastKey(field.key.value) ? field.key.value : undefined));
    const isRecord = names.every((name) => name !== undefined) && new Set(names).size === names.length;
    if (isRecord && fields.every((field) => isNeverNil(field.value))) {
      return `S.fields({${fields.map((field, index) => `${names[index]}:${this.#one(field.value)}`).join(",")}},${fields.length})`;
    }
    return this.#withValue((table) => {
      let position = 0;
      const parts = fields.map((field, index) => {
        if (field.key !== undefined) return `S.set(${table},${this.#one(field.key)},${this.#one(field.value)},${site})`;
        position += 1;
        if (index === fields.length - 1 && isSeveral(field.value)) return `S.append(${table},${position},S.all(${this.#several(field.value)}))`;
        return `S.set(${table},${position},${this.#one(field.value)},${site})`;
      });
      return `(${table}=S.newTable(),${parts.join(",")},${table})`;
    });
  }

  #binary(expression: ExpressionOf<"binary">): string {
    const { operator, left, right, line } = expression;
    switch (operator) {
      case "and":
      case "or":
        return this.#withValue((value) => {
          const isDecided = operator === "and" ? `${value}===undefined||${value}===false` : `${value}!==undefined&&${value}!==false`;
          return `((${value}=${this.#one(left)},${isDecided})?${value}:${this.#one(right)})`;
        });
      case "==":
      case "~=":
        if (isWrittenOut(left) || isWrittenOut(right)) return `(${this.#one(left)}${operator === "==" ? "===" : "!=="}${this.#one(right)})`;
        return `${operator === "==" ? "" : "!"}S.same(${this.#one(left)},${this.#one(right)})`;
      case "..":
        return `S.concat(${this.#one(left)},${this.#one(right)},${this.#site(line)})`;
      default:
        return this.#numeric(operator, left, right, line);
    }
  }

  #numeric(operator: string, left: Expression, right: Expression, line: number): string {
    const site = this.#site(line);
    return this.#withValue((a) =>
      this.#withValue((b) => {
        const setup: string[] = [];
        const checks: string[] = [];
        const place = (expression: Expression, value: string): string => {
          if (expression.kind === "number") return this.#one(expression).replace(/^-.*/, "($&)");
          setup.push(`${value}=${this.#one(expression)}`);
          checks.push(`typeof ${value}==="number"`);
          return value;
        };
        const x = place(left, a);
        const y = place(right, b);
        const fast = operator === "%" ? `S.mod(${x},${y})` : operator === "^" ? `S.power(${x},${y})` : `${x}${operator}${y}`;
        if (checks.length === 0) return `(${fast})`;
        const slow =
          operator === "<" ? `S.less(${x},${y},${site})`
          : operator === ">" ? `S.less(${y},${x},${site})`
          : operator === "<=" ? `S.lessEqual(${x},${y},${site})`
          : operator === ">=" ? `S.lessEqual(${y},${x},${site})`
          : `S.arith("${ARITHMETIC.get(operator)}",${x},${y},${site})`;
        return `(${setup.join(",")},${checks.join("&&")}?${fast}:${slow})`;
      }),
    );
  }
}

const nameOf = (variable: Variable): string => `s${variable.id}`;
const isComparison = (operator: string): boolean => ["==", "~=", "<", "<=", ">", ">="].includes(operator);
const isSeveral = (expression: Expression | undefined): boolean => expression?.kind === "call" || expression?.kind === "method" || expression?.kind === "vararg";
/** A name that no object has by itself and that keeps its place among others. */
const isFastKey = (key: string): boolean => PLAIN_KEY.test(key) && !PROTOTYPE_NAMES.has(key);
/** Comparing with it is quick, however long the other side is. */
const isWrittenOut = (expression: Expression): boolean => ["nil", "true", "false", "number", "string"].includes(expression.kind);
const isNeverNil = (expression: Expression): boolean =>
  ["true", "false", "number", "string", "function", "table"].includes(expression.kind) ||
  (expression.kind === "binary" && expression.operator !== "and" && expression.operator !== "or") ||
  expression.kind === "unary";

/** By what name upstream's messages call the function of a call. */
function calleeName(callee: Expression): string {
  if (callee.kind === "global") return callee.name;
  if (callee.kind === "local") return callee.variable.name;
  if (callee.kind === "index" && callee.key.kind === "string") return callee.key.value;
  return "?";
}

/** Whether evaluating it may call a function, which would note its own site. */
function mayCall(expression: Expression): boolean {
  switch (expression.kind) {
    case "nil":
    case "true":
    case "false":
    case "number":
    case "string":
    case "vararg":
    case "local":
    case "global":
    case "function":
      return false;
    case "index":
      return mayCall(expression.object) || mayCall(expression.key);
    case "first":
      return mayCall(expression.of);
    default:
      return true;
  }
}
