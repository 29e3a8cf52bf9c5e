/** `flotilla interpret`: checks, tests or runs rules, depending on the flags. */
import { UsageError } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import { formatYaml } from "@flotilla/apimachinery";
import type { Output } from "../output.ts";
import { checkData, checkManifests, hasFailed, renderChecks } from "./check-manifests.ts";
import { targetOf, toCanonical } from "./customizations.ts";
import type { Manifest } from "./customizations.ts";
import { readDocuments } from "./documents.ts";
import { readFixture } from "./fixtures.ts";
import { readCustomizations, readInput, readManifests } from "./inputs.ts";
import type { InterpretRequest } from "./inputs.ts";
import { createRuleBook } from "./rule-book.ts";
import { findOperation, OPERATION_NAMES, renderDocumentation } from "./interpreter-rules.ts";
import type { RunOperation } from "./interpreter-rules.ts";
import { RulesError } from "./rules-error.ts";
import { runRule } from "./run-rule.ts";
import type { Answer } from "./run-rule.ts";
import { SourceError, Sources } from "./sources.ts";
import type { Reach } from "./sources.ts";
import { renderTrials, trialData, tryRules, untargetedNotes, withTrials } from "./try-rules.ts";
import type { Sample, Trials } from "./try-rules.ts";
import type { HubSamples } from "./hub-samples.ts";
import { hasPassed, outcomeData, renderOutcome, renderSummary, runFixture } from "./fixture-runs.ts";
import type { Outcome } from "./fixture-runs.ts";

interface InterpretContext {
  output: Output;
  clock: Clock;
  reach: Reach & {
    /** Objects of these kinds on the hub and its members. */
    readHubSamples(targets: readonly { apiVersion: string; kind: string }[]): Promise<HubSamples>;
  };
}

export async function interpret(request: InterpretRequest, context: InterpretContext): Promise<void> {
  const operation = request.operation === undefined ? undefined : operationOf(request.operation);
  const sources = new Sources(context.reach);
  if (request.showDocumentation) return showDocumentation(operation, context.output);
  if (request.check) return check(request, sources, context);
  if (request.tests.length > 0) return test(request, sources, context);
  if (!operation)
    throw new UsageError(
      `specify what to do: --operation (${OPERATION_NAMES.join(", ")}), --check or --test FILE; see 'flotilla interpret --help'`,
    );
  return run(operation, request, sources, context);
}

function operationOf(name: string): RunOperation {
  const operation = findOperation(name);
  if (!operation) throw new UsageError(`operation ${name} is not supported. Use one of: ${OPERATION_NAMES.join(", ")}`);
  return operation;
}

function showDocumentation(operation: RunOperation | undefined, output: Output): void {
  const text = renderDocumentation(operation);
  output.result({ documentation: text }, () => text);
}

async function check(request: InterpretRequest, sources: Sources, context: InterpretContext): Promise<void> {
  const { output } = context;
  const manifests = await readManifests(sources, request);
  if (manifests.length === 0) throw new UsageError("--check needs customizations: -f FILE");
  const checks = checkManifests(manifests);
  const sound = manifests.filter((_, index) => {
    const checked = checks[index];
    return checked !== undefined && !hasFailed(checked);
  });
  const { trials, notes } = await tryOn({ sound, all: manifests }, request, sources, context);
  const shown = withTrials(checks, trials);
  output.result({ ...checkData(shown), ...trialData(trials) }, () =>
    [renderChecks(shown), renderTrials(trials)].filter(Boolean).join("\n"),
  );
  for (const { warnings } of checks) for (const warning of warnings) output.warn(`Warning: ${warning}`);
  for (const note of notes) output.warn(`Note: ${note}`);
  const failed = checks.filter(hasFailed);
  const errors = trials.tried.flatMap(({ operation, on, error }) =>
    error === undefined ? [] : [`${operation} on ${on}: ${error}`],
  );
  const broken = new Set(trials.tried.filter(({ error }) => error !== undefined).map(({ source }) => source));
  if (failed.length + broken.size === 0) return;
  throw new RulesError(
    [
      `${failed.length + broken.size} of ${checks.length} did not pass`,
      ...failed.flatMap(({ source, problem, details }) =>
        problem === undefined ? details : [`${source}: ${problem}`],
      ),
      ...errors,
    ].join("\n"),
  );
}

