/** Runs checks in parallel, each with its own time limit. */
import { FlotillaError, messageOf, defined } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { verdictOf } from "./doctor-check.ts";
import type { DoctorCheck, DoctorFinding, Judgement, Moment, Verdict } from "./doctor-check.ts";
import type { DoctorContext } from "./context.ts";

export interface CheckResult {
  name: string;
  verdict: Verdict;
  seen: string;
  findings: readonly DoctorFinding[];
  unseen: readonly string[];
}

export interface DoctorReport {
  server: string;
  checks: CheckResult[];
  problems: number;
  warnings: number;
  /** Checks that could not run, or not completely. */
  unknown: number;
}

/** Per check; further findings are counted. */
const MAX_FINDINGS = 20;

export async function runChecks(
  checks: readonly DoctorCheck[],
  given: Omit<DoctorContext, "checks">,
  { stuckAfterMs, limitMs }: { stuckAfterMs: number; limitMs: number },
): Promise<DoctorReport> {
  const context: DoctorContext = { ...given, checks: new Set(checks.map(({ name }) => name)) };
  const results = await Promise.all(
    checks.map(async (check) => runCheck(check, context, limitMs, { nowMs: context.clock.now(), stuckAfterMs })),
  );
  const all = results.flatMap(({ findings }) => findings);
  return {
    server: context.server,
    checks: results.map((result) => ({
      ...result,
      findings: result.findings.slice(0, MAX_FINDINGS),
      ...defined({
        unseen:
          result.findings.length > MAX_FINDINGS
            ? [...result.unseen, `${result.findings.length - MAX_FINDINGS} more findings are not shown`]
            : undefined,
      }),
    })),
    problems: all.filter(({ severity }) => severity === "problem").length,
    warnings: all.filter(({ severity }) => severity === "warning").length,
    unknown: results.filter(({ verdict, unseen }) => verdict === "unknown" || unseen.length > 0).length,
  };
}

async function runCheck(
  check: DoctorCheck,
  context: DoctorContext,
  limitMs: number,
  now: Moment,
): Promise<CheckResult> {
  const ending = new AbortController();
  const signal = AbortSignal.any([context.signal, ending.signal]);
  const late = Promise.withResolvers<never>();
  const timer = context.clock.after(limitMs, () => {
    const error = new FlotillaError("NoAnswer", `it took longer than ${limitMs / 1000} s`);
    ending.abort(error);
    late.reject(error);
  });
  try {
    return resultOf(check, await Promise.race([check.run({ ...context, signal }, now), late.promise]));
  } catch (error) {
    context.signal.throwIfAborted();
    // Members are reached through the hub, which itself reports when one does not respond. The hub check reports the
    // reason.
    const reason = isUnreachable(error) ? "the hub does not respond" : messageOf(error).replaceAll(/\s+/g, " ");
    return { name: check.name, verdict: "unknown", seen: reason, findings: [], unseen: [] };
  } finally {
    timer.cancel();
  }
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof Error && isUnreachable(error.cause));

function resultOf({ name }: DoctorCheck, judgement: Judgement): CheckResult {
  const { seen, findings, unseen = [], skipped } = judgement;
  const alike = mergeAlike(findings);
  const worstFirst = [
    ...alike.filter(({ severity }) => severity === "problem"),
    ...alike.filter(({ severity }) => severity === "warning"),
  ];
  return { name, verdict: verdictOf(judgement), seen: skipped ?? seen, findings: worstFirst, unseen };
}

/** Findings with the same fix are merged: one unreachable member blocks hundreds of Works. */
function mergeAlike(findings: readonly DoctorFinding[]): DoctorFinding[] {
  const groups = Map.groupBy(findings, ({ severity, fix, commands }) => JSON.stringify([severity, fix, commands]));
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first || others.length === 0) return first ?? [];
    const more = new Set([first, ...others].map(({ about }) => about)).size - 1;
    return {
      ...first,
      about: more === 0 ? first.about : `${first.about} and ${more} more`,
      seen: seenOf(first, others),
    };
  });
}

/** Causes of other findings that are named beside that of the first. */
const MAX_OTHER_CAUSES = 2;

/** The same fix does not mean the same cause: two members may reject an object for different reasons. */
function seenOf(first: DoctorFinding, others: readonly DoctorFinding[]): string {
  // How long something lasts is not a difference.
  const causeOf = ({ seen }: DoctorFinding): string => seen.replaceAll(/\bfor \d+\w*/g, "");
  const causes = new Map(others.map((other) => [causeOf(other), other]));
  causes.delete(causeOf(first));
  const named = [...causes.values()]
    .slice(0, MAX_OTHER_CAUSES)
    .map(({ about, seen }) =>
      about === first.about ? `${first.seen.endsWith(".") ? "" : ";"} ${seen}` : `; ${about}: ${seen}`,
    );
  const left = causes.size - named.length;
  const rest = left > 0 ? [`; and ${left} other cause${left === 1 ? "" : "s"}`] : [];
  // A sentence about the same object follows as one.
  return [...named, ...rest].reduce(
    (text, part) => `${part.startsWith(";") ? text.replace(/\.$/, "") : text}${part}`,
    first.seen,
  );
}
