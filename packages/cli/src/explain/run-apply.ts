/** Implements `flotilla apply`: shows the plan, asks for confirmation, applies, and waits if requested. */
import { FlotillaError, messageOf, UsageError } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { applyAll } from "./apply-input.ts";
import type { ApplyInput } from "./apply-input.ts";
import { warnOfMissingControllers, withUnreachable } from "./unreachable-members.ts";
import { createHubInterpreter } from "./hub-interpreter.ts";
import { isLeft, planManifests } from "./plan-input.ts";
import type { PlannedFleet } from "./plan-input.ts";
import { waitUntilRecorded } from "./wait-recorded.ts";
import { readCustomizations } from "./read-snapshot.ts";
import { renderPlan } from "./render-plan.ts";
import type { Output } from "../output.ts";
import type { Asking } from "../members/ask.ts";
import type { Terminal } from "../terminal.ts";
import { titleOf } from "../members/served-types.ts";
import { missingControllers } from "../health/controllers-state.ts";
import { podCauseOf } from "../health/look-at-pods.ts";
import { isCarrier, waitUntilApplied } from "./wait-applied.ts";
import { renderHealthy } from "../members/run-progress.ts";

export interface ApplyOptions extends ApplyInput {
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
  checkCanConfirm(options, tools.terminal);
  return applyPlanned(await makePlan(options, tools), options, tools);
}

/** Throws `UsageError` if a confirmation is needed and not possible. */
export function checkCanConfirm({ yes }: { yes: boolean }, { canAsk }: Pick<Terminal, "canAsk">): void {
  if (!yes && !canAsk)
    throw new UsageError(
      "cannot ask for confirmation without a terminal: use --yes to apply without it, or run 'flotilla plan' first",
    );
}

/** Shows the plan, asks for confirmation, applies, and waits if requested; returns the exit code. */
export async function applyPlanned(
  { result, asked }: PlannedFleet,
  options: ApplyOptions,
  tools: ApplyTools,
): Promise<number> {
  const { output, client, asking } = tools;
  const rows: AppliedRow[] = [];
  output.say(`${renderPlan(result, output.width)}\n`);
  await warnOfMissingControllers(result, { client, clock: asking.clock, signal: asking.signal }, output);
  if (!options.yes && !(await agrees(options.manifests, tools.terminal, asking.signal))) {
    output.say("Nothing was applied.");
    return FAILED;
  }
  const applied = await applyAll(client, options, {
    signal: asking.signal,
    whenRecorded: (strategy) => waitUntilRecorded(strategy, options.manifests, { ...asking, client }),
    onApplied({ object: { metadata }, kind, outcome }) {
      rows.push({ resource: `${titleOf(kind)}/${metadata.name}`, namespace: metadata.namespace || undefined, outcome });
      output.say(`${titleOf(kind)}/${metadata.name} ${outcome}`);
    },
  });
  if (options.waitMs !== undefined) {
    const waitFor = [
      ...asked.filter((each) => each.match.outcome === "matched" || isLeft(each)).map(({ template }) => template),
      ...applied.map(({ object }) => object).filter(isCarrier),
    ];
    await waitForMembers(waitFor, options.waitMs, tools);
  }
  if (output.format !== "table") output.result({ plan: result, applied: rows } as unknown as Json, () => "");
  return 0;
}

/** The plan. If planning fails, nothing is applied. */
export async function makePlan(
  { manifests, namespace, edited }: ApplyInput,
  { client, asking, output }: Omit<ApplyTools, "terminal">,
): Promise<PlannedFleet> {
  output.progress("planning");
  try {
    const planned = await planManifests(
      client,
      { manifests, namespace, edited, without: [] },
      asking.clock,
      asking.signal,
    );
    return {
      ...planned,
      result: await withUnreachable(planned.result, [], { client, clock: asking.clock, signal: asking.signal }),
    };
  } catch (error) {
    asking.signal.throwIfAborted();
    if (error instanceof UsageError) throw error;
    throw new FlotillaError("NotPlanned", `nothing was applied, because planning failed: ${messageOf(error)}`);
  } finally {
    output.progress("");
  }
}

/** Throws on Ctrl-C. */
export async function agrees(
  manifests: readonly JsonObject[],
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
    throw new FlotillaError("Stopped", `${messageOf(signal.reason)}; nothing was applied`);
  }
}

async function waitForMembers(
  templates: readonly PlannedFleet["asked"][number]["template"][],
  timeoutMs: number,
  { asking, client, output }: ApplyTools,
): Promise<void> {
  if (templates.length === 0) return output.say("No policy propagates these objects, so there is nothing to wait for.");
  const { interpreter, close } = createHubInterpreter(await readCustomizations(client, asking.signal), asking.clock);
  const read = { client, clock: asking.clock, signal: asking.signal };
  try {
    await waitUntilApplied(templates, {
      asking,
      client,
      interpreter,
      timeoutMs,
      podCause: (copy, isCertain) => podCauseOf(copy, { ...read, isCertain }),
      hubCause: () => missingControllers(read),
      onCause: (text) => output.say(text),
      onDone: (resource, cluster, left) => output.say(renderHealthy(resource, cluster, left)),
      progress: (text) => output.progress(text),
    });
  } finally {
    output.progress("");
    await close();
  }
}
