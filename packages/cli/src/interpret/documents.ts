/** Splits YAML and JSON files into documents, with the positions of the documents and their scripts. */
import type { Json } from "@flotilla/base";
import { ApiError, parseYaml, walkYaml, type YamlNode } from "@flotilla/apimachinery";
import { ScriptText } from "./script-text.ts";
import { SourceError } from "./sources.ts";
import type { Source } from "./sources.ts";

export interface Document {
  readonly value: Json;
  /** The name of the file. */
  readonly file: string;
  /** Its first line with text, counted from 1. */
  readonly line: number;
  /** Scripts in block scalars, by the path of their field: `spec.customizations.retention.luaScript`. */
  readonly scripts: ReadonlyMap<string, ScriptText>;
}

/** A line that ends a document, as kubectl splits files: the rest of the line is dropped. */
const SEPARATOR = /^---.*$/m;

/** All documents of a text except empty ones. */
export function readDocuments({ name, text }: Source): Document[] {
  const normal = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const documents: Document[] = [];
  let line = 1;
  for (const part of normal.split(SEPARATOR)) {
    const document = readDocument(name, part, line);
    if (document) documents.push(document);
    line += part.split("\n").length - 1;
  }
  return documents;
}

function readDocument(file: string, part: string, line: number): Document | undefined {
  if (firstTextLine(part) === 0) return undefined;
  const { value, text } = parseAsGo(file, part, line - 1);
  if (value === null) return undefined;
  return {
    value,
    file,
    line: line - 1 + firstTextLine(text),
    scripts: part.includes("luaScript") ? scriptsOf(file, text, line - 1) : new Map<string, ScriptText>(),
  };
}

/** More indentation than any line of a quoted string needs. */
const INDENTATION = " ".repeat(256);
const MAX_REPAIRS = 100;

/**
 * Go's parser accepts quoted strings and flow collections whose continuation lines are indented too little, and
 * existing files rely on it. Leading spaces have no meaning there, so such a line gets more of them. Throws
 * `SourceError`, with the line of the file that the text is `linesBefore` lines into.
 */
function parseAsGo(file: string, given: string, linesBefore: number): { value: Json; text: string } {
  let text = given;
  for (let repairs = 0; ; repairs++) {
    try {
      return { value: parseYaml(text), text };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const line = /line (\d+): deficient indentation$/.exec(error.message)?.[1];
      if (line === undefined || repairs === MAX_REPAIRS) {
        throw new SourceError(
          `reading ${file}: ${error.message.replace(/\bline (\d+):/, (_found, counted: string) => `line ${Number(counted) + linesBefore}:`)}`,
        );
      }
      const lines = text.split("\n");
      text = lines.with(Number(line) - 1, INDENTATION + (lines[Number(line) - 1] ?? "")).join("\n");
    }
  }
}

/** Counted from 1; 0 if the text has only comments. */
const firstTextLine = (text: string): number =>
  text.split("\n").findIndex((line) => line.trim() !== "" && !line.trimStart().startsWith("#")) + 1;

/** Scripts in anchors, aliases and quoted strings have no position here; they still run. */
function scriptsOf(file: string, text: string, linesBefore: number): Map<string, ScriptText> {
  const scripts = new Map<string, ScriptText>();
  const lines = text.split("\n");
  let line = 0;
  let counted = 0;
  for (const { kind, path, block, value } of walkYaml(text)) {
    if (kind !== "scalar" || !block || path.at(-1) !== "luaScript") continue;
    for (; counted < block.start; line++) counted += (lines[line]?.length ?? 0) + 1;
    const height = text.slice(block.start, block.end).split("\n").length;
    scripts.set(
      dotted(path),
      new ScriptText(value(), {
        file,
        lines: lines.slice(line, line + height),
        firstLine: linesBefore + line + 1,
        indent: block.indent,
      }),
    );
  }
  return scripts;
}

/** Lists count as `[]`: `items[].spec.luaScript`. */
const dotted = (path: YamlNode["path"]): string =>
  path.map((part, index) => (typeof part === "number" ? "[]" : index === 0 ? part : `.${part}`)).join("");
