/**
 * Label selectors: query strings (`app in (a,b),!old`) and spec objects (`matchLabels`) become one list of requirements
 * that is matched without allocating.
 *
 * `!=` and `notin` also match objects without the key. The empty selector matches everything, `nothing` matches
 * nothing.
 */
import { compareText, messageOf } from "@flotilla/base";
import { quoteText } from "./format-value.ts";
import { labelKeyProblems, labelValueProblems } from "./names.ts";
import { badRequest } from "./status.ts";

type LabelOperator = "=" | "!=" | "in" | "notin" | "exists" | "!exists" | ">" | "<";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** None for the existence operators, any number for `in` and `notin`, otherwise one; an integer for `>` and `<`. */
  readonly values: readonly string[];
}

export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  readonly matchesNothing?: true;
}

/** A selector in a spec: `metav1.LabelSelector`. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[]
    | undefined;
}

export const everything: LabelSelector = { requirements: [] };
export const nothing: LabelSelector = { requirements: [], matchesNothing: true };

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!exists",
};

/** The selector of an object. An absent object selects nothing, an empty one everything, as in Kubernetes. */
export function labelSelectorOf(object: LabelSelectorObject | null | undefined): LabelSelector {
  if (object === undefined || object === null) return nothing;
  const requirements: LabelRequirement[] = Object.entries(object.matchLabels ?? {}).map(([key, value]) =>
    requirement(key, "=", [value]),
  );
  for (const { key, operator, values } of object.matchExpressions ?? []) {
    const known = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (!known) throw badRequest(`"${operator}" is not a valid label selector operator`);
    requirements.push(requirement(key, known, values ?? []));
  }
  return requirements.length === 0 ? everything : { requirements };
}

function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const problems: string[] = [];
  const keyProblems = labelKeyProblems(key);
  if (keyProblems.length > 0) problems.push(`key: Invalid value: ${quoteText(key)}: ${keyProblems.join("; ")}`);
  if ((operator === "in" || operator === "notin") && values.length === 0)
    problems.push("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
  if ((operator === "exists" || operator === "!exists") && values.length > 0)
    problems.push("values: Invalid value: values set must be empty for exists and does not exist");
  if ((operator === ">" || operator === "<") && !isWhole(values[0]))
    problems.push(
      `values[0]: Invalid value: ${quoteText(values[0] ?? "")}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  for (const [index, value] of values.entries()) {
    const valueProblems = labelValueProblems(value);
    if (valueProblems.length > 0)
      problems.push(`values[${index}][${key}]: Invalid value: ${quoteText(value)}: ${valueProblems.join("; ")}`);
  }
  if (problems.length > 0) throw badRequest(problems.length === 1 ? problems.join() : `[${problems.join(", ")}]`);
  return { key, operator, values };
}

const MAX_WHOLE = 2n ** 63n - 1n;
/** Reports whether it is a 64-bit integer. A label value has at most 63 characters and no sign, so this is cheap. */
const isWhole = (value: string | undefined): boolean =>
  value !== undefined && value.length < 64 && /^\d+$/.test(value) && (value.length < 19 || BigInt(value) <= MAX_WHOLE);

export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  if (selector.matchesNothing) return false;
  for (const { key, operator, values } of selector.requirements) {
    const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (!satisfies(operator, values, value)) return false;
  }
  return true;
}

function satisfies(operator: LabelOperator, values: readonly string[], value: string | undefined): boolean {
  switch (operator) {
    case "=":
      return value === values[0];
    case "!=":
      return value !== values[0];
    case "in":
      return value !== undefined && values.includes(value);
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!exists":
      return value === undefined;
    default:
      return (
        value !== undefined &&
        isWhole(value) &&
        (operator === ">" ? BigInt(value) > BigInt(values[0] ?? "") : BigInt(value) < BigInt(values[0] ?? ""))
      );
  }
}

/** The text form, sorted by key, as in `status.labelSelector` and `status.selector` of a scale. */
export function formatLabelSelector(selector: LabelSelector | LabelSelectorObject): string {
  const { requirements, matchesNothing } = "requirements" in selector ? selector : labelSelectorOf(selector);
  if (matchesNothing) return "";
  return [...requirements]
    .sort((a, b) => compareText(a.key, b.key))
    .map(formatRequirement)
    .join(",");
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!exists":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${[...values].sort(compareText).join(",")})`;
    default:
      return `${key}${operator}${values[0] ?? ""}`;
  }
}

