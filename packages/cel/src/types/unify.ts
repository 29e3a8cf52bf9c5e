/**
 * Assignability with type parameters: whether a value of one type can be used for another, and the resulting bindings
 * of both types' free parameters. Bindings are kept only when the whole attempt succeeds.
 */
import { type CelType, DYN, isDyn, isDynOrError, isExactly, listOf, mapOf, opaque, typeOf } from "./types.ts";

type Substitutions = Map<string, CelType>;

export class Unifier {
  private learned: Substitutions = new Map();
  private fresh = 0;

  newParameter(): CelType {
    return { kind: "parameter", name: `_var${this.fresh++}`, parameters: [] };
  }

  /** Reports whether each type of `from` is assignable to its counterpart in `to`; keeps the bindings if so. */
  assignAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    // Without parameters there is nothing to bind, and most calls have none.
    if (!from.some(hasParameter) && !to.some(hasParameter)) return assignableAll(this.learned, from, to);
    const attempt = new Map(this.learned);
    if (!assignableAll(attempt, from, to)) return false;
    this.learned = attempt;
    return true;
  }

  assign(from: CelType, to: CelType): boolean {
    return this.assignAll([from], [to]);
  }

  /** The type with all known bindings substituted. Unbound parameters stay, or become dynamic. */
  resolve(type: CelType, freeToDyn: boolean): CelType {
    return substitute(this.learned, type, freeToDyn);
  }
}

/** The type with its named parameters replaced. */
export function instantiate(type: CelType, parameters: ReadonlyMap<string, CelType>): CelType {
  return substitute(parameters, type, false);
}

function substitute(known: ReadonlyMap<string, CelType>, type: CelType, freeToDyn: boolean): CelType {
  switch (type.kind) {
    case "parameter": {
      const found = known.get(type.name);
      if (found) return substitute(known, found, freeToDyn);
      return freeToDyn ? DYN : type;
    }
    case "opaque":
      return type.parameters.length === 0
        ? type
        : opaque(type.name, ...type.parameters.map((part) => substitute(known, part, freeToDyn)));
    case "list":
      return hasParameter(type) ? listOf(substitute(known, type.parameters[0] as CelType, freeToDyn)) : type;
    case "map":
      return hasParameter(type)
        ? mapOf(
            substitute(known, type.parameters[0] as CelType, freeToDyn),
            substitute(known, type.parameters[1] as CelType, freeToDyn),
          )
        : type;
    case "type":
      return type.parameters.length === 0 ? type : typeOf(substitute(known, type.parameters[0] as CelType, freeToDyn));
    default:
      return type;
  }
}

function hasParameter(type: CelType): boolean {
  return type.kind === "parameter" || type.parameters.some(hasParameter);
}

function assignableAll(known: Substitutions, from: readonly CelType[], to: readonly CelType[]): boolean {
  return from.length === to.length && from.every((type, index) => assignable(known, type, to[index] as CelType));
}

function assignable(known: Substitutions, from: CelType, to: CelType): boolean {
  if (to.kind === "parameter") {
    const { valid, wasKnown } = bind(known, from, to);
    if (valid) return true;
    if (wasKnown) return false;
  }
  if (from.kind === "parameter") return bind(known, to, from).valid;
  if (isDynOrError(from) || isDynOrError(to)) return true;
  if (from.kind === "null") return acceptsNull(to);
  if (to.kind === "null") return acceptsNull(from);
  switch (from.kind) {
    case "struct":
      return to.kind === "struct" && from.name === to.name;
    case "type":
      return to.kind === "type";
    case "list":
    case "map":
    case "opaque":
      return from.kind === to.kind && from.name === to.name && assignableAll(known, from.parameters, to.parameters);
    default:
      return from.kind === to.kind;
  }
}

function acceptsNull(type: CelType): boolean {
  switch (type.kind) {
    case "null":
    case "opaque":
    case "struct":
    case "timestamp":
    case "duration":
      return true;
    default:
      return false;
  }
}

/** Tries to bind the parameter to the type. */
function bind(known: Substitutions, type: CelType, free: CelType): { valid: boolean; wasKnown: boolean } {
  if (isExactly(type, free)) return { valid: true, wasKnown: true };
  const current = known.get(free.name);
  if (current) {
    if (isExactly(type, current)) return { valid: true, wasKnown: true };
    if (!assignable(known, type, current)) return { valid: false, wasKnown: true };
    const general = mostGeneral(type, current);
    if (!occursIn(known, free, general)) known.set(free.name, general);
    return { valid: true, wasKnown: true };
  }
  if (occursIn(known, free, type)) return { valid: false, wasKnown: false };
  known.set(free.name, type);
  return { valid: true, wasKnown: false };
}

/** The more general of two compatible types. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return isLessSpecific(a, b) ? a : b;
}

function isLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === "parameter") return true;
  if (isDyn(b) || b.kind === "parameter" || a.kind !== b.kind) return false;
  switch (a.kind) {
    case "opaque":
    case "list":
    case "map":
      return (
        a.name === b.name &&
        a.parameters.length === b.parameters.length &&
        a.parameters.every((part, index) => isLessSpecific(part, b.parameters[index] as CelType))
      );
    case "type":
      return true;
    default:
      return isExactly(a, b);
  }
}

function occursIn(known: Substitutions, free: CelType, type: CelType): boolean {
  if (isExactly(free, type)) return true;
  if (type.kind === "parameter") {
    const found = known.get(type.name);
    return found !== undefined && occursIn(known, free, found);
  }
  return type.parameters.some((part) => occursIn(known, free, part));
}
