/**
 * Two small expression languages: `when` compares strings and numbers, `depends` refers to the results of other tasks.
 */
import { WorkflowProblem } from "./variables.ts";

/** No realistic expression is longer. */
const MAX_LENGTH = 1024;
const COMPARISON = /^\s*("[^"]*"|'[^']*'|[^\s=!<>&|()]*)\s*(==|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|[^\s=!<>&|()]*)\s*$/;

/** Whether a step runs. Comparisons joined by `&&` and `||`; `&&` binds tighter. Variables are already substituted. */
export function isWhen(text: string): boolean {
  if (text.length > MAX_LENGTH)
    throw new WorkflowProblem(`Invalid 'when' expression: longer than ${MAX_LENGTH} characters`);
  return text.split("||").some((alternative) => alternative.split("&&").every((part) => compare(part, text)));
}

function compare(part: string, whole: string): boolean {
  const literal = part.trim();
  if (literal === "true" || literal === "false") return literal === "true";
  const [, left, operator, right] = COMPARISON.exec(part) ?? [];
  if (left === undefined || right === undefined)
    throw new WorkflowProblem(
      `Invalid 'when' expression '${whole}': only comparisons joined by && and || are supported`,
    );
  const [a, b] = [unquoted(left), unquoted(right)];
  if (operator === "==") return a === b;
  if (operator === "!=") return a !== b;
  const [x, y] = [Number(a), Number(b)];
  const difference =
    a !== "" && b !== "" && Number.isFinite(x) && Number.isFinite(y) ? x - y : a < b ? -1 : Number(a > b);
  return operator === "<"
    ? difference < 0
    : operator === "<="
      ? difference <= 0
      : operator === ">"
        ? difference > 0
        : difference >= 0;
}

const unquoted = (text: string): string => (/^(".*"|'.*')$/.test(text) ? text.slice(1, -1) : text);

/** The tasks in a `depends` expression. */
export function tasksIn(depends: string): string[] {
  return [
    ...new Set(Array.from(depends.matchAll(/[A-Za-z0-9_-]+(\.[A-Za-z]+)?/g), ([word]) => word.split(".")[0] ?? "")),
  ];
}

/**
 * Whether a `depends` expression holds; `ended` reports whether a task ended, with an optional result (`build.Failed`).
 */
export function holds(depends: string, ended: (task: string, result: string | undefined) => boolean): boolean {
  if (depends.length > MAX_LENGTH) throw new WorkflowProblem(`invalid depends: longer than ${MAX_LENGTH} characters`);
  const tokens = depends.match(/&&|\|\||[!()]|[A-Za-z0-9_-]+(?:\.[A-Za-z]+)?|\S/g) ?? [];
  let place = 0;
  const fail = (): never => {
    throw new WorkflowProblem(
      `invalid depends '${depends}': ${tokens[place] === undefined ? "unexpected end" : `unexpected '${tokens[place]}'`}`,
    );
  };
  // Every operand is parsed even if the result is already known, so that errors are found.
  const either = (): boolean => {
    let result = both();
    while (tokens[place] === "||") {
      place++;
      result = both() || result;
    }
    return result;
  };
  const both = (): boolean => {
    let result = single();
    while (tokens[place] === "&&") {
      place++;
      result = single() && result;
    }
    return result;
  };
  const single = (): boolean => {
    const token = tokens[place++];
    if (token === "!") return !single();
    if (token === "(") {
      const result = either();
      if (tokens[place++] !== ")") {
        place--;
        fail();
      }
      return result;
    }
    const [task = "", outcome] = token?.split(".") ?? [];
    if (!/^[A-Za-z0-9_-]+$/.test(task)) {
      place--;
      return fail();
    }
    return ended(task, outcome);
  };
  const result = either();
  return place === tokens.length ? result : fail();
}
