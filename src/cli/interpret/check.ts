/**
 * `--check`: does every script compile, and would the hub take the customization? The table is karmadactl's; what it cannot say
 * (the place in the file, warnings) comes beside it.
 */
import type { Json } from "../../base/index.ts";
import { compileScript, LuaSyntaxError } from "../../interpreter/index.ts";
import type { Operation } from "../../interpreter/index.ts";
import { isCustomization, kindText, nameOf, scriptOf, scriptTextOf, targetOf } from "./customizations.ts";
import type { Manifest } from "./customizations.ts";
import { withPlace } from "./rule-book.ts";
import { RULES } from "./rules.ts";
import { alignTabs } from "./tab-writer.ts";

export interface CheckedRule {
  operation: Operation;
  state: "PASS" | "UNSET" | "ERROR";
  message?: string;
}

export interface CheckedManifest {
  source: string;
  /** Why it is no customization that can be looked at. */
  problem?: string;
  target?: { apiVersion: string; kind: string };
  rules: CheckedRule[];
  /** Each error with its place and the line of the file. */
  details: string[];
  warnings: string[];
}

export const hasFailed = ({ problem, details }: CheckedManifest): boolean => problem !== undefined || details.length > 0;

export function checkManifest(manifest: Manifest): CheckedManifest {
  const checked: CheckedManifest = { source: nameOf(manifest), rules: [], details: [], warnings: [] };
  if (!isCustomization(manifest)) return { ...checked, problem: `not a ResourceInterpreterCustomization, got ${kindText(manifest)}` };
  const target = targetOf(manifest);
  if (target.kind === "") return { ...checked, problem: "target.kind no set" };
  if (target.apiVersion === "") return { ...checked, problem: "target.apiVersion no set" };
  checked.target = target;
  for (const { operation } of RULES) {
    const source = scriptOf(manifest, operation);
    checked.rules.push(source === "" ? { operation, state: "UNSET" } : checkScript(manifest, operation, source, checked.details));
  }
  return checked;
}

function checkScript(manifest: Manifest, operation: Operation, source: string, details: string[]): CheckedRule {
  try {
    compileScript(source);
    return { operation, state: "PASS" };
  } catch (error) {
    if (!(error instanceof LuaSyntaxError)) throw error;
    const message = error.message.trim();
    const script = scriptTextOf(manifest, operation);
    details.push(script ? withPlace(`${operation}: ${message}`, error, script) : `${manifest.file}: ${operation} of ${nameOf(manifest)}: ${message}`);
    return { operation, state: "ERROR", message };
  }
}

export function renderChecks(checks: readonly CheckedManifest[]): string {
  const lines = checks.flatMap(({ source, problem, target, rules }) => [
    "-----------------------------------",
    `SOURCE: ${source}`,
    ...(problem === undefined ? [] : [problem]),
    ...(target ? [`TARGET: ${target.apiVersion} ${target.kind}\t`, "RULERS:"] : []),
    ...rules.map(({ operation, state, message }) => `    ${operation}:\t${state === "ERROR" ? `ERROR: ${message ?? ""}\t` : state}`),
  ]);
  return alignTabs(lines).join("\n");
}

export const checkData = (checks: readonly CheckedManifest[]): Json => ({ customizations: checks as unknown as Json });
