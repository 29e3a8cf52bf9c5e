/**
 * Macros: calls that expand to a loop or a test. Their costs and errors follow from the expansion, so the loops are
 * exactly those of Kubernetes.
 */
import { ACCUMULATOR, type Call, type Comprehension, copyExpr, type Expr, type Literal } from "./ast.ts";
import type { CelValue } from "../values/values.ts";

/** The call is a macro, but its arguments are invalid. */
interface MacroProblem {
  readonly kind: "problem";
  readonly offset: number;
  readonly message: string;
}

type Expansion = Expr | MacroProblem;
type Expander = (build: Builder, target: Expr, args: readonly Expr[]) => Expansion;

/** Creates nodes that are all reported at the position of the call. */
class Builder {
  readonly offset: number;
  constructor(offset: number) {
    this.offset = offset;
  }
  literal(value: CelValue): Literal {
    return { kind: "literal", offset: this.offset, value };
  }
  ident(name: string): Expr {
    return { kind: "ident", offset: this.offset, name };
  }
  get accumulator(): Expr {
    return this.ident(ACCUMULATOR);
  }
  call(name: string, ...args: Expr[]): Call {
    return { kind: "call", offset: this.offset, name, target: undefined, args };
  }
  member(name: string, target: Expr, ...args: Expr[]): Call {
    return { kind: "call", offset: this.offset, name, target, args };
  }
  list(...elements: Expr[]): Expr {
    return { kind: "list", offset: this.offset, elements, optionals: new Set() };
  }
  get emptyMap(): Expr {
    return { kind: "map", offset: this.offset, entries: [] };
  }
  loop(
    parts: Pick<Comprehension, "range" | "variable" | "init" | "condition" | "step" | "result"> & {
      variable2?: string | undefined;
      accumulator?: string;
    },
  ): Expr {
    return {
      kind: "comprehension",
      offset: this.offset,
      variable2: undefined,
      ...parts,
      accumulator: parts.accumulator ?? ACCUMULATOR,
    };
  }
  /** Evaluates `result` with a name bound to a value. */
  bind(name: string, value: Expr, step: Expr, result: Expr): Expr {
    return this.loop({
      range: this.list(),
      variable: "#unused",
      accumulator: name,
      init: value,
      condition: this.literal(false),
      step,
      result,
    });
  }
}

const problem = ({ offset }: Expr, message: string): MacroProblem => ({ kind: "problem", offset, message });
const identName = (expr: Expr): string | undefined => (expr.kind === "ident" ? expr.name : undefined);
const overwrites = (name: string): boolean => name === ACCUMULATOR || name === "__result__";
const OVERWRITES = "iteration variable overwrites accumulator variable";

/** The names of a loop's variables, or an error. */
function variablesOf(args: readonly Expr[], message: string): { names: readonly [string, string?] } | MacroProblem {
  const names = args.map(identName);
  const wrong = names.indexOf(undefined);
  if (wrong >= 0) return problem(args[wrong] as Expr, message);
  if (names.length === 2 && names[0] === names[1])
    return problem(args[1] as Expr, `duplicate variable name: ${names[0]}`);
  const taken = names.findIndex((name) => overwrites(name ?? ""));
  if (taken >= 0) return problem(args[taken] as Expr, OVERWRITES);
  return { names: names as [string, string?] };
}

/** A quantifier with one or two variables; the rest of its loop follows from its predicate. */
function quantifier(
  variables: 1 | 2,
  rest: (build: Builder, predicate: Expr) => Pick<Comprehension, "init" | "condition" | "step" | "result">,
): Expander {
  return (build, target, args) => {
    const found = variablesOf(args.slice(0, variables), "argument must be a simple name");
    if ("kind" in found) return found;
    const [variable, variable2] = found.names;
    return build.loop({ range: target, variable, variable2, ...rest(build, args[variables] as Expr) });
  };
}

const all = (build: Builder, predicate: Expr) => ({
  init: build.literal(true),
  condition: build.call("@not_strictly_false", build.accumulator),
  step: build.call("_&&_", build.accumulator, predicate),
  result: build.accumulator,
});
const exists = (build: Builder, predicate: Expr) => ({
  init: build.literal(false),
  condition: build.call("@not_strictly_false", build.call("!_", build.accumulator)),
  step: build.call("_||_", build.accumulator, predicate),
  result: build.accumulator,
});
const existsOne = (build: Builder, predicate: Expr) => ({
  init: build.literal(0),
  condition: build.literal(true),
  step: build.call("_?_:_", predicate, build.call("_+_", build.accumulator, build.literal(1)), build.accumulator),
  result: build.call("_==_", build.accumulator, build.literal(1)),
});

/** A loop that collects the results of `step`, for elements that pass the optional filter. */
function collect(
  build: Builder,
  target: Expr,
  names: readonly [string, string?],
  init: Expr,
  filter: Expr | undefined,
  step: Expr,
): Expr {
  const [variable, variable2] = names;
  const guarded = filter ? build.call("_?_:_", filter, step, build.accumulator) : step;
  return build.loop({
    range: target,
    variable,
    variable2,
    init,
    condition: build.literal(true),
    step: guarded,
    result: build.accumulator,
  });
}

