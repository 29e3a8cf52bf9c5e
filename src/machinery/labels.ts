/**
 * Label selectors: the text of a query (`app in (a,b),!old`) and the object of a spec (`matchLabels`) become one list of
 * requirements that is matched without allocating.
 *
 * `!=` and `notin` also match objects without the key. The empty selector matches everything, `nothing` matches nothing.
 */
import { messageOf } from "../base/index.ts";
import { labelKeyProblem, labelValueProblem } from "./names.ts";
import { badRequest } from "./status.ts";

export type LabelOperator = "=" | "!=" | "in" | "notin" | "exists" | "!exists" | ">" | "<";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** None for the existence checks, any number for `in` and `notin`, otherwise one; a whole number for `>` and `<`. */
  readonly values: readonly string[];
}

export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  readonly matchesNothing?: true;
}

/** A selector as specs state it: `metav1.LabelSelector`. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[] | undefined;
}

export const everything: LabelSelector = { requirements: [] };
export const nothing: LabelSelector = { requirements: [], matchesNothing: true };

const OPERATORS: Readonly<Record<string, LabelOperator>> = { In: "in", NotIn: "notin", Exists: "exists", DoesNotExist: "!exists" };

/** The selector of an object. An absent object selects nothing, an empty one everything, as Kubernetes has it. */
export function labelSelectorOf(object: LabelSelectorObject | null | undefined): LabelSelector {
  if (object === undefined || object === null) return nothing;
  const requirements: LabelRequirement[] = Object.entries(object.matchLabels ?? {}).map(([key, value]) => requirement(key, "=", [value]));
  for (const { key, operator, values } of object.matchExpressions ?? []) {
    const known = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (!known) throw badRequest(`"${operator}" is not a valid label selector operator`);
    requirements.push(requirement(key, known, values ?? []));
  }
  return requirements.length === 0 ? everything : { requirements };
}

function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const keyProblem = labelKeyProblem(key);
  if (keyProblem) throw badRequest(`key: Invalid value: ${JSON.stringify(key)}: ${keyProblem}`);
  if ((operator === "in" || operator === "notin") && values.length === 0) throw badRequest("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
  if ((operator === "exists" || operator === "!exists") && values.length > 0) throw badRequest("values: Invalid value: values set must be empty for exists and does not exist");
  if ((operator === ">" || operator === "<") && !isWhole(values[0])) throw badRequest(`values[0]: Invalid value: ${JSON.stringify(values[0] ?? "")}: for 'Gt', 'Lt' operators, the value must be an integer`);
  for (const [index, value] of values.entries()) {
    const problem = labelValueProblem(value);
    if (problem) throw badRequest(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problem}`);
  }
  return { key, operator, values };
}

const isWhole = (value: string | undefined): boolean => value !== undefined && /^-?\d{1,19}$/.test(value);

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
      return value !== undefined && isWhole(value) && (operator === ">" ? BigInt(value) > BigInt(values[0] ?? "") : BigInt(value) < BigInt(values[0] ?? ""));
  }
}

/** The text form, sorted by key, as `status.labelSelector` and `status.selector` of a scale hold it. */
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

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A query longer than this is refused before it is read; real ones are a few hundred characters. */
const MAX_SELECTOR_LENGTH = 64 * 1024;

export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > MAX_SELECTOR_LENGTH) throw badRequest(`unable to parse requirement: the selector is longer than ${MAX_SELECTOR_LENGTH} characters`);
  const parser = new SelectorParser(text);
  const requirements: LabelRequirement[] = [];
  while (!parser.atEnd()) {
    const { key, operator, values } = parser.requirement();
    requirements.push(checked(key, operator, values));
    if (!parser.atEnd()) parser.expectComma();
  }
  return requirements.length === 0 ? everything : { requirements };
}

/** What is wrong with a requirement is a mistake in the text here. */
function checked(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  try {
    return requirement(key, operator, values);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${messageOf(error)}`);
  }
}

const TOKEN = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)/y;

class SelectorParser {
  private readonly tokens: string[] = [];
  private position = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match?.[1]; match = TOKEN.exec(text)) this.tokens.push(match[1]);
  }

  atEnd(): boolean {
    return this.position >= this.tokens.length;
  }

  requirement(): LabelRequirement {
    if (this.take("!")) return { key: this.word("identifier"), operator: "!exists", values: [] };
    const key = this.word("identifier");
    if (this.atEnd() || this.peek() === ",") return { key, operator: "exists", values: [] };
    if (this.take("=") || this.take("==")) return { key, operator: "=", values: [this.value()] };
    for (const operator of ["!=", ">", "<"] as const) if (this.take(operator)) return { key, operator, values: [this.value()] };
    for (const operator of ["in", "notin"] as const) if (this.take(operator)) return { key, operator, values: this.values() };
    throw badRequest(`unable to parse requirement: found '${this.peek()}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  expectComma(): void {
    if (!this.take(",")) throw badRequest(`unable to parse requirement: found '${this.peek()}', expected: ',' or 'end of string'`);
    if (this.atEnd()) throw badRequest("unable to parse requirement: found '', expected: identifier after ','");
  }

  private peek(): string {
    return this.tokens[this.position] ?? "";
  }

  private take(token: string): boolean {
    if (this.peek() !== token) return false;
    this.position += 1;
    return true;
  }

  private word(what: string): string {
    const token = this.peek();
    if (token === "" || /^[=!(),<>]/.test(token)) throw badRequest(`unable to parse requirement: found '${token}', expected: ${what}`);
    this.position += 1;
    return token;
  }

  /** `key=` asks for the empty value. */
  private value(): string {
    return this.atEnd() || this.peek() === "," ? "" : this.word("identifier");
  }

  private values(): string[] {
    if (!this.take("(")) throw badRequest(`unable to parse requirement: found '${this.peek()}' expected: '('`);
    const values = new Set<string>();
    while (!this.take(")")) {
      values.add(this.peek() === "," || this.peek() === ")" ? "" : this.word("',', ')' or identifier"));
      if (this.peek() !== ")" && !this.take(",")) throw badRequest(`unable to parse requirement: found '${this.peek()}', expected: ',' or ')'`);
      else if (this.tokens[this.position - 1] === "," && this.peek() === ")") values.add("");
    }
    return [...values].sort(compareText);
  }
}
