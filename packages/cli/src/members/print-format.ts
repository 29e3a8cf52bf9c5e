/** Parses `-o` of `flotilla get`. Pure. */
import { UsageError } from "@flotilla/base";
import { compileGoTemplate } from "./go-template.ts";
import { compilePath, compileTemplate, valueText } from "./json-path-template.ts";

interface CustomColumn {
  header: string;
  /** One cell; `<none>` for a missing value. */
  cell(object: unknown): string;
}

export type PrintFormat =
  | { as: "table"; isWide: boolean }
  | { as: "json" | "yaml" | "name" }
  | { as: "template"; render(object: unknown): string }
  | { as: "columns"; columns: readonly CustomColumn[] };

const PRINT_FORMATS = "table|wide|json|yaml|name|jsonpath=…|go-template=…|custom-columns=…";
const TEMPLATES = { "jsonpath=": compileTemplate, "go-template=": compileGoTemplate };
const COLUMNS = "custom-columns=";

/** Throws `UsageError` for an unknown format. */
export function readPrintFormat(text: string): PrintFormat {
  if (text === "table" || text === "wide") return { as: "table", isWide: text === "wide" };
  if (text === "json" || text === "yaml" || text === "name") return { as: text };
  for (const [prefix, compile] of Object.entries(TEMPLATES))
    if (text.startsWith(prefix)) return { as: "template", render: compile(text.slice(prefix.length)) };
  if (text.startsWith(COLUMNS)) return { as: "columns", columns: readColumns(text.slice(COLUMNS.length)) };
  throw new UsageError(`-o must be one of ${PRINT_FORMATS.replaceAll("|", ", ")}, not '${text}'`);
}

/** `NAME:.metadata.name,IMAGE:.spec.containers[*].image`; a path may have commas in brackets. */
function readColumns(text: string): CustomColumn[] {
  const parts = text.split(/,(?![^[(]*[\])])/);
  return parts.map((part) => {
    const colon = part.indexOf(":");
    const [header, path] = [part.slice(0, Math.max(colon, 0)), part.slice(colon + 1)];
    if (header === "" || path === "")
      throw new UsageError(`'${part}' is not a column: use HEADER:.path, separated by commas`);
    const follow = compilePath(asPath(path));
    return {
      header,
      cell(object) {
        const values = follow(object).map(valueText);
        return values.length > 0 ? values.join(",") : "<none>";
      },
    };
  });
}

/** `metadata.name`, `.metadata.name` and `{.metadata.name}` are the same. */
function asPath(text: string): string {
  const inner = text.startsWith("{") && text.endsWith("}") ? text.slice(1, -1) : text;
  return /^[.[$@]/.test(inner) ? inner : `.${inner}`;
}