/** A longer query is rejected before parsing; real ones are a few hundred characters. */
const MAX_SELECTOR_LENGTH = 64 * 1024;

export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > MAX_SELECTOR_LENGTH)
    throw badRequest(`unable to parse requirement: the selector is longer than ${MAX_SELECTOR_LENGTH} characters`);
  const requirements = new SelectorParser(text).requirements();
  return requirements.length === 0 ? everything : { requirements };
}

/** Only these four are whitespace; any other is part of a word, and invalid there. */
const TOKEN = /[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+)/y;
const END = "";
const isWord = (token: string): boolean => token !== END && !/^[=!(),<>]/.test(token);

/** Parses a selector word by word. Its error messages are those of Kubernetes: `kubectl` shows them unchanged. */
class SelectorParser {
  readonly #tokens: string[] = [];
  #position = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match?.[1]; match = TOKEN.exec(text)) this.#tokens.push(match[1]);
  }

  requirements(): LabelRequirement[] {
    const found: LabelRequirement[] = [];
    if (this.#peek() !== END && !this.#startsRequirement())
      throw unexpected(this.#peek(), ", expected: !, identifier, or 'end of string'");
    while (this.#peek() !== END) {
      found.push(this.#requirement());
      const next = this.#next();
      if (next === END) break;
      if (next !== ",") throw unexpected(next, ", expected: ',' or 'end of string'");
      if (!this.#startsRequirement()) throw unexpected(this.#peek(), ", expected: identifier after ','");
    }
    return found;
  }

  #startsRequirement(): boolean {
    return this.#peek() === "!" || isWord(this.#peek());
  }

  /** An invalid requirement reports its own error. */
  #requirement(): LabelRequirement {
    try {
      const { key, operator, values } = this.#parts();
      return requirement(key, operator, values);
    } catch (error) {
      throw badRequest(`unable to parse requirement: ${messageOf(error)}`);
    }
  }

  #parts(): LabelRequirement {
    const isAbsent = this.#peek() === "!" && this.#next() === "!";
    const key = this.#word();
    const problems = labelKeyProblems(key);
    // Kubernetes has no field path here, and prints `<nil>`.
    if (problems.length > 0) throw badRequest(`<nil>: Invalid value: ${quoteText(key)}: ${problems.join("; ")}`);
    if (isAbsent) return { key, operator: "!exists", values: [] };
    if (this.#peek() === END || this.#peek() === ",") return { key, operator: "exists", values: [] };
    const operator = this.#next();
    switch (operator) {
      case "=":
      case "==":
        return { key, operator: "=", values: [this.#value()] };
      case "!=":
      case ">":
      case "<":
        return { key, operator, values: [this.#value()] };
      case "in":
      case "notin":
        return { key, operator, values: this.#values() };
      default:
        throw unexpected(operator, ", expected: in, notin, =, ==, !=, gt, lt");
    }
  }

  #peek(): string {
    return this.#tokens[this.#position] ?? END;
  }

  #next(): string {
    return this.#tokens[this.#position++] ?? END;
  }

  #word(): string {
    const token = this.#next();
    if (!isWord(token)) throw unexpected(token, ", expected: identifier");
    return token;
  }

  /** `key=` matches the empty value. */
  #value(): string {
    return this.#peek() === END || this.#peek() === "," ? "" : this.#word();
  }

  /** `(a,b)`. An empty item is the empty value. */
  #values(): string[] {
    const open = this.#next();
    if (open !== "(") throw unexpected(open, " expected: '('");
    const values = new Set<string>();
    if (this.#peek() !== ")" && this.#peek() !== "," && !isWord(this.#peek()))
      throw unexpected(this.#peek(), ", expected: ',', ')' or identifier");
    for (;;) {
      const token = this.#peek();
      if (token === ")" || token === ",") values.add("");
      else if (isWord(token)) values.add(this.#next());
      else throw unexpected(token, ", expected: ',', or identifier");
      const after = this.#next();
      if (after === ")") return [...values].sort(compareText);
      if (after !== ",") throw unexpected(after, ", expected: ',' or ')'");
    }
  }
}

const unexpected = (found: string, expected: string): Error => badRequest(`found '${found}'${expected}`);
