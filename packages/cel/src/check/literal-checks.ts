/** Checks that types do not cover: invalid literals, lists of mixed types, formats that do not fit their arguments. */
import { type Call, childrenOf, type Expr } from "../syntax/ast.ts";
import { toDuration, toTimestamp } from "../values/conversions.ts";
import { argumentsWanted, type Clause, clauseError, interpolate } from "../library/format.ts";
import { patternProblem } from "../values/regex.ts";
import type { Source } from "../syntax/source.ts";
import { type CelType, formatType, isEquivalent, unwrapOptional } from "../types/types.ts";
import { CelError, type CelValue } from "../values/values.ts";

export function checkLiterals(root: Expr, source: Source, mixesTypes = false): void {
  visit(root, mixesTypes, source);
}

function visit(expr: Expr, mayMix: boolean, source: Source): void {
  if (expr.kind === "call") checkCall(expr, source);
  if (expr.kind === "list" && !mayMix) {
    sameTypes(
      expr.elements.map((element, index) => ({ expr: element, isOptional: expr.optionals.has(index) })),
      source,
      true,
    );
  }
  if (expr.kind === "map" && !mayMix) {
    sameTypes(
      expr.entries.map(({ key }) => ({ expr: key, isOptional: false })),
      source,
      false,
    );
    sameTypes(
      expr.entries.map(({ value, isOptional }) => ({ expr: value, isOptional })),
      source,
      false,
    );
  }
  // The arguments of a format may have any type.
  const mayMixInside = mayMix || (expr.kind === "call" && expr.name === "format");
  for (const child of childrenOf(expr)) visit(child, mayMixInside, source);
}

/** Elements have the type of the first; only the first mismatch of a list is reported. */
function sameTypes(items: readonly { expr: Expr; isOptional: boolean }[], source: Source, onlyFirst: boolean): void {
  const typeOf = ({ expr, isOptional }: (typeof items)[number]): CelType =>
    isOptional ? unwrapOptional(expr.type as CelType) : (expr.type as CelType);
  const [first, ...rest] = items;
  if (!first) return;
  const expected = typeOf(first);
  for (const item of rest) {
    const type = typeOf(item);
    if (isEquivalent(expected, type)) continue;
    source.report(item.expr.offset, `expected type '${formatType(expected)}' but found '${formatType(type)}'`);
    if (onlyFirst) return;
  }
}

const READERS: ReadonlyMap<string, (value: CelValue) => CelValue> = new Map<string, (value: CelValue) => CelValue>([
  ["duration", toDuration],
  ["timestamp", toTimestamp],
  ["matches", (pattern) => (typeof pattern === "string" ? (patternProblem(pattern) ?? true) : true)],
]);

function checkCall(expr: Call, source: Source): void {
  const [argument] = expr.args;
  const read = READERS.get(expr.name);
  if (read && argument?.kind === "literal" && read(argument.value) instanceof CelError)
    source.report(argument.offset, `invalid ${expr.name} argument`);
  if (expr.name === "format") checkFormat(expr, source);
}

const WHOLE = ["int", "uint"];
const TYPES: Readonly<Record<Clause, readonly string[]>> = {
  s: ["list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"],
  d: WHOLE,
  o: WHOLE,
  b: [...WHOLE, "bool"],
  x: [...WHOLE, "string", "bytes"],
  X: [...WHOLE, "string", "bytes"],
  f: ["double", "string"],
  e: ["double", "string"],
};

/** A literal format with literal arguments. */
function checkFormat(expr: Call, source: Source): void {
  const { target } = expr;
  const [list] = expr.args;
  if (target?.kind !== "literal" || typeof target.value !== "string" || list?.kind !== "list") return;
  let place = expr.offset;
  const result = interpolate(target.value, list.elements.length, (index, clause) => {
    const bad = unfit(list.elements[index] as Expr, clause);
    if (!bad) return "";
    place = bad.offset;
    return clauseError(clause, bad.type?.name ?? "");
  });
  if (result instanceof CelError) source.report(place, result.message);
  else {
    const wanted = argumentsWanted(target.value);
    if (list.elements.length > wanted)
      source.report(
        expr.offset,
        `too many arguments supplied to string.format (expected ${wanted}, got ${list.elements.length})`,
      );
  }
}

/** The part of an argument that the clause cannot format. */
function unfit(expr: Expr, clause: Clause): Expr | undefined {
  const kind = expr.type?.kind ?? "dyn";
  if (kind !== "dyn" && !TYPES[clause].includes(kind)) return expr;
  if (clause !== "s" || (expr.kind !== "list" && expr.kind !== "map")) return undefined;
  return childrenOf(expr)
    .map((child) => unfit(child, clause))
    .find((bad) => bad !== undefined);
}