const mapMacro: Expander = (build, target, args) => {
  const found = variablesOf(args.slice(0, 1), "argument is not an identifier");
  if ("kind" in found) return found;
  const step = build.call("_+_", build.accumulator, build.list(args.at(-1) as Expr));
  return collect(build, target, found.names, build.list(), args.length === 3 ? args[1] : undefined, step);
};

const filterMacro: Expander = (build, target, args) => {
  const found = variablesOf(args.slice(0, 1), "argument is not an identifier");
  if ("kind" in found) return found;
  const step = build.call("_+_", build.accumulator, build.list(args[0] as Expr));
  return collect(build, target, found.names, build.list(), args[1], step);
};

/**
 * `transformList` and similar macros: two variables, an optional filter, and the step that adds an element to the
 * accumulator.
 */
function transform(
  init: (build: Builder) => Expr,
  add: (build: Builder, element: Expr, key: string) => Expr,
): Expander {
  return (build, target, args) => {
    const found = variablesOf(args.slice(0, 2), "argument must be a simple name");
    if ("kind" in found) return found;
    const step = add(build, args.at(-1) as Expr, found.names[0]);
    return collect(build, target, found.names, init(build), args.length === 4 ? args[2] : undefined, step);
  };
}

const transformList = transform(
  (build) => build.list(),
  (build, element) => build.call("_+_", build.accumulator, build.list(element)),
);
const transformMap = transform(
  (build) => build.emptyMap,
  (build, element, key) => build.call("cel.@mapInsert", build.accumulator, build.ident(key), element),
);
const transformMapEntry = transform(
  (build) => build.emptyMap,
  (build, element) => build.call("cel.@mapInsert", build.accumulator, element),
);

/** `optMap` wraps its result, `optFlatMap` computes an optional itself. */
const optionalMap =
  (macro: string, wrap: (build: Builder, value: Expr) => Expr): Expander =>
  (build, target, args) => {
    const [variable, value] = args as [Expr, Expr];
    const name = identName(variable);
    if (name === undefined) return problem(variable, `${macro}() variable name must be a simple identifier`);
    const bound = build.bind(name, build.member("value", copyExpr(target)), build.ident(name), value);
    return build.call("_?_:_", build.member("hasValue", target), wrap(build, bound), build.call("optional.none"));
  };

const SORT_INPUT = "@__sortBy_input__";
const sortByMacro: Expander = (build, target, args) => {
  if (target.kind === "literal" || target.kind === "map" || target.kind === "struct") {
    return problem(
      target,
      "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
    );
  }
  const keys = mapMacro(build, build.ident(SORT_INPUT), args);
  if (keys.kind === "problem") return keys;
  return build.bind(
    SORT_INPUT,
    target,
    build.ident(SORT_INPUT),
    build.member("@sortByAssociatedKeys", build.ident(SORT_INPUT), keys),
  );
};

/** By name and argument count. */
const MEMBER_MACROS: ReadonlyMap<string, Expander> = new Map([
  ["all:2", quantifier(1, all)],
  ["all:3", quantifier(2, all)],
  ["exists:2", quantifier(1, exists)],
  ["exists:3", quantifier(2, exists)],
  ["exists_one:2", quantifier(1, existsOne)],
  ["exists_one:3", quantifier(2, existsOne)],
  ["existsOne:3", quantifier(2, existsOne)],
  ["map:2", mapMacro],
  ["map:3", mapMacro],
  ["filter:2", filterMacro],
  ["transformList:3", transformList],
  ["transformList:4", transformList],
  ["transformMap:3", transformMap],
  ["transformMap:4", transformMap],
  ["transformMapEntry:3", transformMapEntry],
  ["transformMapEntry:4", transformMapEntry],
  ["optMap:2", optionalMap("optMap", (build, value) => build.call("optional.of", value))],
  ["optFlatMap:2", optionalMap("optFlatMap", (_, value) => value)],
  ["sortBy:2", sortByMacro],
]);

/** `cel.bind(name, value, expression)`; undefined for any other call. */
export function expandBinding(
  name: string,
  target: Expr | undefined,
  args: readonly Expr[],
  offset: number,
): Expansion | undefined {
  const [variable, value, result] = args;
  if (name !== "bind" || args.length !== 3 || !variable || !value || !result || !target || identName(target) !== "cel")
    return undefined;
  const bound = identName(variable);
  if (bound === undefined) return problem(variable, "cel.bind() variable names must be simple identifiers");
  const build = new Builder(offset);
  return build.bind(bound, value, build.ident(bound), result);
}

/** The expansion of the call; undefined when it is not a macro. */
export function expandMacro(
  name: string,
  target: Expr | undefined,
  args: readonly Expr[],
  offset: number,
): Expansion | undefined {
  if (target) return MEMBER_MACROS.get(`${name}:${args.length}`)?.(new Builder(offset), target, args);
  const [argument] = args;
  if (name !== "has" || args.length !== 1 || !argument) return undefined;
  if (argument.kind !== "select") return problem(argument, "invalid argument to has() macro");
  return { kind: "select", offset, operand: argument.operand, field: argument.field, isTest: true };
}
