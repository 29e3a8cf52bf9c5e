/**
 * Exports that knip cannot find: of files that are loaded by `import("…")`, where it counts every export as used, and
 * of names that only tests and tools use. Pure.
 */
import { posix } from "node:path";
import type { SourceFile } from "./sources.ts";

const PRODUCT = /^packages\/(?!testing\/)[^/]+\/(?:src|ui)\/.*\.tsx?$/;
const FOR_TESTS = /\.test\.ts$|\/testdata\/|\/test-[a-z-]+\.ts$|\.stories\.tsx?$/;
/** Tables that are generated from published types have all of these, whether a kind uses them or not. */
const GENERATED = /\/facts\/|\.d\.ts$/;

const EXPORTED = /^export (?:async )?(?:function\*?|const|let|class|abstract class|interface|type|enum) ([\w$]+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\};?$/gm;
const STATIC_IMPORT = /(?:import|export)\s+(?:type\s+)?([^;"']*?)\s*from\s*["'](\.{1,2}\/[^"']+)["']/g;
const LAZY_IMPORT = /\bimport\(\s*["'](\.{1,2}\/[^"']+)["']\s*\)/g;
const FROM_ANYWHERE = /^(?:import|export)\s+(?:type\s+)?[^;"']*?\s*from\s*["'][^"']+["'];?/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

/** Exports of products that are for tests and tools, each with the reason why it is there. */
const FOR_OTHERS: Readonly<Record<string, string>> = {
  createFakeClock: "the clock of every test, beside the real one whose contract it shares",
  otherWriters: "a part of the table of stages, which is compared with a running fleet",
  metricsPages: "the source of docs/reference/metrics.md",
  kindAdmissions: "test servers admit what `flotilla up` admits",
  createWorkloadControllers: "test members run the controllers of simulated members",
  CloneSetV1alpha1: "the type of an old version, for clients that write it",
};

export function checkUnusedExports(sources: readonly SourceFile[]): string[] {
  const code = sources.filter(({ path }) => /\.tsx?$/.test(path) && !GENERATED.test(path));
  return [...checkLazyFiles(code), ...checkUses(code)].toSorted();
}

/** Exports of lazily loaded files that no other file names. */
function checkLazyFiles(code: readonly SourceFile[]): string[] {
  const named = new Map<string, Set<string>>();
  const lazy = new Map<string, SourceFile[]>();
  for (const file of code) {
    const resolve = (specifier: string): string => posix.join(posix.dirname(file.path), specifier);
    for (const [, names = "", specifier = ""] of file.text.matchAll(STATIC_IMPORT)) {
      const target = resolve(specifier);
      const known = named.get(target) ?? new Set();
      for (const name of names.includes("*") ? ["*"] : wordsOf(names)) known.add(name);
      named.set(target, known);
    }
    for (const [, specifier = ""] of file.text.matchAll(LAZY_IMPORT)) {
      const target = resolve(specifier);
      lazy.set(target, [...(lazy.get(target) ?? []), file]);
    }
  }
  return code.flatMap((file) => {
    const loaders = lazy.get(file.path);
    if (!loaders || !PRODUCT.test(file.path)) return [];
    const names = named.get(file.path);
    const words = new Set(loaders.flatMap(({ text }) => wordsOf(text)));
    return exportsOf(file.text)
      .filter((name) => !names?.has(name) && !names?.has("*") && !words.has(name))
      .map((name) => `${file.path}: no other file imports ${name}`);
  });
}

/** Exports of product code that no product code uses, not even their own file. */
function checkUses(code: readonly SourceFile[]): string[] {
  const product = code.filter(({ path }) => PRODUCT.test(path) && !FOR_TESTS.test(path));
  const uses = new Map<string, number>();
  const renamed = new Set<string>();
  for (const { text } of product) {
    for (const [, name = ""] of text.matchAll(/\b([\w$]+) as [\w$]+/g)) renamed.add(name);
    for (const word of wordsOf(text.replace(COMMENT, "").replace(FROM_ANYWHERE, "").replace(LISTED, "")))
      uses.set(word, (uses.get(word) ?? 0) + 1);
  }
  return product.flatMap(({ path, text }) =>
    exportsOf(text)
      .filter((name) => (uses.get(name) ?? 0) <= 1 && !renamed.has(name) && !Object.hasOwn(FOR_OTHERS, name))
      .map((name) => `${path}: only tests or tools use ${name}`),
  );
}

function exportsOf(text: string): string[] {
  const declared = Array.from(text.matchAll(EXPORTED), ([, name = ""]) => name);
  const listed = Array.from(text.matchAll(LISTED), ([, names = ""]) =>
    names.split(",").map((name) =>
      name
        .trim()
        .replace(/^type /, "")
        .replace(/^.* as /, ""),
    ),
  );
  return [...declared, ...listed.flat().filter((name) => name !== "")];
}

const wordsOf = (text: string): string[] => text.match(/[\w$]+/g) ?? [];