/** Runs the rules on the objects of the files, or of the hub. */
async function tryOn(
  { sound, all }: { sound: readonly Manifest[]; all: readonly Manifest[] },
  request: InterpretRequest,
  sources: Sources,
  { clock, reach }: InterpretContext,
): Promise<{ trials: Trials; notes: string[] }> {
  const canonical = sound.map((manifest) => toCanonical(manifest).manifest);
  const { desired, observed, statusItems } = await readInput(request, sources);
  const notes: string[] = [];
  const samples: Sample[] = [];
  // Rules of the desired object run without the observed one, as on a hub.
  if (desired) samples.push({ title: request.desiredFile ?? "", desired, statusItems });
  if (observed) samples.push({ title: request.observedFile ?? "", desired, observed });
  if (request.againstHub) {
    const { samples: found, missing } = await reach.readHubSamples(canonical.map(targetOf));
    samples.push(...found);
    notes.push(...missing);
  }
  const trials = await tryRules(canonical, samples, clock);
  notes.push(...untargetedNotes(samples, all.map(targetOf)));
  if (!trials.hadObjects && !request.againstHub && trials.untried.length > 0)
    notes.push(
      "the rules compile, and were run on no object; --desired-file, --observed-file and --status-file run " +
        "them on objects of files, --against-hub on those of your hub and its members",
    );
  return { trials, notes };
}

async function test(request: InterpretRequest, sources: Sources, { output, clock }: InterpretContext): Promise<void> {
  const rules = createRuleBook(await readCustomizations(sources, request, output), clock);
  try {
    const documents = (await sources.read(request.tests, { recursive: request.recursive })).flatMap(readDocuments);
    if (documents.length === 0) throw new SourceError(`no fixture found in ${request.tests.join(", ")}`);
    const fixtures = documents.map(readFixture);
    const outcomes: Outcome[] = [];
    for (const fixture of fixtures) {
      const outcome = await runFixture(fixture, rules);
      outcomes.push(outcome);
      output.say(renderOutcome(outcome));
    }
    const passed = outcomes.filter(hasPassed).length;
    const failed = outcomes.length - passed;
    output.result({ passed, failed, cases: outcomes.map(outcomeData) }, () => renderSummary(passed, failed));
    if (failed > 0) throw new RulesError(`${failed} of ${outcomes.length} cases failed`);
  } finally {
    await rules.close();
  }
}

async function run(
  operation: RunOperation,
  request: InterpretRequest,
  sources: Sources,
  { output, clock }: InterpretContext,
): Promise<void> {
  const customizations = await readCustomizations(sources, request, output);
  const rules = createRuleBook(customizations, clock);
  try {
    const input = await readInput(request, sources);
    let answer: Answer;
    try {
      answer = await runRule(rules, operation, input);
    } catch (error) {
      if (!(error instanceof InterpretError)) throw error;
      throw new RulesError(`Execute ${operation} error: ${rules.explain(error, operation, input)}`);
    }
    const { level, results } = answer;
    const shown = level ?? "the default for all kinds";
    output.result(
      { operation, level: shown, results: Object.fromEntries(results.map(({ name, value }) => [name, value])) },
      () => renderAnswer(answer, customizations.length === 0 ? shown : undefined),
    );
  } finally {
    await rules.close();
  }
}

/**
 * In the layout of karmadactl, without the trailing newline. For built-in rules, which karmadactl cannot run, a comment
 * names them.
 */
function renderAnswer({ results }: Answer, level: string | undefined): string {
  const blocks = results.map(
    ({ name, value }, index) => `---\n# [${index + 1}/${results.length}] ${name}:\n${formatYaml(value)}`,
  );
  return `${level === undefined ? "" : `# result of the built-in rules: ${level}\n`}${blocks.join("")}`.slice(0, -1);
}
