/** `flotilla interpret`: chooses between checking, testing and running rules, and reads what each of them needs. */
import { FlotillaError, UsageError } from "../../base/index.ts";
import type { Clock, Json } from "../../base/index.ts";
import { InterpretError } from "../../interpreter/index.ts";
import type { Share, StatusItem } from "../../interpreter/index.ts";
import type { Output } from "../output.ts";
import { checkData, checkManifests, hasFailed, renderChecks } from "./check.ts";
import { isCustomization, kindText, manifestsOf, nameOf, targetOf, toCanonical } from "./customizations.ts";
import type { Manifest } from "./customizations.ts";
import { readDocuments } from "./documents.ts";
import { readFixture } from "./fixtures.ts";
import { formatGoYaml } from "./go-yaml.ts";
import { createRuleBook } from "./rule-book.ts";
import { findOperation, OPERATION_NAMES, renderDocumentation } from "./rules.ts";
import type { RunOperation } from "./rules.ts";
import { runRule } from "./run-rule.ts";
import type { Answer, RuleInput } from "./run-rule.ts";
import { SourceError, Sources } from "./sources.ts";
import type { Reach } from "./sources.ts";
import { hasPassed, renderOutcome, renderSummary, runFixture } from "./test-fixtures.ts";

export interface InterpretRequest {
  files: readonly string[];
  recursive: boolean;
  operation: string | undefined;
  desiredFile: string | undefined;
  observedFile: string | undefined;
  statusFile: string | undefined;
  replicas: number;
  /** For Divide: `member1=5`. */
  shares: readonly string[];
  check: boolean;
  showDocumentation: boolean;
  /** Files of fixtures. */
  tests: readonly string[];
}

export interface InterpretContext {
  output: Output;
  clock: Clock;
  reach: Reach;
}

/** Rules or fixtures did not pass; what failed was told before. */
export class RulesError extends FlotillaError {
  constructor(message: string) {
    super("Rules", message);
  }
}

