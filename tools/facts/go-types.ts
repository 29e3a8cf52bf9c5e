/**
 * Reads the type declarations of gofmt'ed Go files: struct fields with their tags and markers, named types and the string
 * constants of enumerations. Enough for API types, which are plain; this is no Go parser.
 */
export interface GoField {
  /** Empty for an embedded struct. */
  name: string;
  type: string;
  tags: Record<string, string>;
  /** `+listType=map` → `["listType", "map"]`; a marker without a value has an empty one. */
  markers: [string, string][];
}

export interface GoType {
  name: string;
  markers: [string, string][];
  /** Set for `type X struct`. */
  fields?: GoField[];
  /** Set for `type X string` and the like. */
  underlying?: string;
  /** The imports of the file that declares it, by the name used there. */
  imports: Record<string, string>;
}

export interface GoPackage {
  types: Map<string, GoType>;
  /** Values of typed string constants, by type name, in source order. */
  enums: Map<string, string[]>;
  /** String constants by their name. */
  constants: Map<string, string>;
}

export function readGoPackage(files: readonly string[]): GoPackage {
  const result: GoPackage = { types: new Map(), enums: new Map(), constants: new Map() };
  for (const text of files) readGoFile(text, result);
  return result;
}

function readGoFile(text: string, into: GoPackage): void {
  const lines = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").split("\n");
  const imports = readImports(text);
  let markers: [string, string][] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const comment = /^\s*\/\/ ?(.*)$/.exec(line);
    if (comment) {
      readMarker(comment[1] ?? "", markers);
      continue;
    }
    if (line.trim() === "") continue; // Markers may stand apart from the type by a blank line.

    const constant = /^(?:const)?\s+(\w+)\s+(?:(\w+)\s*)?=\s*"([^"]*)"/.exec(line);
    if (constant) {
      const [, name = "", type = "", value = ""] = constant;
      into.constants.set(name, value);
      const values = into.enums.get(type) ?? [];
      if (!values.includes(value)) values.push(value);
      into.enums.set(type, values);
    }

    const struct = /^type (\w+) struct ?\{(\})?$/.exec(line);
    const named = /^type (\w+) (?!struct\b|interface\b|func\b)=?\s*(\S+)\s*(?:\/\/.*)?$/.exec(line);
    if (struct?.[1]) {
      const fields: GoField[] = [];
      if (!struct[2]) index = readFields(lines, index + 1, fields);
      into.types.set(struct[1], { name: struct[1], markers, fields, imports });
    } else if (named?.[1] && named[2]) {
      into.types.set(named[1], { name: named[1], markers, underlying: named[2], imports });
    }
    markers = [];
  }
}

/** Reads up to the closing brace and returns its line. */
function readFields(lines: readonly string[], start: number, into: GoField[]): number {
  let markers: [string, string][] = [];
  let index = start;
  for (; lines[index] !== "}" && index < lines.length; index++) {
    const line = (lines[index] ?? "").trim();
    if (line.startsWith("//")) readMarker(line.replace(/^\/\/ ?/, ""), markers);
    else if (line !== "") {
      const field = /^(?:(\w+)\s+)?([*\w.[\]]+)(?:\s+`([^`]*)`)?\s*(?:\/\/.*)?$/.exec(line);
      // Internal structs hold functions and channels; those are an error only where a table needs them.
      into.push(
        field
          ? { name: field[1] ?? "", type: field[2] ?? "", tags: readTags(field[3] ?? ""), markers }
          : { name: line, type: "?", tags: {}, markers },
      );
      markers = [];
    }
  }
  return index;
}

function readMarker(comment: string, into: [string, string][]): void {
  const marker = /^\+([\w:]+)(?:=(.*))?$/.exec(comment.trim());
  if (marker?.[1]) into.push([marker[1], marker[2] ?? ""]);
}

function readTags(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/(\w+):"([^"]*)"/g), ([, name = "", value = ""]) => [name, value]),
  );
}

function readImports(text: string): Record<string, string> {
  const imports: Record<string, string> = {};
  const block = /^import \(\n([\s\S]*?)^\)/m.exec(text)?.[1] ?? /^import (.*)$/m.exec(text)?.[1] ?? "";
  for (const [, alias, path = ""] of block.matchAll(/(?:(\w+)\s+)?"([^"]+)"/g))
    imports[alias ?? path.slice(path.lastIndexOf("/") + 1)] = path;
  return imports;
}
