/** Compares every import in `src` with the table in `tools/layers.ts`. */
import { posix } from "node:path";
import { layers, stages } from "../layers.ts";
import type { SourceFile } from "./sources.ts";

const IMPORT = /(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

export function checkLayers(sources: readonly SourceFile[]): string[] {
  return sources.filter(({ path }) => path.startsWith("src/") && path.endsWith(".ts")).flatMap(checkFile);
}

function checkFile({ path, text }: SourceFile): string[] {
  const findings: string[] = [];
  const isTest = path.endsWith(".test.ts");
  const [, from = "", inner = ""] = path.split("/");
  for (const [, specifier = ""] of text.matchAll(IMPORT)) {
    const target = posix.join(posix.dirname(path), specifier);
    const [top, to = "", innerTo = ""] = target.split("/");
    if (top !== "src") {
      if (!isTest) findings.push(`${path}: imports ${target}, which is outside src`);
      continue;
    }
    if (to === from) {
      if (from === "propagation" && !isTest) findings.push(...checkStage(path, inner, innerTo, target));
      continue;
    }
    const allowed = layers[from];
    if (!allowed) findings.push(`${path}: the directory ${from} is missing from tools/layers.ts`);
    else if (!isTest && !allowed.includes("*") && !allowed.includes(to))
      findings.push(`${path}: ${from} may not import ${to} (tools/layers.ts)`);
    if (!/\/index\.ts$|\.json$/.test(target))
      findings.push(`${path}: imports ${target}; import other directories through their index.ts`);
  }
  return findings;
}

/** Stages communicate through API objects: one may import another's pure functions only if the table allows it. */
function checkStage(path: string, from: string, to: string, target: string): string[] {
  if (from === to || to.endsWith(".ts") || from.endsWith(".ts")) return [];
  if (stages[from]?.includes(to)) return [];
  return [`${path}: the stage ${from} may not import the stage ${to} (${target})`];
}
