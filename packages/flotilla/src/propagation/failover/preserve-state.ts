/**
 * State that the new copy of a resource needs from the old one: values of the old status, as labels. Pure.
 *
 * A rule's path is a template in the syntax of kubectl's `-o jsonpath`: text, and paths in braces. Karmada prints a
 * path without braces literally; here it is evaluated as a path, as intended.
 */
import { messageOf, type DeepReadonly } from "@flotilla/base";
import { ApiError, compileJsonPath, labelValueProblems } from "@flotilla/apimachinery";

export type StateRule = DeepReadonly<{ aliasLabelName: string; jsonPath: string }>;

/** Why the state cannot be preserved; the resource stays until it can. */
export type PreservedState = { labels: Record<string, string> } | { problem: string };

export function preserveState(rules: readonly StateRule[], status: unknown): PreservedState {
  if (status === undefined || status === null)
    return { problem: "its status has not been collected yet, and state must be preserved" };
  const labels = new Map<string, string>();
  for (const { aliasLabelName, jsonPath } of rules) {
    const value = valueOf(jsonPath, status);
    if ("problem" in value) return { problem: `the state ${aliasLabelName} cannot be preserved: ${value.problem}` };
    const [problem] = labelValueProblems(value.text);
    if (problem !== undefined)
      return {
        problem: `the state ${aliasLabelName} cannot be preserved: ${JSON.stringify(value.text.slice(0, 100))} cannot be a label: ${problem}`,
      };
    labels.set(aliasLabelName, value.text);
  }
  return { labels: Object.fromEntries(labels) };
}

type Value = { text: string } | { problem: string };

function valueOf(template: string, status: unknown): Value {
  let text = "";
  for (const part of template.includes("{") ? partsOf(template) : [{ path: template }]) {
    if ("literal" in part) text += part.literal;
    else {
      const found = follow(part.path, status);
      if ("problem" in found) return found;
      text += found.text;
    }
  }
  return { text };
}

function follow(path: string, status: unknown): Value {
  try {
    const values = compileJsonPath(path)(status);
    return values.length > 0 ? { text: values.map(printed).join(" ") } : { problem: `${path} is not in its status` };
  } catch (error) {
    if (error instanceof ApiError) return { problem: messageOf(error) };
    throw error;
  }
}

/** Strings verbatim, everything else as JSON. */
function printed(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Alternating text and paths. A brace in quotation marks belongs to its path. */
function partsOf(template: string): ({ literal: string } | { path: string })[] {
  const parts: ({ literal: string } | { path: string })[] = [];
  for (const [, literal, path] of template.matchAll(/([^{]+)|\{((?:"[^"]*"|'[^']*'|[^{}"'])*)\}?/g)) {
    if (literal !== undefined) parts.push({ literal });
    else parts.push({ path: path ?? "" });
  }
  return parts;
}
