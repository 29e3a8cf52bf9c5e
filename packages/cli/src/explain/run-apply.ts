/**
 * Implements `flotilla apply`: shows the plan, asks for confirmation, applies, and waits if requested. Missing
 * namespaces and CRDs that other manifests need come first, with their own plan: without them the hub cannot dry-run
 * the others.
 */
import { CustomResourceDefinition, Namespace } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, isObject, messageOf, UsageError } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { applyAll } from "./apply-input.ts";
import type { Applied } from "./apply-input.ts";
import { withUnreachable } from "./unreachable-members.ts";
import { createHubInterpreter } from "./hub-interpreter.ts";
import { planManifests } from "./plan-input.ts";
import type { PlannedFleet, PlanResult } from "./plan-input.ts";
import { readHub } from "./read-snapshot.ts";
import { renderPlan } from "./render-plan.ts";
import type { Output } from "../output.ts";
import type { Asking } from "../members/ask.ts";
import { objectOf, textOf } from "../members/json-parts.ts";
import type { Terminal } from "../terminal.ts";
import { titleOf } from "../members/types.ts";
import { isCarrier, waitUntilApplied } from "../members/wait-applied.ts";

export interface ApplyOptions {
  manifests: readonly JsonObject[];
  namespace: string;
  /** Without confirmation. */
  yes: boolean;
  /** If unset, does not wait. */
  waitMs?: number;
}

export interface ApplyTools {
  asking: Asking;
  client: Client;
  output: Output;
  terminal: Pick<Terminal, "canAsk" | "ask">;
}

interface AppliedRow {
  resource: string;
  namespace?: string;
  outcome: string;
}

const FAILED = 1;

export async function runApply(options: ApplyOptions, tools: ApplyTools): Promise<number> {
  const { output, client, asking } = tools;
  if (!options.yes && !tools.terminal.canAsk)
    throw new UsageError(
      "cannot ask for confirmation without a terminal: use --yes to apply without it, or run 'flotilla plan' first",
    );
  const plans: PlanResult[] = [];
  const rows: AppliedRow[] = [];
  const waitFor: PlannedFleet["asked"][number]["template"][] = [];
  for (const manifests of await wavesOf(client, options, asking.signal)) {
    const { result, asked } = await makePlan(manifests, options.namespace, rows, tools);
    plans.push(result);
    output.say(`${renderPlan(result, output.width)}\n`);
    if (!options.yes && !(await agrees(manifests, rows.length > 0, tools.terminal, asking.signal))) {
      output.say(rows.length > 0 ? "Nothing else was applied." : "Nothing was applied.");
      return FAILED;
    }
    const onApplied = ({ object: { metadata }, kind, outcome }: Applied): void => {
      rows.push({ resource: `${titleOf(kind)}/${metadata.name}`, namespace: metadata.namespace || undefined, outcome });
      output.say(`${titleOf(kind)}/${metadata.name} ${outcome}`);
    };
    const applied = await applyAll(client, manifests, options.namespace, {
      dryRun: false,
      signal: asking.signal,
      onApplied,
    });
    waitFor.push(
      ...asked.filter(({ match }) => match.outcome === "matched").map(({ template }) => template),
      ...applied.map(({ object }) => object).filter(isCarrier),
    );
  }
  if (options.waitMs !== undefined) await waitForMembers(waitFor, options.waitMs, tools);
  if (output.format !== "table") output.result({ plans, applied: rows } as unknown as Json, () => "");
  return 0;
}

/** The plan. If planning fails, nothing is applied. */
async function makePlan(
  manifests: readonly JsonObject[],
  namespace: string,
  rows: readonly AppliedRow[],
  { client, asking, output }: ApplyTools,
): Promise<PlannedFleet> {
  output.progress("planning");
  try {
    const planned = await planManifests(client, { manifests, without: [], namespace }, asking.clock, asking.signal);
    return {
      ...planned,
      result: await withUnreachable(planned.result, [], { client, clock: asking.clock, signal: asking.signal }),
    };
  } catch (error) {
    asking.signal.throwIfAborted();
    if (error instanceof UsageError) throw error;
    throw new FlotillaError(
      "NotPlanned",
      `nothing ${rows.length > 0 ? "else " : ""}was applied, because planning failed: ${messageOf(error)}`,
    );
  } finally {
    output.progress("");
  }
}

/** Throws on Ctrl-C, with what was applied so far. */
export async function agrees(
  manifests: readonly JsonObject[],
  isBegun: boolean,
  terminal: Pick<Terminal, "ask">,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const answer = await terminal.ask(
      `Apply ${manifests.length === 1 ? "this object" : `these ${manifests.length} objects`} to the hub? [y/N] `,
      signal,
    );
    return /^\s*y(es)?\s*$/i.test(answer ?? "");
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new FlotillaError("Stopped", `${messageOf(signal.reason)}; nothing ${isBegun ? "else " : ""}was applied`);
  }
}

async function waitForMembers(
  templates: readonly PlannedFleet["asked"][number]["template"][],
  timeoutMs: number,
  { asking, client, output }: ApplyTools,
): Promise<void> {
  if (templates.length === 0) return output.say("No policy propagates these objects, so there is nothing to wait for.");
  const { interpreter, close } = createHubInterpreter(await readHub(client, [], asking.signal), asking.clock);
  try {
    await waitUntilApplied(templates, {
      asking,
      client,
      interpreter,
      timeoutMs,
      onDone: (resource, cluster) => output.say(`${resource} is healthy on ${cluster}`),
      progress: (text) => output.progress(text),
    });
  } finally {
    output.progress("");
    await close();
  }
}

/** First the missing prerequisites of other manifests, then the others. */
async function wavesOf(
  client: Client,
  { manifests, namespace }: ApplyOptions,
  signal: AbortSignal,
): Promise<JsonObject[][]> {
  const first: JsonObject[] = [];
  for (const manifest of manifests)
    if (isNeeded(manifest, manifests, namespace) && !(await isThere(client, manifest, signal))) first.push(manifest);
  return [first, manifests.filter((manifest) => !first.includes(manifest))].filter((wave) => wave.length > 0);
}

/** Whether a namespace or CRD is needed by another manifest. Pure. */
export function isNeeded(manifest: JsonObject, all: readonly JsonObject[], fallback: string): boolean {
  const others = all.filter((other) => other !== manifest);
  if (isOf(Namespace, manifest))
    return others.some((other) => (metadataOf(other)["namespace"] ?? fallback) === metadataOf(manifest)["name"]);
  if (!isOf(CustomResourceDefinition, manifest) || !isObject(manifest["spec"])) return false;
  const { group, names } = manifest["spec"];
  return others.some(
    ({ kind, apiVersion }) => kind === objectOf(names)["kind"] && textOf(apiVersion).startsWith(`${textOf(group)}/`),
  );
}

async function isThere(client: Client, manifest: JsonObject, signal: AbortSignal): Promise<boolean> {
  const kind = isOf(Namespace, manifest) ? Namespace : CustomResourceDefinition;
  return (
    (await find(
      client,
      kind as typeof Namespace,
      { cluster: HUB, name: textOf(metadataOf(manifest)["name"]) },
      { signal },
    )) !== undefined
  );
}

const isOf = ({ group, kind }: { group: string; kind: string }, { apiVersion, kind: given }: JsonObject): boolean =>
  given === kind && (group === "" ? apiVersion === "v1" : textOf(apiVersion).startsWith(`${group}/`));
const metadataOf = ({ metadata }: JsonObject): JsonObject => objectOf(metadata);
