/** Rules that keep the tree readable and that no linter has: file size, names, enabled tests, no TODOs. */
import type { SourceFile } from "./sources.ts";

const MAX_LINES = 500;
/** The formatter keeps code within 120 columns; it does not break strings and comments. */
const MAX_COLUMNS = 160;
/** A regular expression and an import cannot be broken. */
const UNBROKEN = /^import |^\s*(?:(?:const )?\w+(?: =|:) )?\/[^\s/*].*\/[a-z]*[,;)]*$/;
/** Tables, generated facts, fixtures and the suites that define a whole contract may be long. */
const MAY_BE_LONG =
  /facts\/|testdata\/|test\/contract\/|\.test\.ts$|package-lock\.json|test\/golden\/|\.css$|\.md$|\.json$/;
const GENERIC_NAME = /(^|\/)(utils?|helpers?|common|misc)(\.ts|\/)/;
/** Beside its file; a suffix such as `.simulation` puts a test into another suite. */
const UNIT_TEST = /^(packages|tools)\/.*\/[a-z0-9-]+\.test\.ts$/;
const NOT_IN_A_UNIT_TEST =
  /from "(@flotilla\/testing\/(fleet|member|simulation|aggregated-server|webhook-server)\b|node:(child_process|http2?|https)")|\bcreateServer\b[^}]*\} from "node:(net|tls)"/;

/** Code that ships, except the page in the browser, which imports no package. */
const PRODUCT = /^packages\/(?!testing\/|web\/ui\/)(?!.*(?:\.test\.ts$|\/testdata\/|\/test-[a-z-]+\.ts$)).*\.ts$/;

/** Code that a person writes: generated tables may be wide. */
const WRITTEN = /^(?!.*(?:\/facts\/|\/testdata\/)).*\.tsx?$/;

const rules: ((file: SourceFile) => string | undefined)[] = [
  ({ path, text }) => {
    const lines = text.split("\n").length - 1;
    return lines > MAX_LINES && !MAY_BE_LONG.test(path)
      ? `has ${lines} lines; a file above ${MAX_LINES} lines usually contains two ideas`
      : undefined;
  },
  ({ path }) => (GENERIC_NAME.test(path) ? "has a generic name; name it after its idea" : undefined),
  ({ path }) =>
    path.startsWith("packages/") &&
    /\.tsx?$/.test(path) &&
    !/^[a-z0-9-]+(\.((contract|simulation|e2e)\.)?test|\.d)?\.tsx?$/.test(path.split("/").at(-1) ?? "")
      ? "is not kebab-case.ts"
      : undefined,
  ({ path, text }) =>
    path.startsWith("packages/") && /\b(TODO|FIXME|XXX)\b/.test(text)
      ? "contains TODO, FIXME or XXX: finish it or remove it"
      : undefined,
  ({ path, text }) =>
    path.endsWith(".test.ts") && /\b(it|test|describe)\.(only|todo)\b/.test(text)
      ? "contains .only or .todo"
      : undefined,
  ({ path, text }) =>
    UNIT_TEST.test(path) && NOT_IN_A_UNIT_TEST.test(text)
      ? "is a unit test that starts members, a fleet, a server or a process; name it NAME.simulation.test.ts, NAME.contract.test.ts or NAME.e2e.test.ts"
      : undefined,
  ({ path, text }) =>
    /\.tsx?$/.test(path) && /catch\s*(\([^)]*\))?\s*\{\s*\}|\.catch\(\(\)\s*=>\s*(\{\}|undefined|null)\)/.test(text)
      ? "swallows an error"
      : undefined,
  ({ path, text }) => {
    const found = /\.tsx?$/.test(path) ? conditionalSpread(text) : undefined;
    return found === undefined
      ? undefined
      : `has the conditional spread ${found}: an optional field may be undefined; where it must be absent, ` +
          "spread defined({ … }), omitZero({ … }) or omitEmpty({ … }), or a function that returns no fields";
  },
  ({ path, text }) => {
    const isTooWide = (line: string): boolean => line.length > MAX_COLUMNS && !UNBROKEN.test(line);
    const at = WRITTEN.test(path) ? text.split("\n").findIndex(isTooWide) : -1;
    return at < 0 ? undefined : `has more than ${MAX_COLUMNS} columns in line ${at + 1}; break the string`;
  },
  ({ path, text }) =>
    PRODUCT.test(path) && /(?:\bthrow |\breject\(|=>\s*)new Error\(/.test(text)
      ? "throws a plain Error: use a FlotillaError with a code of docs/reference/errors.md, or invariant(…) for a broken assumption"
      : undefined,
  ({ path, text }) =>
    /[ \t]+$/m.test(text) && /\.(tsx?|css|md|tpl)$/.test(path) ? "has trailing white space" : undefined,
  ({ text }) => (text !== "" && !text.endsWith("\n") ? "does not end with a line feed" : undefined),
];

/**
 * The first spread into an object that a condition can empty: `...(x && { … })`, `...(x && f())`, `...(x ? f() : {})`. A
 * choice between two objects with fields is none.
 */
function conditionalSpread(text: string): string | undefined {
  for (const { index } of text.matchAll(/\.\.\.\(/g)) {
    const end = closingAt(text, index + 3);
    const outer = outerText(text.slice(index + 4, end));
    const [value = ""] = outer.split(/ \? /);
    const isChoice = value !== outer;
    if (isChoice ? /[?:] ?(?:\{ ?\}|undefined\b)/.test(outer) : / && /.test(value))
      return text.slice(index, end + 1).replace(/\s+/g, " ");
  }
  return undefined;
}

const QUOTED = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/y;

/** The index of the bracket that closes the one at `start`. Brackets in strings do not count. */
function closingAt(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    QUOTED.lastIndex = at;
    const [quoted] = QUOTED.exec(text) ?? [];
    if (quoted !== undefined) at += quoted.length - 1;
    else if ("([{".includes(text[at] ?? "")) depth++;
    else if (")]}".includes(text[at] ?? "") && --depth === 0) return at;
  }
  return text.length;
}

/** The text of an expression without white space runs and without what its brackets contain: `a && {…}`, `f(…) ? {…} : {}`. */
function outerText(expression: string): string {
  let outer = "";
  for (let at = 0; at < expression.length; at++) {
    const character = expression[at] ?? "";
    outer += character;
    if (!"([{".includes(character)) continue;
    const end = closingAt(expression, at);
    outer += `${expression.slice(at + 1, end).trim() === "" ? "" : "…"}${expression[end] ?? ""}`;
    at = end;
  }
  return outer.replace(/\s+/g, " ");
}

export function checkTidy(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => !path.startsWith("tools/check/"))
    .flatMap((file) =>
      rules
        .map((rule) => rule(file))
        .filter((finding) => finding !== undefined)
        .map((finding) => `${file.path} ${finding}`),
    );
}
