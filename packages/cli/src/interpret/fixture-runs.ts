/** Runs fixtures and reports which pass, with the differences of the others. */
import { FlotillaError, messageOf, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { compareResult, renderDifferences } from "./compare-result.ts";
import type { Difference } from "./compare-result.ts";
import type { Fixture } from "./fixtures.ts";
import type { RuleBook } from "./rule-book.ts";
import { runRule } from "./run-rule.ts";

export interface Outcome {
  fixture: Fixture;
  differences: readonly Difference[];
  /** Why there is no result, or no failure where one is expected. */
  problem: string | undefined;
}

export const hasPassed = ({ differences, problem }: Outcome): boolean =>
  differences.length === 0 && problem === undefined;

export async function runFixture(fixture: Fixture, rules: RuleBook): Promise<Outcome> {
  const { operation, input, wantError } = fixture;
  try {
    const { results } = await runRule(rules, operation, input);
    if (wantError !== undefined)
      return {
        fixture,
        differences: [],
        problem: `want an error with ${JSON.stringify(wantError)}, have ${JSON.stringify(Object.fromEntries(results.map(({ name, value }) => [name, value])))}`,
      };
    return {
      fixture,
      differences: differencesOf(fixture.want, new Map(results.map(({ name, value }) => [name, value]))),
      problem: undefined,
    };
  } catch (error) {
    // Any error of another type is a bug, not the outcome of a case.
    if (!(error instanceof FlotillaError)) throw error;
    const message = messageOf(error);
    if (wantError !== undefined && message.includes(wantError)) return { fixture, differences: [], problem: undefined };
    const expected = wantError === undefined ? "" : `want an error with ${JSON.stringify(wantError)}, have another: `;
    return { fixture, differences: [], problem: `${expected}${rules.explain(error, operation, input)}` };
  }
}

/** An expected name that the operation does not return is a difference too; otherwise it would never be compared. */
function differencesOf(want: Fixture["want"], have: ReadonlyMap<string, Json>): Difference[] {
  return Object.entries(want).flatMap(([name, wanted]) => compareResult(name, wanted, have.get(name)));
}

export function renderOutcome(outcome: Outcome): string {
  const { fixture, differences, problem } = outcome;
  const head = `${hasPassed(outcome) ? "PASS" : "FAIL"}  ${fixture.file}:${fixture.line}  ${fixture.operation}  ${fixture.name}`;
  const lines = [
    ...(problem === undefined ? [] : problem.split("\n").map((line) => `      ${line}`)),
    ...renderDifferences(differences, "      "),
  ];
  return [head, ...lines].join("\n");
}

export const renderSummary = (passed: number, failed: number): string => `${passed} passed, ${failed} failed`;

export function outcomeData(outcome: Outcome): JsonObject {
  const { fixture, differences, problem } = outcome;
  const { name, file, line, operation } = fixture;
  return {
    name,
    file,
    line,
    operation,
    passed: hasPassed(outcome),
    ...defined({ problem, differences: differences.length > 0 ? (differences as unknown as Json) : undefined }),
  };
}
