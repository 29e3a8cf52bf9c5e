/** Field selectors (`metadata.name=a,status.phase!=Running`). The API server defines the supported paths of a kind. */
import { compareText } from "@flotilla/base";
import { badRequest } from "../status.ts";

export interface FieldRequirement {
  path: string;
  op: "=" | "!=";
  value: string;
}

/** Parses a field selector. `\\`, `\,` and `\=` are escapes in a value. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return (
    splitTerms(text)
      .filter((term) => term !== "")
      // In the order of Kubernetes, which determines the first reported error.
      .sort(compareText)
      .map((term) => parseTerm(term, text))
      // An empty term is ignored.
      .filter(({ path, value }) => path !== "" || value !== "")
  );
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === ",") {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function parseTerm(term: string, selector: string): FieldRequirement {
  const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
  if (!match) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  const [, path = "", operator, value = ""] = match;
  return { path, op: operator === "!=" ? "!=" : "=", value: unescapeValue(value) };
}

function unescapeValue(value: string): string {
  return value.replaceAll(/\\(.?)|[,=]/gsu, (found: string, escaped: string | undefined) => {
    if (escaped === undefined)
      throw badRequest(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`);
    if (escaped !== "\\" && escaped !== "," && escaped !== "=")
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    return escaped;
  });
}
