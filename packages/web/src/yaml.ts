/** Writes an object as YAML, the way kubectl does: block style, keys in their order. Reading is the server's. Pure. */
export function formatYaml(value: unknown): string {
  return `${lines(value, "").join("\n")}\n`;
}

function lines(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${indent}[]`];
    return value.flatMap((item: unknown) => {
      const inner = lines(item, `${indent}  `);
      const [first = "", ...rest] = inner;
      return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest];
    });
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    if (entries.length === 0) return [`${indent}{}`];
    return entries.flatMap(([key, each]: [string, unknown]) => {
      const name = `${indent}${scalar(key)}:`;
      if (isEmpty(each)) return [`${name} ${Array.isArray(each) ? "[]" : "{}"}`];
      if (typeof each === "object" && each !== null) {
        // Lists stand below their key without further indentation.
        return [name, ...lines(each, Array.isArray(each) ? indent : `${indent}  `)];
      }
      if (typeof each === "string" && each.includes("\n") && !/[\t\r]|[^\S\n]\n|^\s/.test(each))
        return [
          `${name} ${each.endsWith("\n") ? "|" : "|-"}`,
          ...each
            .replace(/\n$/, "")
            .split("\n")
            .map((line) => (line === "" ? "" : `${indent}  ${line}`)),
        ];
      return [`${name} ${scalar(each)}`];
    });
  }
  return [`${indent}${scalar(value)}`];
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0);

/** A word that is certainly a text for every YAML reader; everything else is quoted as JSON, which is YAML. */
const PLAIN = /^[A-Za-z/][\w./@-]*(?: [\w./@-]+)*$/;
const WORDS = /^(?:true|false|yes|no|on|off|y|n|null|nan|inf)$/i;

function scalar(value: unknown): string {
  if (typeof value === "string") return PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? "null";
}
