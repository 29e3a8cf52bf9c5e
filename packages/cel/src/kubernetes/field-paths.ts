/**
 * `fieldPath` of a rule: a path such as `.a.b['c']` relative to the rule's location, which must exist in the schema.
 */
import type { Schema } from "@flotilla/apimachinery";
import { NAMED_ESCAPES } from "@flotilla/apimachinery";

const ESCAPES: ReadonlyMap<string, string> = new Map([...NAMED_ESCAPES, ["'", "'"], ["\\", "\\"]]);

/** The path as messages show it and the schema at its end; undefined when it is invalid or does not exist. */
export function validFieldPath(text: string, root: Schema): { path: string; schema: Schema } | undefined {
  let [path, schema, position] = ["", root, 0];
  while (position < text.length) {
    const step = readStep(text, position);
    const below = step && stepInto(schema, step.name);
    if (!below) return undefined;
    path = below.isNamed ? (path === "" ? step.name : `${path}.${step.name}`) : `${path}[${step.name}]`;
    schema = below.schema;
    position = step.end;
  }
  return { path, schema };
}

function readStep(text: string, position: number): { name: string; end: number } | undefined {
  if (text[position] === ".") {
    const name = /^(?:'(?:[^'\\]|\\.)*'|[^.[\]]+)/.exec(text.slice(position + 1))?.[0];
    return name === undefined ? undefined : { name, end: position + 1 + name.length };
  }
  const quoted = text[position] === "[" ? /^\['((?:[^'\\]|\\.)*)'\]/s.exec(text.slice(position)) : null;
  if (!quoted) return undefined;
  let isFine = true;
  const name = (quoted[1] ?? "").replaceAll(/\\(.)/gs, (_, character: string) => {
    isFine &&= ESCAPES.has(character);
    return ESCAPES.get(character) ?? "";
  });
  return isFine ? { name, end: position + quoted[0].length } : undefined;
}

function stepInto(
  { properties, additionalProperties }: Schema,
  name: string,
): { schema: Schema; isNamed: boolean } | undefined {
  if (properties && Object.keys(properties).length > 0) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return schema && { schema, isNamed: true };
  }
  return typeof additionalProperties === "object" ? { schema: additionalProperties, isNamed: false } : undefined;
}