export async function interpret(request: InterpretRequest, context: InterpretContext): Promise<void> {
  const operation = request.operation === undefined ? undefined : operationOf(request.operation);
  const sources = new Sources(context.reach);
  if (request.showDocumentation) return showDocumentation(operation, context.output);
  if (request.check) return check(await readManifests(sources, request), context.output);
  if (request.tests.length > 0) return test(request, sources, context);
  if (!operation) throw new UsageError(`say what to do: --operation (${OPERATION_NAMES.join(", ")}), --check or --test FILE; see 'flotilla interpret --help'`);
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

function check(manifests: readonly Manifest[], output: Output): void {
  if (manifests.length === 0) throw new UsageError("--check needs the customizations to look at: -f FILE");
  const checks = checkManifests(manifests);
  output.result(checkData(checks), () => renderChecks(checks));
  for (const { warnings } of checks) for (const warning of warnings) output.warn(`Warning: ${warning}`);
  const failed = checks.filter(hasFailed);
  if (failed.length === 0) return;
  throw new RulesError([`${failed.length} of ${checks.length} did not pass`, ...failed.flatMap(({ source, problem, details }) => (problem === undefined ? details : [`${source}: ${problem}`]))].join("\n"));
}

async function test(request: InterpretRequest, sources: Sources, { output, clock }: InterpretContext): Promise<void> {
  const rules = createRuleBook(await readCustomizations(sources, request, output), clock);
  try {
    const documents = (await sources.read(request.tests, { recursive: request.recursive })).flatMap(readDocuments);
    if (documents.length === 0) throw new SourceError(`there is no fixture in ${request.tests.join(", ")}`);
    const fixtures = documents.map(readFixture);
    const outcomes = [];
    for (const fixture of fixtures) {
      const outcome = await runFixture(fixture, rules);
      outcomes.push(outcome);
      output.say(renderOutcome(outcome));
    }
    const passed = outcomes.filter(hasPassed).length;
    const failed = outcomes.length - passed;
    const cases = outcomes.map((outcome) => {
      const { name, file, line, operation } = outcome.fixture;
      return { name, file, line, operation, passed: hasPassed(outcome), ...(outcome.problem !== undefined && { problem: outcome.problem }), ...(outcome.differences.length > 0 && { differences: outcome.differences as unknown as Json }) };
    });
    output.result({ passed, failed, cases }, () => renderSummary(passed, failed));
    if (failed > 0) throw new RulesError(`${failed} of ${outcomes.length} cases failed`);
  } finally {
    await rules.close();
  }
}

async function run(operation: RunOperation, request: InterpretRequest, sources: Sources, { output, clock }: InterpretContext): Promise<void> {
  const customizations = await readCustomizations(sources, request, output);
  const rules = createRuleBook(customizations, clock);
  try {
    const input = await readInput(request, sources);
    let answer: Answer;
    try {
      answer = await runRule(rules.interpreter, operation, input);
    } catch (error) {
      if (!(error instanceof InterpretError)) throw error;
      throw new RulesError(`Execute ${operation} error: ${rules.explain(error, operation, input)}`);
    }
    const { level, results } = answer;
    const shown = level ?? "every kind";
    output.result({ operation, level: shown, results: Object.fromEntries(results.map(({ name, value }) => [name, value])) }, () => renderAnswer(answer, customizations.length === 0 ? shown : undefined));
  } finally {
    await rules.close();
  }
}

/** As karmadactl prints it, without the last line break. Where Flotilla's own rules answer, which it cannot ask, a comment says whose they are. */
export function renderAnswer({ results }: Answer, level: string | undefined): string {
  const blocks = results.map(({ name, value }, index) => `---\n# [${index + 1}/${results.length}] ${name}:\n${formatGoYaml(value)}`);
  return `${level === undefined ? "" : `# answered by Flotilla's own rules: ${level}\n`}${blocks.join("")}`.slice(0, -1);
}

async function readInput(request: InterpretRequest, sources: Sources): Promise<RuleInput> {
  return {
    desired: await readObject("--desired-file", request.desiredFile, sources),
    observed: await readObject("--observed-file", request.observedFile, sources),
    statusItems: request.statusFile === undefined ? undefined : await readStatusItems(request.statusFile, sources),
    replicas: request.replicas,
    shares: request.shares.flatMap((text) => text.split(",")).map(readShare),
  };
}

function readShare(text: string): Share {
  const [, cluster, replicas] = /^([^=]+)=(\d{1,9})$/.exec(text) ?? [];
  if (cluster === undefined) throw new UsageError(`--share is a member and its replicas, member1=5, not '${text}'`);
  return { cluster, replicas: Number(replicas) };
}

async function readObject(flag: string, file: string | undefined, sources: Sources): Promise<RuleInput["desired"]> {
  if (file === undefined) return undefined;
  const manifests = manifestsOf((await sources.read([file])).flatMap(readDocuments));
  const [manifest, ...others] = manifests;
  if (!manifest || others.length > 0) throw new UsageError(`${flag} ${file} has ${manifests.length} objects; one is needed`);
  return manifest.object;
}

/** One item per document, or lists of them. */
async function readStatusItems(file: string, sources: Sources): Promise<StatusItem[]> {
  const items = (await sources.read([file])).flatMap(readDocuments).flatMap(({ value }) => value);
  if (items.some((item) => typeof item !== "object" || item === null || Array.isArray(item))) throw new SourceError(`reading ${file}: a status item is a mapping with clusterName and status`);
  return items as unknown as StatusItem[];
}

async function readManifests(sources: Sources, { files, recursive }: InterpretRequest): Promise<Manifest[]> {
  return manifestsOf((await sources.read(files, { recursive })).flatMap(readDocuments));
}

/** In canonical form; what the hub would say about another form is told. */
async function readCustomizations(sources: Sources, request: InterpretRequest, output: Output): Promise<Manifest[]> {
  const manifests = await readManifests(sources, request);
  const other = manifests.find((manifest) => !isCustomization(manifest));
  if (other) throw new SourceError(`reading ${other.file}:${other.line}: not a ResourceInterpreterCustomization, got ${kindText(other)}`);
  if (request.files.length > 0 && manifests.length === 0) throw new SourceError(`there is no customization in ${request.files.join(", ")}`);
  const known = new Map<string, Manifest>();
  return manifests.map((given) => {
    const before = known.get(nameOf(given));
    if (before) output.warn(`Warning: ${given.file}:${given.line}: ${nameOf(given)} replaces the customization of the same name in ${before.file}:${before.line}, as it would on a hub`);
    known.set(nameOf(given), given);
    const { manifest, errors, warnings } = toCanonical(given);
    if (errors.length > 0) throw new RulesError(errors.join("\n"));
    for (const warning of warnings) output.warn(`Warning: ${warning}`);
    const { apiVersion, kind } = targetOf(manifest);
    if (apiVersion === "" || kind === "") throw new RulesError(`${manifest.file}:${manifest.line}: spec.target needs an apiVersion and a kind`);
    return manifest;
  });
}
