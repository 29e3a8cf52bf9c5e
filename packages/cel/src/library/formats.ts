/** Named formats: `format.dns1123Label().validate(name)` returns the errors of a string, or none. */
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  formatCheck,
  labelKeyProblems,
  labelValueProblems,
} from "@flotilla/apimachinery";
import { ArrayList } from "../values/collections.ts";
import type { Row } from "../types/functions.ts";
import { type CelError, CelOpaque, CelOptional, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";
import { parseUrl } from "./urls.ts";

type Problems = (text: string) => readonly string[];

export class CelFormat extends CelOpaque {
  readonly typeName = "kubernetes.NamedFormat";
  readonly name: string;
  readonly problems: Problems;
  /** The pattern length that a check is charged for. */
  readonly patternSize: number;
  constructor(name: string, problems: Problems, patternSize: number) {
    super();
    this.name = name;
    this.problems = problems;
    this.patternSize = patternSize;
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof CelFormat ? this.name === other.name : NO_SUCH_OVERLOAD;
  }
}

/** Names that are followed by a suffix may end in a dash. */
const asPrefix =
  (problems: Problems): Problems =>
  (text) =>
    problems(text.length > 1 && text.endsWith("-") ? `${text.slice(0, -2)}a` : text);

const checked = (format: string, message: string): Problems => {
  const check = formatCheck(format);
  return (text) => (check?.(text) === false ? [message] : []);
};

const FORMATS: ReadonlyMap<string, CelFormat> = new Map(
  (
    [
      ["dns1123Label", dnsLabelProblems, 30],
      ["dns1123Subdomain", dnsSubdomainProblems, 60],
      ["dns1035Label", dns1035LabelProblems, 30],
      ["qualifiedName", labelKeyProblems, 60],
      ["dns1123LabelPrefix", asPrefix(dnsLabelProblems), 30],
      ["dns1123SubdomainPrefix", asPrefix(dnsSubdomainProblems), 60],
      ["dns1035LabelPrefix", asPrefix(dns1035LabelProblems), 30],
      ["labelValue", labelValueProblems, 40],
      ["uri", (text: string) => [parseUrl(text)].filter((found) => typeof found === "string"), 1103],
      ["uuid", checked("uuid", "does not match the UUID format"), 70],
      ["byte", checked("byte", "invalid base64"), 84],
      ["date", checked("date", "invalid date"), 71],
      ["datetime", checked("date-time", "invalid datetime"), 71],
    ] as const
  ).map(([name, problems, size]) => [name, new CelFormat(name, problems, size)]),
);

function validate(format: CelFormat, text: string): CelValue {
  const problems = format.problems(text);
  return problems.length === 0 ? CelOptional.none : new CelOptional(new ArrayList(problems));
}

function named(name: string): CelValue {
  const format = FORMATS.get(name);
  return format ? new CelOptional(format) : CelOptional.none;
}

export const formats: readonly Row[] = [
  ...Array.from(FORMATS, ([name, format]): Row => [`format.${name}`, `format.${name}`, "() -> Format", () => format]),
  ["format.named", "format-named", "(string) -> optional(Format)", named],
  ["validate", "format-validate", "Format.(string) -> optional(list(string))", validate],
];
